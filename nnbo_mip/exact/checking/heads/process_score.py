"""Bounds of a score of the mean and std of a Gaussian process; see `process`."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.correlations import Correlations
from nnbo_mip.exact.checking.heads.excess import ExcessBounder
from nnbo_mip.exact.checking.heads.outputs import BoundedBoxes
from nnbo_mip.exact.checking.heads.process import Process
from nnbo_mip.exact.checking.heads.process_stds import AffineStd, ConvexStd, ProcessBounds
from nnbo_mip.exact.checking.heads.scores import ScoreBounder, score_interval
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.space.domain import Domain


class ProcessScore(ScoreBounder):
    """The score of a head that reads mean and std of a Gaussian process.

    Parameters
    ----------
    head : MomentHead
    process : Process
    """

    def __init__(self, head: MomentHead, process: Process) -> None:
        self.head, self.process = head, process
        self._over: ExcessBounder | None = None

    @property
    def unit(self) -> FloatArray:
        """The length-scales, in units of the inputs."""
        read = self.process.posterior
        return read.length_scale * read.x_scale

    def floats_per_box(self, free: int) -> int:
        """Size of the largest intermediate array, a box."""
        read = self.process.posterior
        return 5 * len(read.points) * (read.n_inputs + 1) + 8 * (1 << free)

    def bound_outputs(self, lower: FloatArray, upper: FloatArray) -> BoundedBoxes:
        """Take boxes (d, B) as they are."""
        return BoundedBoxes(lower, upper, [], [])

    def excess(self, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return the least of the excesses with the std below a cone and below a line."""
        if self._over is None or self._over.level != level:
            self._over = ExcessBounder(self.head, level)
        over, shape = self._over, (1 << len(bounded.free), bounded.count)
        with np.errstate(all="ignore"):
            bounds = self._bounds(bounded)
            line = AffineStd(bounds)
            found = [over.at_vertices(bounds.mean, ConvexStd(bounds), shape)]
            found.append(over.at_vertices(bounds.mean, line, shape))
            if not over.reads_mean_apart:
                found.append(over.at_vertices(None, line, shape))
        best = found[0]
        for other in found[1:]:
            best = np.where(other.max(axis=0) < best.max(axis=0), other, best)
        return best

    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends of the scores, exact and as any float64 pass has them."""
        with np.errstate(all="ignore"):
            means, stds = self.process.ends(points.T)
        return score_interval(self.head, means, stds)

    def _bounds(self, bounded: BoundedBoxes) -> ProcessBounds:
        lower, upper = bounded.lower, bounded.upper
        center = np.where(lower == upper, lower, 0.5 * lower + 0.5 * upper)
        half = np.maximum(upper - center, center - lower)
        return ProcessBounds(self.process, self.process.expand(center, half), bounded.free)


def process_score(
    head: MomentHead, posterior: ProcessPosterior, domain: Domain
) -> ProcessScore | None:
    """Return what bounds a head on a Gaussian process; None where its numbers forbid it."""
    if posterior.form == "matern" and posterior.nu == 0.5:
        return None
    with np.errstate(all="ignore"):
        process = Process(posterior, Correlations(posterior, domain.lower, domain.upper))
    return ProcessScore(head, process) if process.is_useful else None
