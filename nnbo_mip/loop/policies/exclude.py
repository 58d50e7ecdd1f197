"""Exclusion: maximize over the points that are away from every sample.

`maximized_away` finds a maximum that keeps its distance, which is imposed lazily: few known points
are in the way of a maximum, and only those are excluded, as solvers add lazy constraints. What is
best of a larger set and admissible is best of the smaller one, and a bound of the larger one holds.
A quick search without a proof foresees which they are, so that the long one is as a rule asked
once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.checks import as_points, check_choice, check_flag
from nnbo_mip.loop.policies.eps_decay import EpsDecay
from nnbo_mip.loop.policies.escape import Escape, Escaped, NoEscape, Propose
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.space.domain import Domain

MAX_HALVINGS = 40
"""Of eps where coordinates are continuous; less than that no float64 search resolves."""


@dataclass(frozen=True)
class Exclude(EpsDecay, Escape):
    """Maximize over the points that are at least eps away from every sample.

    Parameters
    ----------
    fraction, first, last, steps, padding
        As in `EpsDecay`.
    decay : {"exponential", "linear"}
        How the distance shrinks.
    noisy : bool
        Whether the distance is kept also where values are noisy and the surrogate knows it, so that
        a second value at a known point would tell something.

    Notes
    -----
    Where no such point is left eps is halved until one is. Where none is left at any distance, as
    in a finite space of which all points are known, a sample is proposed again.
    """

    name: ClassVar[str] = "exclude"
    scales: ClassVar[bool] = False

    decay: str = "exponential"
    noisy: bool = False

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_choice("decay", self.decay, ("exponential", "linear"))
        check_flag("noisy", self.noisy)

    def among_noise(self) -> Escape:
        """Return no rule, so that points may be repeated, unless `noisy`."""
        return self if self.noisy else NoEscape()

    def eps(self, step: int, starts: int, dimension: int, steps: int | None = None) -> float:
        """Return the distance of a step."""
        return self.value(self.decay, step, starts, dimension, steps)

    def apply(
        self,
        propose: Propose,
        seen: npt.ArrayLike,
        c: float,
        eps: float,
        domain: Domain,
        *,
        responds: bool = True,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Escaped:
        """Propose at a distance of eps, eps / 2, …, or at none."""
        if not len(as_points(seen, domain.dimension)):
            return Escaped(propose(c), c, c, 0.0)
        least = smallest_distance(domain)
        away = eps
        for _ in range(MAX_HALVINGS):
            proposal = propose(c, away)
            if proposal.x is not None:
                said = "" if away == eps else _halved(eps, away)
                return Escaped(proposal, c, c, away, imposed=away, message=said)
            if away <= least or should_stop():
                break
            away *= 0.5
        said = f"no point was found {away:.3g} away from every sample, so one may be repeated."
        return Escaped(propose(c), c, c, 0.0, message=said)


def smallest_distance(domain: Domain) -> float:
    """Return what two points of a finite domain differ by at least, in some coordinate; else 0."""
    least = np.inf
    for j in np.flatnonzero(domain.lower < domain.upper):
        grid = domain.grids[j]
        if grid is None:
            return 0.0
        if grid.uniform_step is not None:
            least = min(least, grid.uniform_step)
        else:
            least = min(least, float(np.diff(grid.value(np.arange(grid.count))).min()))
    return 0.0 if np.isinf(least) else float(least)


def _halved(eps: float, away: float) -> str:
    return (
        f"no point is left eps = {eps:.3g} away from every sample, so the distance was halved to "
        f"{away:.3g}."
    )


ROUNDS = 4
"""In which known points are excluded as they turn out to be in the way; then, or when the time of
the ask is up, all of them are."""

Search = Callable[[FloatArray | None, FloatArray | None], Proposal]
"""From the points (k, d) to keep away from and a point (d,) worth a try, if any, to a maximum."""

Quick = Callable[[FloatArray | None], Proposal]
"""From the points (k, d) to keep away from to what may be a maximum."""


def maximized_away(
    seen: FloatArray,
    away: float,
    search: Search,
    quick: Quick | None,
    is_late: Callable[[], bool],
) -> Proposal:
    """Maximize at a distance from all known points.

    Parameters
    ----------
    seen : (n, d) array
        Known points.
    away : float
        The distance to keep, in the largest coordinate.
    search : callable
        The search whose answer counts.
    quick : callable, optional
        One that is as good as free.
    is_late : callable
        Whether the time is up.
    """
    excluded, guess = np.zeros(len(seen), dtype=np.bool_), None
    if quick is not None:
        for _ in range(ROUNDS):
            foreseen = quick(_chosen(seen, excluded)).x
            if foreseen is None or is_late():
                break
            in_the_way = _in_the_way(seen, foreseen, away)
            if not (in_the_way & ~excluded).any():
                guess = foreseen
                break
            excluded |= in_the_way
    for _ in range(ROUNDS):
        proposal = search(_chosen(seen, excluded), guess)
        if proposal.x is None:
            return proposal
        in_the_way = _in_the_way(seen, proposal.x, away)
        if not (in_the_way & ~excluded).any():
            return proposal
        excluded |= in_the_way
        if is_late():
            break
    return search(seen, guess)


def _in_the_way(seen: FloatArray, x: FloatArray, away: float) -> BoolArray:
    """Return which of the known points (n, d) are too near a point."""
    return np.asarray(np.abs(seen - x).max(axis=1) < away)


def _chosen(seen: FloatArray, excluded: BoolArray) -> FloatArray | None:
    """Return the excluded points, None where there are none."""
    return seen[excluded] if excluded.any() else None
