"""`CertifyResult`: what `certify` returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.core.terms import Decision, Direction
from nnbo_mip.drawing.page.html import card_of
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.search.result import HasResult, SearchResult

SHOWN_COORDINATES = 8


@dataclass(frozen=True, eq=False)
class CertifyResult(HasResult):
    """The best point found and the proven bound on all others.

    Parameters
    ----------
    x : array (d,), dict, or None
        The best admissible point, in the form of the space: an array for a box, a dict for
        named dimensions; None where none was found.
    found : SearchResult
        Value, bound, gap, status and work, in the user's direction: under ``minimize`` no
        admissible point has a value below the bound. Read them as `value`, `bound`, `gap`, ….
    direction : {"maximize", "minimize"}
        What was asked.
    certificate : Certificate
        The claim with all it rests on: save it, check it.
    seconds : float
        Wall time.
    """

    x: Any
    found: SearchResult
    direction: Direction
    certificate: Certificate
    seconds: float

    @property
    def engine(self) -> str:
        """Who proved the bound."""
        return self.proof.way

    @property
    def decided(self) -> Decision | None:
        """Whether no admissible point is beyond the threshold; None where none was given.

        ``holds`` is proven, ``violated`` shown by `x`; else it is ``undecided``.
        """
        return self.certificate.decided

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return card_of(str(self))

    def __str__(self) -> str:
        warning = self.certificate.unverified
        return f"{self._answer()}\n  warning {warning}" if warning else self._answer()

    def _answer(self) -> str:
        if self.status == "infeasible":
            decided = f"\n  decided {self.decided}: no point is admissible" if self.decided else ""
            return f"infeasible: {self.message}\n  proved  {self._proof()}{decided}"
        word, relation = ("maximum", "<=") if self.direction == "maximize" else ("minimum", ">=")
        lines = [f"{word} {_number(self.value)} at x = {_point(self.x)}"]
        if self.status == "heuristic":
            lines.append("  bound   none was proven")
        else:
            lines.append(
                f"  bound   f {relation} {_number(self.bound)} everywhere, gap {self.gap:.3g}"
            )
            lines.append(f"  proved  {self._proof()}")
        lines.append(f"  status  {self.status}: {self.message}")
        if self.decided is not None:
            lines.append(f"  decided {self.decided}: {self.certificate.decision}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"CertifyResult(status={self.status!r}, value={self.value!r}, bound={self.bound!r}, "
            f"gap={self.gap:.3g}, kind={self.kind!r}, engine={self.engine!r}, "
            f"seconds={self.seconds:.3g})"
        )

    def _proof(self) -> str:
        manner = "rigorously" if self.kind == "rigorous" else "within counted solver tolerances"
        work = ", ".join(
            f"{count:,} {name.replace('_', ' ')}" for name, count in self.counters.items() if count
        )
        return f"{manner} by {self.certificate.prover} in {self.seconds:.2f} s ({work})"


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else str(value)


def _point(x: Any) -> str:
    if x is None:
        return "none found"
    if isinstance(x, Mapping):
        return "{" + ", ".join(f"{name}: {_entry(value)}" for name, value in x.items()) + "}"
    shown = [_entry(value) for value in np.asarray(x)[:SHOWN_COORDINATES].tolist()]
    return "[" + ", ".join(shown) + (", …]" if len(x) > SHOWN_COORDINATES else "]")


def _entry(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
