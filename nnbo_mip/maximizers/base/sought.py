"""`Sought`: the values that a heuristic search compares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.terms import Measure
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.scores import logarithms
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.space.domain import Domain

LEAST_VALUE = -np.finfo(np.float64).max
"""Scores of minus infinity count as it, so that every point has a finite value."""


@dataclass(frozen=True, eq=False)
class Sought:
    """A target as `nnbo_mip.exact.search.monitor.Monitor` sees it: log EI for EI, log PI for PI.

    Parameters
    ----------
    target : Target
    """

    target: Target

    @property
    def domain(self) -> Domain:
        """The admissible points."""
        return self.target.domain

    @cached_property
    def head(self) -> Head:
        """The head whose values are compared."""
        return logarithms.searched(self.target.scorer.head)

    @cached_property
    def scorer(self) -> Scorer:
        """That head over what it reads."""
        return replace(self.target.scorer, head=self.head)

    @cached_property
    def measure(self) -> Measure:
        """When two values count as equal."""
        if logarithms.is_logarithm(self.head):
            return Measure.LOGARITHM
        return Measure.NATURAL if isinstance(self.head, LinearHead) else Measure.SCORE

    def values(self, points: npt.ArrayLike) -> FloatArray:
        """Return the values (n,) at points (n, d)."""
        return self.finite(self.scorer.score(points))

    def value(self, point: npt.ArrayLike) -> float:
        """Return the value at one point, evaluated alone."""
        return float(self.values(np.asarray(point)[None, :])[0])

    def values_and_gradients(self, points: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the values (n,) and their gradients (n, d) at points (n, d)."""
        scores, gradients = self.scorer.score_and_gradient(points)
        return self.finite(scores), gradients

    def finite(self, scores: FloatArray) -> FloatArray:
        """Return scores of `head` with minus infinity, and what is no number, raised."""
        least = logarithms.LEAST_LOG if self.measure is Measure.LOGARITHM else LEAST_VALUE
        return np.fmax(scores, least)
