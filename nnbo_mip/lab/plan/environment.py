"""The machine and the packages with which a unit is run."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.loop.settings.provenance import PACKAGES, installed

OPTIONAL = ("numba", "pyscipopt", "coco-experiment", "h5py", "onnx")
"""Whose versions are told as well; no digest rests on them."""

DIGEST_LENGTH = 16

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""By which the libraries are told that a unit has one thread."""


def environment() -> dict[str, Any]:
    """Return what the store keeps of a process that runs units, JSON-able."""
    return {
        "host": platform.node(),
        "system": platform.platform(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": _installed((*PACKAGES, *OPTIONAL)),
    }


def versions_of(strategies: Iterable[object] = ()) -> dict[str, str]:
    """Return the versions on which outcomes rest.

    Parameters
    ----------
    strategies : iterable of object
        The packages of those that are not ours are named too.
    """
    packages = (type(made).__module__.partition(".")[0] for made in strategies)
    return _installed((*PACKAGES, *sorted(set(packages) - {"nnbo_mip"})))


def imported(modules: Iterable[str]) -> dict[str, str]:
    """Import modules, from the working folder too, and return the digests of their files."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
    digests = {}
    for name in modules:
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            raise InputError(
                f"a module must be one that can be imported; {name!r} cannot ({error}); install "
                "it, or begin in the folder that it is in."
            ) from error
        file = getattr(module, "__file__", None)
        content = b"" if file is None else Path(file).read_bytes()
        digests[name] = hashlib.sha256(content).hexdigest()[:DIGEST_LENGTH]
    return digests


def versions_here(packages: Iterable[str]) -> dict[str, str | None]:
    """Return the versions that this process has."""
    return {name: installed(name) for name in packages}


def check_same(wanted: Mapping[str, str], here: Mapping[str, str | None], what: str) -> None:
    """Refuse to run a unit with other versions, or modules, than it was planned with."""
    for name, version in wanted.items():
        if here.get(name) != version:
            raise UnsupportedError(
                f"{what} must be those with which the experiment was planned, {name} {version}; "
                f"{platform.node()} has {here.get(name) or 'none'}; install the same, or plan "
                "again by starting nnbo-mip run anew."
            )


def _installed(names: Iterable[str]) -> dict[str, str]:
    return {name: version for name in dict.fromkeys(names) if (version := installed(name))}


def _cpu() -> str:
    """Return the name of the processor as Linux has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor()
