r"""How a belief at one point depends on the belief at another: covariances and their slopes.

    processes     k(u, u') - k(u)^T (K + D I)^-1 k(u')          Gaussian processes
    weights       psi(u)^T Sigma psi(u')                        linear models on features
    members       mean_m (f_m - f)(x) (f_m - f)(x')             ensembles, forests

For a function sum_ij G_ij C_ij of the covariances, H = G + G^T, the slopes by the points are
those of sum_j H_ij C_ij by the first argument.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.base.abstract import Belief
from nnbo_mip.surrogates.ensembles.members import MemberBelief
from nnbo_mip.surrogates.gp.belief import GpBelief
from nnbo_mip.surrogates.rvfl.brvfl_belief import BrvflBelief
from nnbo_mip.surrogates.trees.forest_belief import ForestBelief


class Joint(abc.ABC):
    """Covariances of different points; those of a point with itself are read from the std."""

    @abc.abstractmethod
    def covariance(self, X: FloatArray) -> FloatArray:
        """Return covariances (q, q) of points (q, d)."""

    @abc.abstractmethod
    def pull(self, X: FloatArray, H: FloatArray) -> FloatArray:
        """Return slopes (q, d) by the points of a function with slopes H (q, q)."""


def joint_of(belief: Belief) -> Joint | None:
    """Return how points hang together; None where a belief does not say, as NOMU's."""
    if isinstance(belief, GpBelief) and belief.waves is None:
        return Process(belief)
    if isinstance(belief, BrvflBelief):
        return Weights(belief)
    if isinstance(belief, ForestBelief):
        return Members(belief)
    if isinstance(belief, MemberBelief) and belief.spread == "std":
        return Members(belief)
    return None


@dataclass(frozen=True, eq=False)
class Process(Joint):
    """The posterior covariance of a Gaussian process."""

    belief: GpBelief

    def covariance(self, X: FloatArray) -> FloatArray:
        """Return covariances (q, q) of points (q, d)."""
        u, k, solved = self._solved(X)
        return np.asarray(self._size * (self.belief.kernel(u, u) - k @ solved))

    def pull(self, X: FloatArray, H: FloatArray) -> FloatArray:
        """Return slopes (q, d) by the points of a function with slopes H (q, q)."""
        belief = self.belief
        u, _, solved = self._solved(X)
        prior = belief.kernel.pull(u, u, H)
        known = belief.kernel.pull(u, belief.points, H @ solved.T)
        return np.asarray(self._size * (prior - known) / belief.units.x_scale)

    @property
    def _size(self) -> float:
        return (self.belief.scale * self.belief.units.y_scale) ** 2

    def _solved(self, X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        u = self.belief.units.inward(X)
        k = self.belief.kernel(u, self.belief.points)
        return u, k, cho_solve((self.belief.factor, True), k.T, check_finite=False)


@dataclass(frozen=True, eq=False)
class Weights(Joint):
    """That of a linear model whose weights are normal."""

    belief: BrvflBelief

    def covariance(self, X: FloatArray) -> FloatArray:
        """Return covariances (q, q) of points (q, d)."""
        white = self.belief.weights.whiten(self._features(X)[1])
        return np.asarray(self._size * (white @ white.T))

    def pull(self, X: FloatArray, H: FloatArray) -> FloatArray:
        """Return slopes (q, d) by the points of a function with slopes H (q, q)."""
        belief = self.belief
        u, psi = self._features(X)
        spread = belief.weights.spread(belief.weights.whiten(psi))
        pulled = belief.features.pull_back(u, psi, H @ spread)
        return np.asarray(self._size * pulled / belief.units.x_scale)

    @property
    def _size(self) -> float:
        return (self.belief.scale * self.belief.units.y_scale) ** 2

    def _features(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        u = self.belief.units.inward(X)
        return u, self.belief.features.evaluate(u)


@dataclass(frozen=True, eq=False)
class Members(Joint):
    """That of the members' values about their mean."""

    belief: Belief

    def covariance(self, X: FloatArray) -> FloatArray:
        """Return covariances (q, q) of points (q, d)."""
        off = self._off(X)
        return np.asarray(off @ off.T / off.shape[1])

    def pull(self, X: FloatArray, H: FloatArray) -> FloatArray:
        """Return slopes (q, d) by the points of a function with slopes H (q, q)."""
        off = self._off(X)
        slopes = H @ off / off.shape[1]
        return np.asarray(np.einsum("qm,qmd->qd", slopes, self.belief.member_gradients(X)))

    def _off(self, X: FloatArray) -> FloatArray:
        members = self.belief.members(X)
        return np.asarray(members - members.mean(axis=1, keepdims=True))
