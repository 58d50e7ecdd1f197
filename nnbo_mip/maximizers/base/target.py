"""`Target`: what a maximizer maximizes, for those who score points and those who prove."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy.typing as npt

from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.exact.heads.maximize_head import Ways
from nnbo_mip.exact.scores.question import HeadProblem
from nnbo_mip.scores.objective import Objective
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.rows import separated


@dataclass(frozen=True, eq=False)
class Target:
    """A resolved acquisition over a domain.

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

    @cached_property
    def equalities(self) -> FloatArray:
        """Coefficients (e, d) of the rows that hold with equality."""
        domain = self.domain
        return separated(domain.A, domain.b, domain.row_slack).A_eq

    @cached_property
    def objective(self) -> Objective:
        """The same function as a head on a readout, of which maxima are proven."""
        return self.scorer.objective()

    @cached_property
    def why_no_objective(self) -> str:
        """Why there is no `objective`, in a sentence; empty if there is one."""
        try:
            self.objective  # noqa: B018
        except UnsupportedError as error:
            return str(error)
        return ""

    @cached_property
    def problem(self) -> HeadProblem:
        """The question for those who prove."""
        return HeadProblem(self.objective.readout, self.objective.head, self.domain)

    @cached_property
    def ways(self) -> Ways:
        """The ways to prove it, kept between asking whether there is one and taking it."""
        return Ways(self.problem)
