"""`Proposal`: the next point, what it scores, and what any other point could score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.exact.search.result import HasResult, SearchResult
from nnbo_mip.scores.objective import Objective

if TYPE_CHECKING:
    from nnbo_mip.exact.certificates.certificate import Certificate
    from nnbo_mip.exact.check import CheckResult

SHOWN_COORDINATES = 8


@dataclass(frozen=True, eq=False)
class Proposal(HasResult):
    """The best point found for an acquisition, with its proof.

    Parameters
    ----------
    found : SearchResult
        The point in the belief's coordinates, its score, what was proven, and the work done
        beside evaluations. Read them as `x`, `value`, `bound`, `gap`, `status`, ….
    maximizer : str
        Who was asked.
    seconds : float
        Wall time.
    evaluations : int
        Points at which the score was computed.
    interrupted : bool
        Whether somebody pressed Ctrl-C.
    certificate : Certificate or None
        What was proven, to be stored and checked again; None for heuristics.
    objective : Objective or None
        The function that the certificate is about.
    """

    found: SearchResult
    maximizer: str
    seconds: float
    evaluations: int
    interrupted: bool = False
    certificate: Certificate | None = None
    objective: Objective | None = None

    @property
    def x(self) -> FloatArray | None:
        """The point (d,); None where no admissible one was found."""
        return self.found.x

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
            lines.append(f"  bound   {self.bound!r}, gap {self.gap:.3g}{self._closed}")
            lines.append(f"  proved  {manner} by {self.engine}{work}")
        else:
            lines.append("  bound   none was proven")
        lines.append(f"  found   by {self.maximizer} in {self.seconds:.2f} s")
        lines.append(f"  status  {self.status}{': ' + self.message if self.message else ''}")
        return "\n".join(lines)

    @property
    def _closed(self) -> str:
        """What was asked for, where a gap is closed that is larger than the number asked for."""
        if self.certificate is None or self.status != "optimal":
            return ""
        asked = self.certificate.requested_gap
        return f", within {asked:g} times |value|" if self.gap > asked else ""

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
