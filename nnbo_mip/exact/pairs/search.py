"""Branch and bound for sums of terms of one and of two inputs; often the first box is the last.

Without rows, and where no table is too large, elimination finds the maximum of a mean or of a draw
at once. Else boxes are split where the points that bounds name differ, and admissible points are
looked for by exchanges.
"""

from __future__ import annotations

import contextlib

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.exact.pairs.relaxer import PairwiseRelaxer
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.exchange import climb
from nnbo_mip.exact.search.primal import best_distinct
from nnbo_mip.exact.spherical.ratios import Found
from nnbo_mip.exact.spherical.search import SphereSearch
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.posteriors.pairs import PairwisePosterior
from nnbo_mip.space.sampling import sample

NUMBERS_PER_BATCH = 1 << 21
LARGEST_BATCH = 64
SAMPLES, STARTS = 64, 4
"""Random points before a search, and how many of the best climb."""

MOST_SAMPLED = 200
"""Coordinates up to which random points are worth their time: under rows they take seconds."""

LEAST_WEIGHT = 1e-6
"""Of a coordinate on which the points of a bound agree, when boxes are split."""


def why_not(problem: HeadProblem) -> str:
    """Return why a head on sums of terms is not bounded, in a sentence; empty where it is."""
    head, posterior = problem.searched, problem.posterior
    if isinstance(head, LinearHead) and head.std_weight == 0.0:
        return ""
    return f"nothing bounds a {type(head).__name__} of the std of a {type(posterior).__name__}."


class PairwiseSearch(SphereSearch):
    """A search that can be continued: what it left open is kept between two calls."""

    engine = "pairs"

    def _prepare(self, problem: HeadProblem) -> None:
        assert isinstance(problem.posterior, PairwisePosterior)
        self.relaxer: PairwiseRelaxer = PairwiseRelaxer(problem)  # type: ignore[assignment]
        numbers = max(1, self.relaxer.elimination.numbers)
        self.batch = int(np.clip(NUMBERS_PER_BATCH // numbers, 1, LARGEST_BATCH))

    def _weights(self, found: Found, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return where to split: where the points of a bound differ, else where it is steep."""
        slopes = found.slopes / (found.slopes.max(axis=1, keepdims=True) + 1e-300)
        return np.asarray((self.relaxer.spread + LEAST_WEIGHT * slopes).T)

    def _climb(self) -> None:
        domain, monitor, values = self.problem.domain, self.monitor, self.problem.values
        if monitor.best_x is None:
            near = domain.repair(0.5 * domain.lower + 0.5 * domain.upper)
            if near is not None:
                monitor.offer(near[None, :])
        points = np.empty((0, domain.dimension))
        if domain.dimension <= MOST_SAMPLED:
            rng = np.random.default_rng(self.options.seed)
            with contextlib.suppress(InputError):  # no admissible point was found
                points = sample(domain, SAMPLES, rng, monitor.should_stop)
        known = [] if monitor.best_x is None else [monitor.best_x[None, :]]
        points = np.vstack([*known, points])
        if len(points):
            for start in best_distinct(domain, points, values(points), STARTS):
                monitor.offer(climb(domain, values, start, monitor.should_stop)[None, :])
