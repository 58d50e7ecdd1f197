r"""Whether a bound of a head follows from lines that no point of the image is beyond.

The lines are ``w_1 mean + w_2 y <= h``, w_1, w_2 >= 0, in one of two planes:

    y = std           for EI and log EI,
    y = -relu(raw)    for PI and MES on a smooth posterior, where the std is g(-y).

The scores rise in mean and y, and their sets {score <= level} are convex there (for ratios where
the ratio of the level is not negative). The polygon that the lines leave is bounded from above
in both coordinates if one line has w_1 = 0 and one w_2 = 0 (y <= 0 is one such by itself); it is
then the hull of its corners and of the directions (-1, 0) and (0, -1), in which no score rises.
So its corners decide. They are computed as fractions: all that lie on two lines and beyond none.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.checking.heads.excess import ExcessBounder, log_score_above, score_above
from nnbo_mip.scores.base.abstract import RatioHead
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.logarithms import LEAST_LOG
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import PlainPosterior, SmoothPosterior
from nnbo_mip.scores.storage import head_from_dict

MOST_LINES = 200
CURVE_ROUNDING = 1e-14

Corner = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class ClaimedLine:
    """``first * mean + second * y <= bound``.

    Parameters
    ----------
    first, second : float
        At least 0, not both 0.
    bound : float
    """

    first: float
    second: float
    bound: float

    @property
    def is_usable(self) -> bool:
        """Whether it is a line at all."""
        signs = self.first >= 0.0 and self.second >= 0.0 and self.first + self.second > 0.0
        return signs and math.isfinite(self.bound) and math.isfinite(self.first + self.second)

    def excess(self, place: Corner) -> Fraction:
        """Return ``first * mean + second * y - bound``."""
        weighted = Fraction(self.first) * place[0] + Fraction(self.second) * place[1]
        return weighted - Fraction(self.bound)


def why_not_following(subs: tuple[Certificate, ...], objective: Objective, bound: float) -> str:
    """Return why a bound does not follow from sub-certificates, in a sentence; empty if it does."""
    found = [line_of(sub) for sub in subs]
    lines = [line for line in found if line is not None]
    if len(lines) < len(found):
        return "one of them is no claim about a sum of mean and std."
    # A line that reads the mean alone belongs to either plane.
    raw = {sub.head is None for sub, line in zip(subs, lines, strict=True) if line.second > 0.0}
    if len(raw) > 1:
        return "they mix the std with what it is made of."
    return why_not_implied(objective, lines, raw == {True}, bound)


def line_of(sub: Certificate) -> ClaimedLine | None:
    """Return the line that a sub-certificate claims; None if it is none."""
    if sub.status not in ("optimal", "feasible") or sub.direction != "maximize":
        return None
    if sub.head is not None:
        try:
            head = head_from_dict(sub.head)
        except FileFormatError:
            return None
        if not isinstance(head, LinearHead) or head.constant != 0.0:
            return None
        return ClaimedLine(head.mean_weight, head.std_weight, sub.bound)
    weights = sub.output
    if not isinstance(weights, Mapping) or not set(weights) <= {"mean", "relu_raw"}:
        return None
    raw = weights.get("relu_raw", 0.0)
    return ClaimedLine(weights.get("mean", 0.0), 0.0 - raw, sub.bound)


def needed_lines(subs: tuple[Certificate, ...]) -> tuple[Certificate, ...]:
    """Return those whose lines pass through a corner; the others leave the polygon as it is."""
    lines = [line_of(sub) for sub in subs]
    raw = any(sub.head is None for sub in subs)
    places = corners(_with_axis([line for line in lines if line is not None], raw))
    return tuple(
        sub
        for sub, line in zip(subs, lines, strict=True)
        if line is not None and any(line.excess(place) == 0 for place in places)
    )


def why_not_implied(objective: Objective, lines: list[ClaimedLine], raw: bool, level: float) -> str:
    """Return why ``score <= level`` does not follow from lines, in a sentence; empty if it does.

    Parameters
    ----------
    objective : Objective
    lines : list of ClaimedLine
    raw : bool
        Whether y is -relu(raw) rather than the std.
    level : float
    """
    if not all(line.is_usable for line in lines) or not 0 < len(lines) <= MOST_LINES:
        return "its lines are no lines with weights that are not negative."
    score = _corner_score(objective, raw, level)
    if score is None:
        return "this head on this posterior does not follow from lines."
    known = _with_axis(lines, raw)
    if not (any(one.first == 0.0 for one in known) and any(one.second == 0.0 for one in known)):
        return "its lines leave mean or std unbounded."
    for corner in corners(known):
        if not score.is_below(corner, level):
            place = f"({_rounded_up(corner[0])!r}, {_rounded_up(corner[1])!r})"
            return f"the corner {place} of its lines scores above the bound."
    return ""


def _with_axis(lines: list[ClaimedLine], raw: bool) -> list[ClaimedLine]:
    """Add that -relu(raw) <= 0."""
    return [*lines, ClaimedLine(0.0, 1.0, 0.0)] if raw else lines


def corners(lines: list[ClaimedLine]) -> list[Corner]:
    """Return the places on two lines and beyond none."""
    exact = {(Fraction(line.first), Fraction(line.second), Fraction(line.bound)) for line in lines}
    found: list[Corner] = []
    for (a, b, h), (c, d, k) in combinations(exact, 2):
        det = a * d - b * c
        if det == 0:
            continue
        place = (h * d - k * b) / det, (a * k - c * h) / det
        if all(p * place[0] + q * place[1] <= r for p, q, r in exact):
            found.append(place)
    return found


@dataclass(frozen=True)
class _ImprovementAtCorner:
    head: ExpectedImprovement

    def is_below(self, corner: Corner, level: float) -> bool:
        margin = np.array([_rounded_up(corner[0] - Fraction(self.head.threshold))])
        std = np.array([max(_rounded_up(corner[1]), 0.0)])
        with np.errstate(all="ignore"):
            if self.head.log:
                score = max(float(log_score_above(margin, std)[0]), LEAST_LOG)
            else:
                score = float(score_above(margin, std)[0])
        return score <= level


@dataclass(frozen=True)
class _RatioAtCorner:
    head: RatioHead
    posterior: SmoothPosterior
    ratio: float

    def is_below(self, corner: Corner, level: float) -> bool:
        """Whether ``mean - threshold < t g(-y)``, t the ratio of the level."""
        margin = _rounded_up(corner[0] - Fraction(self.head.threshold))
        r = max(-_rounded_up(corner[1]), 0.0)
        std = float(self.posterior.std_of(r)) * (1.0 - CURVE_ROUNDING)
        return margin < self.ratio * std * (1.0 - CURVE_ROUNDING)


def _corner_score(
    objective: Objective, raw: bool, level: float
) -> _ImprovementAtCorner | _RatioAtCorner | None:
    plain, smooth = (
        objective.parts(ExpectedImprovement, kind) for kind in (PlainPosterior, SmoothPosterior)
    )
    if improvement := plain or smooth:
        return None if raw else _ImprovementAtCorner(improvement[0])
    if (ratios := objective.parts(RatioHead, SmoothPosterior)) and raw:
        head, posterior = ratios
        ratio = ExcessBounder(head, level).ratio
        fits = posterior.l_max > 0.0 and posterior.factor >= 0.0 and posterior.l_min >= 0.0
        return _RatioAtCorner(head, posterior, ratio) if fits and 0.0 <= ratio < math.inf else None
    return None


def _rounded_up(number: Fraction) -> float:
    try:
        near = float(number)
    except OverflowError:
        return math.inf if number > 0 else -sys.float_info.max
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)
