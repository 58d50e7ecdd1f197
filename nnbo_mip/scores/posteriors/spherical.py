r"""Linear models on the sphere: points are projected there, and a plane cuts it.

With z = (x - center) rate, q = |z|^2 and the inverse stereographic projection
P(z) = (2 z, q - 1) / (1 + q), a point of the unit sphere in d + 1 dimensions, psi = (P, 1),

    mean      weights . psi = (2 u . z + v (q - 1)) / (1 + q) + b,     weights = (u, v, b)
    std       reach sqrt(max(c1 + c0 - |root psi|^2, 0))
    members   each the mean of weights of its own

References
----------
Doumont et al. (2025), Gaussian processes that are linear on the sphere [Doumont2025].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray, blocks
from nnbo_mip.core.errors import InputError
from nnbo_mip.scores.base.abstract import MomentSlopes
from nnbo_mip.scores.posteriors.compiled import CurvedPosterior


@dataclass(frozen=True, eq=False)
class Sphere:
    """The projection of points.

    Parameters
    ----------
    center : (d,) array
        The point that is projected onto the pole (0, -1).
    rate : (d,) array
        Reciprocals of the length-scales, at least zero.
    """

    center: FloatArray
    rate: FloatArray

    def __post_init__(self) -> None:
        d = self.rate.size
        if not d or self.center.shape != (d,) or self.rate.shape != (d,) or (self.rate < 0.0).any():
            raise InputError(
                "a sphere must have a center and a rate >= 0 for each input; got shapes "
                f"{self.center.shape} and {self.rate.shape}; mend them."
            )

    def features(self, X: npt.ArrayLike) -> FloatArray:
        """Return psi (n, d + 2) at points (n, d)."""
        z = self._scaled(X)
        squares = np.square(z).sum(axis=1, keepdims=True)
        psi = np.empty((len(z), z.shape[1] + 2))
        psi[:, :-2] = 2.0 * z / (1.0 + squares)
        psi[:, -2:-1] = (squares - 1.0) / (1.0 + squares)
        psi[:, -1] = 1.0
        return psi

    def pull(self, X: FloatArray, slopes: FloatArray) -> FloatArray:
        """Return the gradients (n, d) of a function, given its derivatives (n, d + 2) by psi."""
        z = self._scaled(X)
        below = 1.0 + np.square(z).sum(axis=1, keepdims=True)
        along = (slopes[:, :-2] * z).sum(axis=1, keepdims=True)
        inner = 2.0 * slopes[:, :-2] / below + 4.0 * z * (slopes[:, -2:-1] - along) / below**2
        return np.asarray(inner * self.rate)

    def _scaled(self, X: npt.ArrayLike) -> FloatArray:
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.rate.size:
            raise InputError(
                f"X must have shape (n, {self.rate.size}), one row a point; got shape "
                f"{points.shape}; reshape it."
            )
        return np.asarray((points - self.center) * self.rate)


@dataclass(frozen=True, eq=False)
class OnSphere(CurvedPosterior):
    """A posterior of the projected point.

    Parameters
    ----------
    center, rate : (d,) arrays
        See `Sphere`.
    """

    on_sphere = True

    center: FloatArray
    rate: FloatArray

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sphere  # noqa: B018 - refuses arrays that do not fit

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.rate.size)

    @cached_property
    def sphere(self) -> Sphere:
        """The projection."""
        return Sphere(self.center, self.rate)


@dataclass(frozen=True, eq=False)
class SphericalPosterior(OnSphere):
    """Mean and std of a linear model on the sphere.

    Parameters
    ----------
    center, rate : (d,) arrays
        See `Sphere`.
    weights : (d + 2,) array
        (u, v, b), in units of y.
    root : (m, d + 2) array
        What observations take from the variance; without rows the std is the same everywhere.
    slope_variance, level_variance : float
        Prior variances c1 and c0 of (u, v) and of b.
    reach : float
        Multiplier of the std, at least zero.
    """

    weights: FloatArray
    root: FloatArray
    slope_variance: float
    level_variance: float
    reach: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        p = self.n_inputs + 2
        fits = self.weights.shape == (p,) and self.root.ndim == 2 and self.root.shape[1] == p
        if not fits:
            raise InputError(
                f"a SphericalPosterior must have {p} weights and a root of as many columns; got "
                f"shapes {self.weights.shape} and {self.root.shape}; mend them."
            )

    @property
    def variance(self) -> float:
        """The prior variance, the same everywhere as |P| = 1."""
        return self.slope_variance + self.level_variance

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the mean (n,)."""
        return self.moments(X)[0]

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the std (n,)."""
        return self.moments(X)[1]

    def moments(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and std (n,)."""
        points = np.asarray(X, dtype=np.float64)
        rows = blocks(len(points), 4 * (self.n_inputs + len(self.root)))
        parts = [self._moments(points[block])[:2] for block in rows]
        return np.concatenate([m for m, _ in parts]), np.concatenate([s for _, s in parts])

    def pull_moments(self, X: FloatArray, slopes: MomentSlopes) -> FloatArray:
        """Return the gradients (n, d) of a function of mean and std."""
        mean, std, taken = self._moments(X)
        by_mean, by_std = slopes(mean, std)
        safe = np.where(std > 0.0, std, np.inf)
        spread = (by_std * self.reach * (self.reach / safe))[:, None] * (taken @ self.root)
        return self.sphere.pull(X, by_mean[:, None] * self.weights - spread)

    def _moments(self, X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean, std and root psi (n, m)."""
        psi = self.sphere.features(X)
        taken = psi @ self.root.T
        variance = self.variance - np.square(taken).sum(axis=1)
        return psi @ self.weights, self.reach * np.sqrt(np.maximum(variance, 0.0)), taken


@dataclass(frozen=True, eq=False)
class SphericalMembers(OnSphere):
    """Several linear models on one sphere.

    Parameters
    ----------
    center, rate : (d,) arrays
        See `Sphere`.
    weights : (M, d + 2) array
        Those of the members.
    """

    weights: FloatArray

    def __post_init__(self) -> None:
        super().__post_init__()
        p = self.n_inputs + 2
        if self.weights.ndim != 2 or not len(self.weights) or self.weights.shape[1] != p:
            raise InputError(
                f"SphericalMembers must have {p} weights a member; got shape "
                f"{self.weights.shape}; mend them."
            )

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the average (n,) of the members."""
        return np.asarray(self.members(X).mean(axis=1))

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the spread (n,) of the members."""
        return np.asarray(self.members(X).std(axis=1))

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Return the members' predictions (n, M)."""
        points = np.asarray(X, dtype=np.float64)
        rows = blocks(len(points), 4 * (self.n_inputs + len(self.weights)))
        return np.concatenate(
            [self.sphere.features(points[block]) @ self.weights.T for block in rows]
        )

    def pull_members(self, X: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums (n, d) of the members' gradients with weights (n, M)."""
        return self.sphere.pull(X, weights @ self.weights)

    def pull_moments(self, X: FloatArray, slopes: MomentSlopes) -> FloatArray:
        """Return the gradients (n, d) of a function of mean and spread."""
        members = self.members(X)
        mean, std = members.mean(axis=1), members.std(axis=1)
        by_mean, by_std = slopes(mean, std)
        safe = np.where(std > 0.0, std, np.inf)[:, None]
        shares = by_mean[:, None] + by_std[:, None] * (members - mean[:, None]) / safe
        return self.pull_members(X, shares / members.shape[1])
