"""Scores of linear models on the sphere at points, from both sides, written for checking."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.outputs import BoundedBoxes
from nnbo_mip.exact.checking.heads.scores import ScoreBounder, score_interval, share_ends
from nnbo_mip.exact.checking.heads.sphere_forms import TINY, UNIT
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.spherical import SphericalMembers, SphericalPosterior

LARGEST = 1e80
"""Sizes of which products stay far from overflow."""


class SphereScore(ScoreBounder):
    """Scores at points, exactly and as a float64 pass may have them.

    Parameters
    ----------
    posterior : SphericalPosterior or SphericalMembers
    sizes : (n,) array
        Of its numbers, beside weights, rates and centre.
    """

    def __init__(self, posterior: SphericalPosterior | SphericalMembers, sizes: FloatArray) -> None:
        self._n_inputs = posterior.n_inputs
        self._unit = 4.0 * (posterior.n_inputs + 16) * UNIT
        parts = [posterior.weights.ravel(), posterior.rate, posterior.center, sizes]
        self._largest = float(np.abs(np.concatenate(parts)).max())

    @property
    def is_useful(self) -> bool:
        """Whether sizes stay far from overflow."""
        return self._largest < LARGEST

    def bound_outputs(self, lower: FloatArray, upper: FloatArray) -> BoundedBoxes:
        """Take boxes (d, B) as they are."""
        return BoundedBoxes(lower, upper, [], [])

    def excess(self, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return infinity: `SphereRecheck` bounds boxes."""
        return np.full((1, bounded.count), np.inf)

    def floats_per_box(self, free: int) -> int:
        """Size of the largest intermediate array, a box."""
        return 8 * self._n_inputs


class SphereMoments(SphereScore):
    """Scores of mean and std of one linear model."""

    def __init__(self, head: MomentHead, posterior: SphericalPosterior) -> None:
        self.head, self.posterior = head, posterior
        spread = [posterior.variance, posterior.reach]
        super().__init__(posterior, np.append(posterior.root.ravel(), spread))

    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends (n,) of the scores at points (n, d)."""
        read, head = self.posterior, self.head
        psi = read.sphere.features(points)
        mean, off = psi @ read.weights, self._unit * float(np.abs(read.weights).sum()) + TINY
        taken = np.square(psi @ read.root.T).sum(axis=1)
        sizes = np.square(np.abs(read.root).sum(axis=1)).sum() + read.variance
        error = 2.0 * (self._unit + len(read.root) * UNIT) * sizes
        ends = (
            read.reach * np.sqrt(np.maximum(read.variance - taken + sign * error, 0.0))
            for sign in (-1.0, 1.0)
        )
        low, high = (
            end * (1.0 + sign * 1e-14) for sign, end in zip((-1.0, 1.0), ends, strict=True)
        )
        return score_interval(head, (mean - off, mean + off), (low, high))


class SphereMembers(SphereScore):
    """Improvements that are counted over linear models."""

    def __init__(self, head: EmpiricalImprovement, posterior: SphericalMembers) -> None:
        self.head, self.posterior = head, posterior
        super().__init__(posterior, np.empty(0))

    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends (n,) of the scores at points (n, d)."""
        members = self.posterior.members(points)
        off = self._unit * np.abs(self.posterior.weights).sum(axis=1) + TINY
        return _counted(self.head, members - off, members + off)


def sphere_score(objective: Objective) -> SphereScore | None:
    """Return what knows the scores of an objective on the sphere; None where nothing does."""
    if moments := objective.parts(MomentHead, SphericalPosterior):
        return SphereMoments(*moments)
    members = objective.parts(EmpiricalImprovement, SphericalMembers)
    return None if members is None else SphereMembers(*members)


def _counted(
    head: EmpiricalImprovement, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return ends (n,) of an empirical score of members between ends (n, M)."""
    if head.kind == "pi":
        least, most = share_ends(low.shape[1])
        below, above = ((part >= head.threshold).sum(axis=1) for part in (low, high))
        return least[below], most[above]
    off = 4.0 * UNIT * (np.abs(low) + np.abs(high) + abs(head.threshold))
    error = 4.0 * (low.shape[1] + 8) * UNIT
    return head.score(low - off) * (1.0 - error), head.score(high + off) * (1.0 + error)
