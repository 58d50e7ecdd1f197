"""`Target`: what a maximizer maximizes, for those who score points and those who prove."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.core.terms import Measure
from nnbo_mip.exact.heads.maximize_head import Ways
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.logarithms import LEAST_LOG
from nnbo_mip.scores.objective import Objective
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.rows import separated

LEAST_VALUE = -np.finfo(np.float64).max
"""Scores of minus infinity count as it, so that every point has a finite value."""


@dataclass(frozen=True, eq=False)
class Target:
    """A resolved acquisition over a domain; to a `Monitor`, the values that a search compares.

    Parameters
    ----------
    scorer : Scorer
        The head and the belief that it reads.
    domain : Domain
        Admissible points, in the belief's coordinates.
    """

    scorer: Scorer
    domain: Domain

    def __post_init__(self) -> None:
        if self.scorer.belief.n_inputs != self.domain.dimension:
            raise InputError(
                f"the domain must have the {self.scorer.belief.n_inputs} coordinates that the "
                f"belief was fitted on; got {self.domain.dimension}; pass space.model() (a "
                "category counts one coordinate a level)."
            )

    @property
    def dimension(self) -> int:
        """d, the number of coordinates."""
        return self.domain.dimension

    def score(self, points: npt.ArrayLike) -> FloatArray:
        """Return scores (n,) of points (n, d), as the belief computes them."""
        return self.scorer.score(points)

    def gradient(self, points: npt.ArrayLike) -> FloatArray:
        """Return gradients (n, d) of the score."""
        return self.scorer.gradient(points)

    @property
    def has_gradient(self) -> bool:
        """Whether `gradient` can be asked."""
        return self.scorer.has_gradient

    # -- what a search compares: log EI for EI, log PI for PI ----------------------------

    @property
    def head(self) -> Head:
        """The head of the score."""
        return self.scorer.head

    @property
    def searched(self) -> Head:
        """The head whose values are compared."""
        return self._sought.head

    @property
    def measure(self) -> Measure:
        """When a gap between value and bound counts as closed."""
        return self.searched.measure

    @cached_property
    def _sought(self) -> Scorer:
        return replace(self.scorer, head=self.head.searched)

    def values(self, points: npt.ArrayLike) -> FloatArray:
        """Return the values (n,) of `searched` at points (n, d), as the belief computes them."""
        return self.finite(self._sought.score(points))

    def value(self, point: npt.ArrayLike) -> float:
        """Return the value at one point, evaluated alone."""
        return float(self.values(np.asarray(point)[None, :])[0])

    def values_and_gradients(self, points: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the values (n,) and their gradients (n, d) at points (n, d)."""
        scores, gradients = self._sought.score_and_gradient(points)
        return self.finite(scores), gradients

    def finite(self, scores: FloatArray) -> FloatArray:
        """Return scores of `searched` with minus infinity, and what is no number, raised."""
        least = LEAST_LOG if self.searched.is_logarithm else LEAST_VALUE
        return np.fmax(scores, least)

    # -- what is proven -----------------------------------------------------------------

    @cached_property
    def equalities(self) -> FloatArray:
        """Coefficients (e, d) of the rows that hold with equality."""
        domain = self.domain
        return separated(domain.A, domain.b, domain.row_slack).A_eq

    @cached_property
    def objective(self) -> Objective:
        """The same function as a head on a posterior, of which maxima are proven."""
        return self.scorer.objective()

    @cached_property
    def why_no_objective(self) -> str:
        """Why there is no `objective`, in a sentence; empty if there is one."""
        try:
            self.objective  # noqa: B018
        except UnsupportedError as error:
            return str(error)
        except MemoryError:
            return "the exact form of this belief needs more memory than there is."
        return ""

    @cached_property
    def problem(self) -> HeadProblem:
        """The problem for those who prove."""
        return HeadProblem(self.objective, self.domain)

    @cached_property
    def ways(self) -> Ways:
        """The ways to prove it, kept between asking whether there is one and taking it."""
        return Ways(self.problem)
