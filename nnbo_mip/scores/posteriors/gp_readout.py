r"""The posterior of a Gaussian process as a readout, in float64.

With u = (x - x_center) / x_scale, k_i(x) = amplitude p(sum_j ((u_j - points_ij) / length_j)^2),

    mean   y_center + y_scale k(x)^T weights
    std    reach sqrt(max(amplitude - |factor^-1 k(x)|^2, 0))
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist

from nnbo_mip.core.arrays import FloatArray, blocks
from nnbo_mip.core.errors import InputError
from nnbo_mip.scores.base.abstract import MomentSlopes
from nnbo_mip.scores.base.kernel_profiles import Profile
from nnbo_mip.scores.posteriors.readouts import CurvedReadout


@dataclass(frozen=True, eq=False)
class GpReadout(CurvedReadout):
    """Mean and std after n observations.

    Parameters
    ----------
    points : (n, d) array
        Observed points, standardized.
    factor : (n, n) array
        L, lower triangular, of the kernel matrix with the noise on its diagonal.
    weights : (n,) array
    length_scale, x_center, x_scale : (d,) arrays
    form : str
        Of the kernel; see `kernel_profiles`.
    nu, mixture, amplitude : float
        Of the kernel.
    y_center, y_scale, reach : float
        From standardized values to those of y; the reach is that of the std.
    """

    points: FloatArray
    factor: FloatArray
    weights: FloatArray
    length_scale: FloatArray
    x_center: FloatArray
    x_scale: FloatArray
    form: str = "rbf"
    nu: float = 2.5
    mixture: float = 1.0
    amplitude: float = 1.0
    y_center: float = 0.0
    y_scale: float = 1.0
    reach: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        Profile(self.form, self.nu, self.mixture)  # says which kernels there are
        shapes = [a.shape for a in (self.points, self.factor, self.weights)]
        shapes += [a.shape for a in (self.length_scale, self.x_center, self.x_scale)]
        n, d = shapes[0] if len(shapes[0]) == 2 else (0, 0)
        if not n or not d or shapes != [(n, d), (n, n), (n,), (d,), (d,), (d,)]:
            raise InputError(
                "the arrays of a GpReadout must be points (n, d), a factor (n, n), weights (n,) "
                f"and three of shape (d,); got {shapes}; mend them."
            )
        if not ((self.length_scale > 0.0).all() and (self.x_scale > 0.0).all()):
            raise InputError(
                "length_scale and x_scale of a GpReadout must be positive; got "
                f"{self.length_scale} and {self.x_scale}; mend them."
            )
        if np.triu(self.factor, 1).any() or not np.diag(self.factor).all():
            raise InputError(
                "the factor of a GpReadout must be lower triangular, without a zero on its "
                "diagonal; got another matrix; mend it."
            )

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.points.shape[1])

    @cached_property
    def profile(self) -> Profile:
        """The kernel as a function of the squared scaled distance."""
        return Profile(self.form, self.nu, self.mixture)

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the mean (n,)."""
        return self.moments(X)[0]

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the std (n,)."""
        return self.moments(X)[1]

    def moments(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and std (n,)."""
        points = np.asarray(X, dtype=np.float64)
        rows = blocks(len(points), 2 * len(self.points))
        parts = [self._moments(self._distances(points[block]))[:2] for block in rows]
        return np.concatenate([m for m, _ in parts]), np.concatenate([s for _, s in parts])

    def pull_moments(self, X: FloatArray, slopes: MomentSlopes) -> FloatArray:
        """Return the gradients (n, d) of a function of mean and std."""
        distances = self._distances(X)
        mean, std, whitened = self._moments(distances)
        by_mean, by_std = slopes(mean, std)
        solved = solve_triangular(self.factor, whitened, lower=True, trans="T", check_finite=False)
        safe = np.where(std > 0.0, std, np.inf)
        weights = by_mean[:, None] * (self.y_scale * self.weights)
        weights = weights - (by_std * self.reach**2 / safe)[:, None] * solved.T
        weights = weights * self.amplitude * self.profile.derivatives(distances)[0]
        u, v = self._scaled(X), self._scaled_points
        pulled = 2.0 * (weights.sum(axis=1)[:, None] * u - weights @ v)
        return np.asarray(pulled / (self.length_scale * self.x_scale))

    def _moments(self, distances: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean, std and L^-1 k(x), (number of points, n)."""
        k = self.amplitude * self.profile.value(distances)
        whitened = solve_triangular(self.factor, k.T, lower=True, check_finite=False)
        variance = self.amplitude - np.square(whitened).sum(axis=0)
        mean = self.y_center + self.y_scale * (k @ self.weights)
        return mean, self.reach * np.sqrt(np.maximum(variance, 0.0)), whitened

    def _scaled(self, X: FloatArray) -> FloatArray:
        u = (0.5 * X - 0.5 * self.x_center) / (0.5 * self.x_scale)
        return np.asarray(u / self.length_scale)

    def _distances(self, X: FloatArray) -> FloatArray:
        """Return squared scaled distances (n, number of points)."""
        r = cdist(self._scaled(X), self._scaled_points)
        return np.asarray(r * r)

    @cached_property
    def _scaled_points(self) -> FloatArray:
        return np.asarray(self.points / self.length_scale)
