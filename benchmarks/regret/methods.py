"""The methods: what runs each of them, with which options, and on which packages it rests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any

DEFAULT = "default"
"""`nm.optimize` with no option chosen: with the exact maximizer, a Gaussian process up to six
inputs, so that there is no other method of these two, and the RVFL network beyond."""

RANDOM = "random"


@dataclass(frozen=True)
class Method:
    """A method of the benchmark.

    Parameters
    ----------
    runner : str
        Module with ``begin(task, **options)``.
    options : mapping
        JSON-able.
    packages : tuple of str
        Whose versions its runs depend on.
    extra : str
        Extra of this project that installs them; empty where nothing is needed.
    is_ours : bool
    """

    runner: str
    options: Mapping[str, Any] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    extra: str = ""
    is_ours: bool = False

    def versions(self) -> dict[str, str]:
        """Return the versions of its packages; `PackageNotFoundError` if one is missing."""
        return {package: version(package) for package in self.packages}


def ours(**options: Any) -> Method:
    """Return a configuration of `nm.BayesianOptimizer`."""
    packages = ("nnbo_mip", "numpy", "scipy", "torch")
    return Method("benchmarks.regret.ours", options, packages, is_ours=True)


def peer(module: str, *packages: str, **options: Any) -> Method:
    """Return a method of somebody else, a module of `benchmarks.peers`."""
    return Method(f"benchmarks.peers.{module}", options, packages, extra="peers-bo")


def drawn(kind: str) -> Method:
    """Return points that no model chooses."""
    return Method("benchmarks.regret.drawn", {"kind": kind}, ("numpy", "scipy"))


FAMILIES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "nomu": {"surrogate": "nomu"},
        "deep_ensemble": {"surrogate": "deep_ensemble"},
        "brvfl": {"surrogate": "brvfl"},
        "gp": {"surrogate": "gp"},
    }
)
"""Options of `nm.BayesianOptimizer` for each family."""

OURS: Mapping[str, Method] = MappingProxyType(
    {DEFAULT: ours()}
    | {
        f"{family}/{maximizer}": ours(**options, maximizer=maximizer)
        for family, options in FAMILIES.items()
        for maximizer in ("auto", "lbfgs")
        if (family, maximizer) != ("gp", "auto")
    }
)

PEERS: Mapping[str, Method] = MappingProxyType(
    {
        "botorch": peer("botorch_loop", "botorch", "gpytorch", "torch"),
        "optuna-tpe": peer("optuna_samplers", "optuna", sampler="tpe"),
        "optuna-gp": peer("optuna_samplers", "optuna", "torch", "scipy", sampler="gp"),
        "smac": peer("smac_facades", "smac", "scikit-learn", facade="blackbox"),
        "smac-hpo": peer("smac_facades", "smac", "scikit-learn", facade="hpo"),
    }
)

DRAWN: Mapping[str, Method] = MappingProxyType({RANDOM: drawn("uniform"), "sobol": drawn("sobol")})

METHODS: Mapping[str, Method] = MappingProxyType({**OURS, **PEERS, **DRAWN})


def versions_of(name: str, method: Method) -> dict[str, str]:
    """Return the versions of a method's packages, or end with a sentence that says what to do."""
    try:
        return method.versions()
    except PackageNotFoundError as error:
        extra = f"[{method.extra}]" if method.extra else ""
        raise SystemExit(
            f"the method {name!r} needs the package {error.name}, which is not installed; "
            f"install nnbo_mip{extra}, or choose other methods with --methods."
        ) from error
