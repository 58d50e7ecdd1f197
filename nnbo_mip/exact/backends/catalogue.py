"""Solver names and the backends they stand for.

Backends of other packages are offered in the entry-point group ``nnbo_mip.backends``, or made
known by `registry.register`. Who proves, and who is asked for a second opinion, follows from
what the classes of the backends say of themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from importlib.util import find_spec
from typing import Any

from nnbo_mip.core.checks import check_choice
from nnbo_mip.core.errors import InputError, NnboError
from nnbo_mip.core.registry import Registry
from nnbo_mip.exact.backends.base import DEFAULT, Backend
from nnbo_mip.exact.formulation.model import MARGIN

_ROOM = "nnbo_mip.exact.backends"

PYOMO = "pyomo"
"""Stands for many solvers, which are named ``pyomo:<name>``."""

registry: Registry[Backend] = Registry(
    "solver",
    Backend,
    {
        "highs": f"{_ROOM}.highs:Highs",
        "scip": f"{_ROOM}.scip:Scip",
        "gurobi": f"{_ROOM}.gurobi:Gurobi",
        "cbc": f"{_ROOM}.cbc:Cbc",
        PYOMO: f"{_ROOM}.pyomo:Pyomo",
    },
    group="nnbo_mip.backends",
)
"""Filled by the package, by entry points, and by `register`."""


def names() -> tuple[str, ...]:
    """Return how every known solver is named."""
    return tuple(f"{PYOMO}:<name>" if name == PYOMO else name for name in registry.available())


def get_backend(name: object) -> Backend:
    """Return the backend of this name, such as ``"highs"`` or ``"pyomo:<solver>"``.

    Whether the solver is installed is found out by `Backend.version` or `Backend.solve`.
    """
    family, _, inner = str(name).partition(":")
    if family == PYOMO and inner:
        return registry.create({"name": PYOMO, "solver": inner})
    backend = registry.create(check_choice("solver", name, names()))
    if backend.name != name:
        raise InputError(
            f"a solver must be registered under its own name; got {backend.name!r} as {name!r}; "
            "set its attribute name."
        )
    if backend.proves and not backend.tolerances.feasibility < MARGIN:
        raise InputError(
            f"a solver that proves must run with a feasibility tolerance below {MARGIN:g}, by "
            f"which programs are relaxed; got {backend.tolerances.feasibility:g} of {name!r}; "
            "tighten it, or let it be a claimant (proves = False)."
        )
    return backend


def second_opinions(claimants: Collection[str]) -> Iterator[Backend]:
    """Yield the installed provers that have not made a claim, those that may be fastest first.

    Special ordered sets make the fastest programs. Solvers with a licence are not asked: it
    may refuse, or have few places.

    Parameters
    ----------
    claimants : collection of str
        Names of solvers that had a part in the claim.
    """
    others = [name for name in registry.available() if name != PYOMO and name not in claimants]
    provers = [one for name in others if (one := _usable(name)) and one.proves]
    for one in sorted(provers, key=lambda one: (not one.supports_sos1, one.name != DEFAULT)):
        try:
            one.version()
        except NnboError:  # not installed here
            continue
        yield one


def _usable(name: str) -> Backend | None:
    """Return a backend that may be asked without being named; None if somebody's is broken."""
    try:
        backend = get_backend(name)
    except NnboError:
        return None
    return None if backend.licensed else backend


def check_solver(solver: object) -> str:
    """Return the name of a solver that is known and installed; refuse others."""
    backend = get_backend(solver)
    backend.version()
    return backend.name


def facts(name: str) -> dict[str, str]:
    """Return what a backend can do and whether it is installed, for lists.

    Nothing is said of a plug-in that cannot be imported.
    """
    try:
        factory = registry.factory(name)
    except NnboError:
        return {}
    backend: Any = factory if isinstance(factory, type) else factory()
    package = backend.package.partition(".")[0]
    installed = not package or find_spec(package) is not None
    return {
        "role": "prover" if backend.proves else "claimant",
        "formulation": backend.formulation,
        "sos1": _yes(backend.supports_sos1),
        "extra": backend.extra or "none",
        "licence": _yes(backend.licensed),
        "installed": _yes(installed),
    }


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"
