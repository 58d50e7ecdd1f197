"""Exclusion: maximize over the points that are away from every sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import as_points
from nnbo_mip.core.checks import check_choice, check_flag
from nnbo_mip.loop.policies.eps_decay import EpsDecay
from nnbo_mip.loop.policies.escape import Escape, Escaped, NoEscape, Propose
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
