"""Solver names and the backends they stand for."""

from __future__ import annotations

from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.exact.backends.base import Backend

NAMES = ("highs", "cbc", "scip")
PYOMO_PREFIX = "pyomo:"


def get_backend(name: str) -> Backend:
    """Return the backend called ``"highs"``, ``"cbc"``, ``"scip"`` or ``"pyomo:<solver>"``.

    Whether the solver is installed is found out by `Backend.version` or `Backend.solve`.
    """
    if name == "highs":
        from nnbo_mip.exact.backends.highs import Highs

        return Highs()
    if name == "cbc":
        from nnbo_mip.exact.backends.cbc import Cbc

        return Cbc()
    if name == "scip":
        from nnbo_mip.exact.backends.scip import Scip

        return Scip()
    if name.startswith(PYOMO_PREFIX) and len(name) > len(PYOMO_PREFIX):
        from nnbo_mip.exact.backends.pyomo import Pyomo

        return Pyomo(name.removeprefix(PYOMO_PREFIX))
    raise InputError(
        f"solver must be one of {', '.join(NAMES)} or 'pyomo:<name>'; got {name!r}; "
        "choose one of them."
    )


def available_backends() -> dict[str, str]:
    """Return name and version of the built-in backends that are installed here."""
    found = {}
    for name in NAMES:
        try:
            found[name] = get_backend(name).version()
        except MissingExtraError:
            continue
    return found
