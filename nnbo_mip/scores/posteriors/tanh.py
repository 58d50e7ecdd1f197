r"""Posteriors of one hidden layer of tanh units and linear outputs, in float64.

    outputs = offset + direct x + outer tanh(inner x + bias)

The first output is the mean; the others are members, or features with uncertain weights.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray, blocks
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.affine import Matrix
from nnbo_mip.scores.base.abstract import MomentSlopes
from nnbo_mip.scores.base.spreads import (
    slopes_by_features,
    slopes_by_members,
    std_of_features,
    std_of_members,
)
from nnbo_mip.scores.posteriors.compiled import CurvedPosterior

TanhLayers = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]
"""inner, bias, outer, direct and offset."""

DENSE = 0.1
"""Share of numbers other than zero above which a matrix is multiplied as it is."""


def thinned(matrix: FloatArray) -> Matrix:
    """Return a matrix as it is multiplied fastest: members read few units each."""
    from scipy.sparse import csr_array

    thin = np.count_nonzero(matrix) <= DENSE * matrix.size
    return csr_array(matrix) if thin else matrix


@dataclass(frozen=True, eq=False)
class TanhPosterior(CurvedPosterior):
    """The outputs.

    Parameters
    ----------
    inner : (h, d) array
    bias : (h,) array
    outer : (1 + m, h) array
    direct : (1 + m, d) array
    offset : (1 + m,) array
    """

    inner: FloatArray
    bias: FloatArray
    outer: FloatArray
    direct: FloatArray
    offset: FloatArray

    def __post_init__(self) -> None:
        super().__post_init__()
        arrays = (self.inner, self.bias, self.outer, self.direct, self.offset)
        shapes = [array.shape for array in arrays]
        (h, d), m = (shapes[0] if len(shapes[0]) == 2 else (0, 0)), self.offset.size
        if not h or not d or m < 2 or shapes != [(h, d), (h,), (m, h), (m, d), (m,)]:
            raise InputError(
                f"the layers of a {type(self).__name__} must be inner (h, d), bias (h,), outer "
                f"(m, h), direct (m, d) and offset (m,), m > 1; got {shapes}; mend them."
            )

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.inner.shape[1])

    def evaluate(self, X: npt.ArrayLike) -> FloatArray:
        """Return the outputs (n, 1 + m) at points (n, d)."""
        points = np.asarray(X, dtype=np.float64)
        rows = blocks(len(points), 2 * len(self.bias))
        return np.concatenate([self._evaluate(points[block]) for block in rows])

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the first output (n,)."""
        return self.evaluate(X)[:, 0]

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the std (n,)."""
        return self._std_of(self.evaluate(X)[:, 1:])

    def moments(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and std (n,) from one evaluation."""
        outputs = self.evaluate(X)
        return outputs[:, 0], self._std_of(outputs[:, 1:])

    def pull_back(self, X: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums (n, d) of the outputs' gradients with weights (n, 1 + m)."""
        slopes = 1.0 - np.square(np.tanh(X @ self.inner.T + self.bias))
        return np.asarray(((weights @ self._outer) * slopes) @ self.inner + weights @ self.direct)

    def pull_moments(self, X: FloatArray, slopes: MomentSlopes) -> FloatArray:
        """Return the gradients (n, d) of a function of mean and std."""
        outputs = self.evaluate(X)
        others = outputs[:, 1:]
        by_mean, by_std = slopes(outputs[:, 0], self._std_of(others))
        weights = by_std[:, None] * self._slopes_of(others)
        return self.pull_back(X, np.column_stack([by_mean, weights]))

    def _evaluate(self, points: FloatArray) -> FloatArray:
        hidden = np.tanh(points @ self.inner.T + self.bias)
        return np.asarray(hidden @ self._outer.T + points @ self.direct.T + self.offset)

    @cached_property
    def _outer(self) -> Matrix:
        return thinned(self.outer)

    @abc.abstractmethod
    def _std_of(self, others: FloatArray) -> FloatArray:
        """Return the std (n,) of the outputs (n, m) after the first."""

    @abc.abstractmethod
    def _slopes_of(self, others: FloatArray) -> FloatArray:
        """Return its derivatives (n, m)."""


@dataclass(frozen=True, eq=False)
class TanhMembers(TanhPosterior):
    """Members and their spread, as in `posteriors.MembersPosterior`.

    Parameters
    ----------
    spread : str
        ``std`` or ``variance``.
    variance_unit : float
        Unit of y in which the variance is taken.
    noise : float
        Standard deviation that is added in squares.
    """

    spread: str = "std"
    variance_unit: float = 1.0
    noise: float = 0.0

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Return the members' predictions (n, M) at points (n, d)."""
        return self.evaluate(X)[:, 1:]

    def pull_members(self, X: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums (n, d) of the members' gradients with weights (n, M)."""
        return self.pull_back(X, np.column_stack([np.zeros(len(X)), weights]))

    def _std_of(self, others: FloatArray) -> FloatArray:
        return std_of_members(others, self.spread, self.variance_unit, self.noise)

    def _slopes_of(self, others: FloatArray) -> FloatArray:
        return slopes_by_members(others, self.spread, self.variance_unit, self.noise)


@dataclass(frozen=True, eq=False)
class TanhFeatures(TanhPosterior):
    """Features whose weights are normal, as in `posteriors.QuadraticPosterior`.

    Parameters
    ----------
    root : (r, m) array
        The variance is the squared length of ``root @ features``.
    noise : float
        Standard deviation that is added in squares.
    """

    root: FloatArray
    noise: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.root.ndim != 2 or self.root.shape[1] != len(self.offset) - 1:
            raise InputError(
                f"the root of a TanhFeatures must have a column a feature, {len(self.offset) - 1}; "
                f"got shape {self.root.shape}; mend it."
            )

    def _std_of(self, others: FloatArray) -> FloatArray:
        return std_of_features(others, self.root, self.noise)

    def _slopes_of(self, others: FloatArray) -> FloatArray:
        return slopes_by_features(others, self.root, self.noise)
