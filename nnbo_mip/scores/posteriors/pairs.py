r"""Sums of terms of one and of two inputs, several of them side by side.

Each of M functions is a level and a weighted sum of the same terms,

    x_j,    x_j^2,    x_j x_k (j < k),

and what is read of them is

    mean     the average of the functions
    std      reach times their standard deviation
    members  mean + reach (function - mean)

An input with a square is multiplied with no other one that has a square: what bounds the sums
takes inputs without a square at their ends, and finds the best place of the others for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray, IntArray, blocks
from nnbo_mip.core.errors import InputError
from nnbo_mip.scores.base.abstract import MomentSlopes
from nnbo_mip.scores.posteriors.compiled import CurvedPosterior

ALONE = -1
"""The second input of a term that has one."""


@dataclass(frozen=True, eq=False)
class PairwisePosterior(CurvedPosterior):
    """Functions of terms of one and of two inputs.

    Parameters
    ----------
    dimension : float
        d, the number of inputs.
    terms : (U, 2) array
        Inputs (j, k): the product where j < k, the square where j = k, x_j itself where k = -1.
    weights : (M, U) array
    levels : (M,) array
    reach : float
        Multiplier of the spread, at least zero.
    """

    is_pairwise = True

    dimension: float
    terms: FloatArray
    weights: FloatArray
    levels: FloatArray
    reach: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        d, terms = self.dimension, self.terms
        fits = 1.0 <= d < 2**31 and d == int(d) and terms.ndim == 2 and terms.shape[1:] == (2,)
        fits = fits and self.levels.ndim == 1 and self.levels.size > 0
        fits = fits and self.weights.shape == (self.levels.size, len(terms))
        if not fits:
            raise InputError(
                "a PairwisePosterior must have a pair of inputs a term, and a weight a term and "
                f"member; got shapes {terms.shape}, {self.weights.shape} and "
                f"{self.levels.shape} for {d!r} inputs; mend them."
            )
        whole = (terms == np.floor(terms)).all()
        first, second = terms.T
        inside = (first >= 0.0) & (second < d) & ((second == ALONE) | (second >= first))
        if not whole or not inside.all() or len(np.unique(terms, axis=0)) < len(terms):
            raise InputError(
                "the terms of a PairwisePosterior must be different pairs (j, k) of inputs, with "
                "k = -1, or k >= j; got others; mend them."
            )
        squared = np.isin(self.columns, self.columns[self.is_square, 0])
        if (squared.all(axis=1) & ~self.is_square & (second != ALONE)).any():
            raise InputError(
                "an input with a square must not be multiplied with another one that has a square; "
                "got such a term; leave it out."
            )

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.dimension)

    @cached_property
    def columns(self) -> IntArray:
        """The terms (U, 2) as indices."""
        return np.asarray(self.terms, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def is_square(self) -> npt.NDArray[np.bool_]:
        """Which terms (U,) are squares."""
        return np.asarray(self.columns[:, 0] == self.columns[:, 1])

    @cached_property
    def average(self) -> FloatArray:
        """Weights (U,) of the mean."""
        return np.asarray(self.weights.mean(axis=0))

    @property
    def level(self) -> float:
        """Level of the mean."""
        return float(self.levels.mean())

    def features(self, X: npt.ArrayLike) -> FloatArray:
        """Return the terms (n, U) at points (n, d)."""
        points = self._points(X)
        values = points[:, self.columns[:, 0]]
        return np.where(self.columns[:, 1] == ALONE, values, values * points[:, self.columns[:, 1]])

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the mean (n,)."""
        return np.concatenate([psi @ self.average + self.level for psi in self._features(X)])

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the std (n,)."""
        return np.concatenate([self._std(psi) for psi in self._features(X)])

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Return the members' predictions (n, M)."""
        return np.concatenate(
            [
                (psi @ self.average + self.level)[:, None] + self.reach * self._deviations(psi)
                for psi in self._features(X)
            ]
        )

    def pull_moments(self, X: FloatArray, slopes: MomentSlopes) -> FloatArray:
        """Return the gradients (n, d) of a function of mean and std."""
        psi = self.features(X)
        mean, std = psi @ self.average + self.level, self._std(psi)
        by_mean, by_std = slopes(mean, std)
        by_terms = by_mean[:, None] * self.average
        if self.levels.size > 1 and self.reach > 0.0:
            safe = np.where(std > 0.0, std, np.inf)
            share = (by_std * self.reach * (self.reach / safe))[:, None] * self._deviations(psi)
            by_terms = by_terms + share @ self._centered[0] / self.levels.size
        return self._pull(X, by_terms)

    def pull_members(self, X: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums (n, d) of the members' gradients with weights (n, M)."""
        total = weights.sum(axis=1, keepdims=True)
        return self._pull(X, total * self.average + self.reach * (weights @ self._centered[0]))

    # -- parts ------------------------------------------------------------------------

    @cached_property
    def _centered(self) -> tuple[FloatArray, FloatArray]:
        return self.weights - self.average, self.levels - self.level

    def _deviations(self, psi: FloatArray) -> FloatArray:
        """Return by how much the functions (n, M) differ from their average."""
        weights, levels = self._centered
        return np.asarray(psi @ weights.T + levels)

    def _std(self, psi: FloatArray) -> FloatArray:
        return np.asarray(self.reach * np.sqrt(np.square(self._deviations(psi)).mean(axis=1)))

    def _pull(self, X: FloatArray, by_terms: FloatArray) -> FloatArray:
        """Return the gradients (n, d), given derivatives (n, U) by the terms."""
        gradients = np.zeros((self.n_inputs, len(X)))
        first, second = self.columns.T
        alone = second == ALONE
        np.add.at(gradients, first, (by_terms * np.where(alone, 1.0, X[:, second])).T)
        pairs = ~alone
        np.add.at(gradients, second[pairs], (by_terms * X[:, first]).T[pairs])
        return np.ascontiguousarray(gradients.T)

    def _features(self, X: npt.ArrayLike) -> Iterator[FloatArray]:
        """Yield the terms of some points after another."""
        points = self._points(X)
        for rows in blocks(len(points), 4 * (len(self.terms) + self.levels.size + 1)):
            yield self.features(points[rows])

    def _points(self, X: npt.ArrayLike) -> FloatArray:
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.n_inputs:
            raise InputError(
                f"X must have shape (n, {self.n_inputs}), one row a point; got shape "
                f"{points.shape}; reshape it."
            )
        return points
