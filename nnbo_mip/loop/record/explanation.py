"""`Explanation`: why a point was suggested, in words and numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nnbo_mip.core.outward import text_above
from nnbo_mip.drawing.page.html import card
from nnbo_mip.loop.record.shown import number_text, point_text


@dataclass(frozen=True, eq=False)
class Leaning:
    """A known point that the model's mean at the suggestion leans on.

    Parameters
    ----------
    number : int
        Of the observation, from 0; -1 for a pending point.
    x : array or dict
    y : float or None
        What was told; None for a failure or a pending point.
    weight : float
        By how much the mean there moves when this value moves by one; NaN where the model is none
        of weights.
    distance : float
        In model coordinates, in which the space is 2 wide; along inputs in length-scales of the
        model where it has some.
    """

    number: int
    x: Any
    y: float | None
    weight: float
    distance: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a point was suggested.

    Parameters
    ----------
    x : array or dict
    head : str
        Name of the score.
    value, bound : float
        What the point promises, and what any other point promises at most; +inf where nothing was
        proven.
    improvement, largest_improvement : float
        The same as expected improvements in the user's units; NaN for other scores.
    about : str
        Over what `bound` was proven.
    status : str
    mean, std : float
        What the model thinks there, in the user's units.
    best_x : array, dict or None
        The best point that was told.
    best_y, best_mean, best_std : float
        What was told of it, and what the model thinks there.
    leans_on : tuple of Leaning
        The most important ones first.
    is_weighted : bool
        Whether these are weights; else the nearest points, as the model gives no weights.
    binding : tuple of str
        Constraints, sides and distances without which the point could have moved on.
    """

    x: Any
    head: str
    value: float
    bound: float
    improvement: float
    largest_improvement: float
    about: str
    status: str
    mean: float
    std: float
    best_x: Any
    best_y: float
    best_mean: float
    best_std: float
    leans_on: tuple[Leaning, ...]
    is_weighted: bool
    binding: tuple[str, ...]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Name and sentence of each reason."""
        found = [("promise", self._promise()), ("any other", self._others())]
        if not math.isnan(self.mean):
            found.append(("model", f"expects {_band(self.mean, self.std)} there"))
        if self.best_x is not None:
            told = f"the best value is {number_text(self.best_y)}, at {point_text(self.best_x)}"
            if not math.isnan(self.best_mean):
                told += f", where the model expects {_band(self.best_mean, self.best_std)}"
            found.append(("best", told))
        if self.leans_on:
            found.append(("leans on", self._leanings()))
        found.append(("limits", "; ".join(self.binding) or "none: the point lies free inside"))
        return found

    def _promise(self) -> str:
        if not math.isnan(self.improvement):
            return f"an expected improvement of {self.improvement:.4g} on the best value"
        return f"{self.head} {self.value:.6g}, of which larger is better"

    def _others(self) -> str:
        if not math.isfinite(self.bound):
            return "nothing was proven: another point may promise more"
        if not math.isnan(self.largest_improvement):
            most = f"an improvement of {text_above(self.largest_improvement, 4)}"
        else:
            most = f"{self.head} {text_above(self.bound, 6)}"
        closed = "" if self.status == "optimal" else "; the gap is open"
        return f"promises at most {most}: proven over {self.about}{closed}"

    def _leanings(self) -> str:
        shown = []
        for one in self.leans_on:
            name = "a pending point" if one.number < 0 else f"evaluation {one.number + 1}"
            value = "failed" if one.y is None else f"y = {number_text(one.y)}"
            value = "" if one.number < 0 else f" ({value})"
            part = f"weight {one.weight:+.2g}" if self.is_weighted else f"{one.distance:.2g} away"
            shown.append(f"{name}{value} {part}")
        near = "" if self.is_weighted else "the nearest known points: "
        return near + ", ".join(shown)

    def __str__(self) -> str:
        head = f"why x = {point_text(self.x)}"
        return "\n".join([head, *(f"  {name:<9} {said}" for name, said in self.lines)])

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return card(f"Why {point_text(self.x)}", self.lines)


def _band(mean: float, std: float) -> str:
    return number_text(mean) + ("" if math.isnan(std) else f" ± {std:.2g}")
