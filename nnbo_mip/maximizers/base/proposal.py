"""`Proposal`: the next point, what it scores, and what any other point could score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.terms import Kind, Status
from nnbo_mip.scores.objective import Objective

if TYPE_CHECKING:
    from nnbo_mip.exact.certificates.certificate import Certificate
    from nnbo_mip.exact.check import CheckResult

SHOWN_COORDINATES = 8


@dataclass(frozen=True, eq=False)
class Proposal:
    """The best point found for an acquisition, with its proof.

    Parameters
    ----------
    x : (d,) array or None
        In the belief's coordinates; None where no admissible point was found.
    value : float
        Score at `x`, evaluated alone in float64.
    bound : float
        No admissible point scores above it; ``+inf`` without a proof.
    gap : float
        ``log(bound) - log(value)`` for EI, PI and their logarithms, else ``bound - value``.
    status : {"optimal", "feasible", "heuristic", "infeasible"}
        ``optimal``: the gap is closed; ``feasible``: proven, but not closed; ``heuristic``:
        nothing is proven; ``infeasible``: there is no admissible point.
    kind : {"rigorous", "solver", "none"}
        How `bound` was proven.
    engine : str
        Who proved it.
    head : str
        What `value` and `bound` are: ei and pi below 1e-12 are answered as ``logei``, ``logpi``,
        whose values are at least -1e9.
    maximizer : str
        Who was asked.
    seconds : float
        Wall time.
    evaluations : int
        Points at which the score was computed.
    counters : mapping of str to int
        Other work: boxes, nodes, linear problems, ….
    time_limited : bool
        Whether wall time ended the search, so that another run may end elsewhere.
    interrupted : bool
        Whether somebody pressed Ctrl-C.
    message : str
        One sentence for the user; empty when there is nothing to add.
    certificate : Certificate or None
        What was proven, to be stored and checked again; None for heuristics.
    objective : Objective or None
        The function that the certificate is about.
    """

    x: FloatArray | None
    value: float
    bound: float
    gap: float
    status: Status
    kind: Kind
    engine: str
    head: str
    maximizer: str
    seconds: float
    evaluations: int
    counters: Mapping[str, int] = field(default_factory=dict)
    time_limited: bool = False
    interrupted: bool = False
    message: str = ""
    certificate: Certificate | None = None
    objective: Objective | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "counters", MappingProxyType(dict(self.counters)))
        if self.x is not None:
            x = np.array(self.x, dtype=np.float64)
            x.setflags(write=False)
            object.__setattr__(self, "x", x)

    def check(self, time_limit: float = 60.0, seed: int = 0) -> CheckResult:
        """Prove the certificate's claim again, by other code than made it."""
        if self.certificate is None or self.objective is None:
            raise InputError(
                "a proposal must have a certificate to be checked; that of a heuristic maximizer "
                'has none; maximize with "auto", "mip" or "bab".'
            )
        return self.certificate.check(self.objective, time_limit=time_limit, seed=seed)

    def __str__(self) -> str:
        if self.status == "infeasible":
            return f"infeasible: {self.message or 'no admissible point exists.'}"
        lines = [f"{self.head} {self.value!r} at x = {_point(self.x)}"]
        if math.isfinite(self.bound):
            manner = "rigorously" if self.kind == "rigorous" else "within counted tolerances"
            work = "".join(f", {n:,} {k.replace('_', ' ')}" for k, n in self.counters.items() if n)
            lines.append(f"  bound   {self.bound!r}, gap {self.gap:.3g}")
            lines.append(f"  proved  {manner} by {self.engine}{work}")
        else:
            lines.append("  bound   none was proven")
        lines.append(f"  found   by {self.maximizer} in {self.seconds:.2f} s")
        lines.append(f"  status  {self.status}{': ' + self.message if self.message else ''}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"Proposal(status={self.status!r}, head={self.head!r}, value={self.value!r}, "
            f"bound={self.bound!r}, gap={self.gap:.3g}, maximizer={self.maximizer!r})"
        )


def _point(x: FloatArray | None) -> str:
    if x is None:
        return "none found"
    shown = ", ".join(f"{value:.6g}" for value in x[:SHOWN_COORDINATES])
    return f"[{shown}{', …' if len(x) > SHOWN_COORDINATES else ''}]"
