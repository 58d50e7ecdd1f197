"""A head together with the belief that it reads: a function of points to maximize."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.scores.base.abstract import Head, MemberHead, MixtureHead, MomentHead, Shape
from nnbo_mip.scores.functions.constrained import ConstrainedImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.joint import JointPosterior
from nnbo_mip.surrogates.base.abstract import Belief, Capability
from nnbo_mip.surrogates.base.draws import posterior_of_draws


@dataclass(frozen=True, eq=False)
class Scorer:
    """What is maximized in one step.

    Parameters
    ----------
    head : Head
        Pure numbers.
    belief : Belief
        What the head reads; for a Thompson sample, the draw.
    draws : tuple of Belief
        Draws whose means are the members that a `MemberHead` reads, instead of the belief's.
    constraints : tuple of Belief
        Of the outcomes that a `ConstrainedImprovement` reads.
    """

    head: Head
    belief: Belief
    draws: tuple[Belief, ...] = ()
    constraints: tuple[Belief, ...] = ()

    def __post_init__(self) -> None:
        known = MomentHead | MemberHead | MixtureHead | ConstrainedImprovement
        if not isinstance(self.head, known):
            raise UnsupportedError(
                "a head must be a MomentHead, a MemberHead or a MixtureHead; got a "
                f"{type(self.head).__name__}; derive it from one of these."
            )

    def score(self, X: npt.ArrayLike) -> FloatArray:
        """Return scores (n,) of points (n, d)."""
        points = self.belief.check_points(X)
        if isinstance(self.head, MixtureHead):
            mixture = self.belief.mixture(points)
            return self.head.score(mixture.weights, mixture.means, mixture.stds)
        return self.head.score_at(self, points)

    @property
    def parts(self) -> tuple[Scorer, ...]:
        """What a `ConstrainedImprovement` reads, one for each of its factors."""
        assert isinstance(self.head, ConstrainedImprovement)
        beliefs = (self.belief,) * len(self.head.thresholds) + self.constraints
        heads = self.head.of_parts
        return tuple(Scorer(head, one) for head, one in zip(heads, beliefs, strict=True))

    def moments(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and std (n,) at points (n, d), zeros for a std without influence."""
        if not self.head.reads_std:
            mean = self.belief.mean(X)
            return mean, np.zeros_like(mean)
        mean, std = self.belief.predict(X, return_std=True)
        return mean, std

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Return the predictions (n, M) of members, or of draws, at points (n, d)."""
        if not self.draws:
            return self.belief.members(X)
        return np.stack([draw.mean(X) for draw in self.draws], axis=1)

    @property
    def has_gradient(self) -> bool:
        """Whether `gradient` can be asked."""
        if self.head.shape is Shape.EMPIRICAL and not self.draws:
            offered = type(self.belief).member_gradients is not Belief.member_gradients
            return offered and Capability.GRADIENT in self.belief.capabilities
        if self.head.shape is Shape.MIXTURE:
            offered = type(self.belief).mixture_slopes is not Belief.mixture_slopes
            return offered and Capability.GRADIENT in self.belief.capabilities
        read = self.draws or (self.belief, *self.constraints)
        return all(Capability.GRADIENT in belief.capabilities for belief in read)

    def gradient(self, X: npt.ArrayLike) -> FloatArray:
        """Return gradients (n, d) of the score; one-sided at a kink."""
        return self.score_and_gradient(X)[1]

    def score_and_gradient(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return scores (n,) and gradients (n, d) from one evaluation where that is possible."""
        points = self.belief.check_points(X)
        if isinstance(self.head, MemberHead):
            members = self.members(points)
            slopes = self.head.gradient(members)
            gradient = np.einsum("nm,nmd->nd", slopes, self._member_gradients(points))
            return self.head.score(members), np.asarray(gradient)
        if isinstance(self.head, MixtureHead):
            return self._of_mixture(points, self.head)
        if isinstance(self.head, ConstrainedImprovement):
            return self._of_constraints(points, self.head)
        return self._of_moments(points, 1.0)

    def _of_moments(self, points: FloatArray, sign: float) -> tuple[FloatArray, FloatArray]:
        """Return scores and gradients of a head that reads ``sign * mean`` and the std."""
        local, head = self.belief.differentiate(points), self.head
        assert isinstance(head, MomentHead)  # as `__post_init__` made sure
        by_mean, by_std = head.gradient(sign * local.mean, local.std)
        gradient = (sign * by_mean)[:, None] * local.mean_gradient
        gradient = gradient + by_std[:, None] * local.std_gradient
        return head.score(sign * local.mean, local.std), gradient

    def _of_constraints(
        self, points: FloatArray, head: ConstrainedImprovement
    ) -> tuple[FloatArray, FloatArray]:
        found = [
            part._of_moments(points, sign)
            for part, sign in zip(self.parts, head.signs, strict=True)
        ]
        score = np.asarray(np.sum([one for one, _ in found], axis=0))
        gradient = np.asarray(np.sum([one for _, one in found], axis=0))
        if head.log:
            return score, gradient
        return np.exp(score), np.exp(score)[:, None] * gradient

    def objective(self) -> Objective:
        """Return the head on the posterior that it reads, of which maxima are proven.

        Raises `UnsupportedError` where nothing is proven.
        """
        if self.head.shape is Shape.MIXTURE:
            raise UnsupportedError(
                "a score must read mean and std, or members, to be maximized exactly; this one "
                f"reads the mixture of a {self.belief.family} belief; choose empirical_ei or "
                "empirical_pi where the belief has members, or a heuristic maximizer."
            )
        if isinstance(self.head, ConstrainedImprovement):
            parts = tuple(part.belief.posterior(False) for part in self.parts)
            return Objective(JointPosterior(parts), self.head)
        if self.draws:
            return Objective(posterior_of_draws(self.draws), self.head)
        return Objective(self.belief.posterior(self.head.shape is Shape.EMPIRICAL), self.head)

    def _of_mixture(self, points: FloatArray, head: MixtureHead) -> tuple[FloatArray, FloatArray]:
        mixture, slopes = self.belief.mixture(points), self.belief.mixture_slopes(points)
        read = mixture.weights, mixture.means, mixture.stds
        parts = zip(head.gradient(*read), (slopes.weights, slopes.means, slopes.stds), strict=True)
        gradient = sum(np.einsum("nk,nkd->nd", by, slope) for by, slope in parts)
        return head.score(*read), np.asarray(gradient)

    def _member_gradients(self, points: FloatArray) -> FloatArray:
        if self.draws:
            gradients = [draw.differentiate(points).mean_gradient for draw in self.draws]
            return np.stack(gradients, axis=1)
        return self.belief.member_gradients(points)
