r"""Densities of input and value together, whose conditionals are mixtures of normal ones.

    p(u, v) = sum_k A_k(u) N(v | m_k(u), s_k^2),

so p(u) = sum_k A_k(u) is the density of the input, and given u the component k has the
weight A_k(u) / p(u).
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.surrogates.base.mixture import log_normal, log_sum


@dataclass(frozen=True, eq=False)
class Parts:
    """The components at n inputs.

    Parameters
    ----------
    logs : (n, K) array
        log A_k(u).
    means : (n, K) array
        m_k(u).
    stds : (K,) array
        s_k, positive.
    """

    logs: FloatArray
    means: FloatArray
    stds: FloatArray

    @property
    def log_marginal(self) -> FloatArray:
        """Return log p(u) (n,)."""
        return log_sum(self.logs)

    @property
    def shares(self) -> FloatArray:
        """Return A_k(u) / p(u) (n, K)."""
        return np.exp(self.logs - self.log_marginal[:, None])

    def log_joint(self, v: FloatArray) -> FloatArray:
        """Return log p(u, v) (n,) of one value an input."""
        return log_sum(self.logs + log_normal(v[:, None], self.means, self.stds))

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance (n,) of v given u."""
        shares = self.shares
        mean = (shares * self.means).sum(axis=1)
        spreads = np.square(self.stds) + np.square(self.means - mean[:, None])
        return mean, np.asarray((shares * spreads).sum(axis=1))


@dataclass(frozen=True, eq=False)
class PartSlopes:
    """Derivatives of the components.

    Parameters
    ----------
    logs, means : (n, K, d) arrays
        Gradients of log A_k(u) and of m_k(u).
    """

    logs: FloatArray
    means: FloatArray


class JointDensity(abc.ABC):
    """A density of (u, v), in standardized units; a frozen dataclass of arrays."""

    kind: str
    """By which a file tells it from others."""

    @property
    @abc.abstractmethod
    def n_inputs(self) -> int:
        """d, the number of inputs."""

    @property
    @abc.abstractmethod
    def n_parts(self) -> int:
        """K, the number of components of the conditional."""

    @abc.abstractmethod
    def parts(self, u: FloatArray) -> Parts:
        """Return the components at inputs (n, d)."""

    @abc.abstractmethod
    def slopes(self, u: FloatArray) -> PartSlopes:
        """Return the derivatives of the components at inputs (n, d)."""

    @abc.abstractmethod
    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays, of which `from_arrays` makes it again."""

    @classmethod
    @abc.abstractmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Make the density that `to_arrays` described; ValueError if they do not fit."""
