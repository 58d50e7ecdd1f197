"""`EngineOptions`: what all engines are told beside the problem."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """What a user chose beside the method; an engine takes what concerns it.

    Options of single engines are derived from it, so that these three are named once.

    Parameters
    ----------
    seed : int
        Of random starts, and of the solver.
    solver : str
        Of mixed-integer programs: a name that ``nnbo-mip list backends`` shows, or
        ``"pyomo:<name>"``.
    formulation : {"bigm", "sos1", "partition", "naive"}
        How ReLUs become rows and columns of such a program.
    """

    seed: int = 0
    solver: str = "highs"
    formulation: str = "bigm"
