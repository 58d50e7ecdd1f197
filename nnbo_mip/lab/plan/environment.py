"""The machine and the packages with which a unit is run."""

from __future__ import annotations

import hashlib
import importlib
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.core.version import PACKAGES, installed

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
        "commit": _commit(),
    }


def versions_of(
    strategies: Iterable[object] = (), packages: Iterable[str] = PACKAGES
) -> dict[str, str]:
    """Return the versions on which outcomes rest.

    Parameters
    ----------
    strategies : iterable of object
        The packages of those that are not ours are named too.
    packages : iterable of str
    """
    theirs = (type(made).__module__.partition(".")[0] for made in strategies)
    return _installed((*packages, *sorted(set(theirs) - {"nnbo_mip"})))


def digests_of(modules: Iterable[str]) -> dict[str, str]:
    """Return the digests of modules, looked for in the working folder too; nothing of them is run.

    That of a module in a package counts the packages' own files as well, as they are run first.
    """
    digests = {}
    for name in modules:
        content = b"".join(path.read_bytes() for path in files_of(name))
        digests[name] = hashlib.sha256(content).hexdigest()[:DIGEST_LENGTH]
    return digests


def import_all(modules: Iterable[str]) -> None:
    """Import modules, whose digests were compared before where there was something to compare."""
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:
            why = error if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
            raise _cannot_import(name, why) from error


def files_of(name: str) -> list[Path]:
    """Return the files that are run when a module is imported, its packages' first.

    It is looked for in the working folder too.
    """
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
    files: list[Path] = []
    parents: Sequence[str] | None = None
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        part = ".".join(parts[:end])
        found = (finder.find_spec(part, parents) for finder in sys.meta_path)
        spec = next((one for one in found if one is not None), None)
        if spec is None:
            raise _cannot_import(name, f"there is no module {part}")
        if spec.has_location and spec.origin is not None:
            files.append(Path(spec.origin))
        parents = spec.submodule_search_locations or []  # what is no package has no modules
    return files


def _cannot_import(name: str, why: object) -> InputError:
    return InputError(
        f"a module must be one that can be imported; {name!r} cannot ({why}); install it, or begin "
        "in the folder that it is in."
    )


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


def _commit() -> str:
    """Return the commit of a working tree, with ``+`` where the package differs; else nothing."""
    package = Path(__file__).parents[2]
    if not (package.parent / ".git").exists():
        return ""
    try:
        head, changed = (
            subprocess.run(command, cwd=package, check=True, capture_output=True, text=True).stdout
            for command in (
                ["git", "rev-parse", "--short=12", "HEAD"],
                ["git", "status", "--porcelain", "--", "."],
            )
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head.strip() + ("+" if changed.strip() else "")


def _cpu() -> str:
    """Return the name of the processor as Linux has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor()
