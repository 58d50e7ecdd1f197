r"""A mixture of normal densities of input and value.

With weights l_k, centers c_k of the inputs, whitening matrices W_k (S_xx^-1 = W_k^T W_k) and
z_k = W_k (u - c_k),

    log A_k(u) = log l_k + log |W_k| - |z_k|^2 / 2 - (d / 2) log 2 pi,     d log A_k = -W_k^T z_k
    m_k(u)     = o_k + b_k . (u - c_k),   b_k = S_xx^-1 S_xy,              s_k^2 = S_yy - S_yx b_k.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.scores.base.normal import LOG_ROOT_TWO_PI
from nnbo_mip.surrogates.densities.joint_density import JointDensity, Parts, PartSlopes

LEAST_STD = 1e-6
"""Of the value given the input, in deviations of y; rounding may leave less, or a negative one."""


@dataclass(frozen=True, eq=False)
class GaussianJoint(JointDensity):
    """K normal components.

    Parameters
    ----------
    log_weights : (K,) array
    centers : (K, d) array
    whiteners : (K, d, d) or (1, d, d) array
        W_k; one for all where they are the same.
    offsets : (K,) array
        o_k, the value expected at the center.
    directions : (K, d) array
        b_k.
    stds : (K,) array
        s_k.
    """

    kind = "gaussian"

    log_weights: FloatArray
    centers: FloatArray
    whiteners: FloatArray
    offsets: FloatArray
    directions: FloatArray
    stds: FloatArray

    @staticmethod
    def of_covariances(
        weights: FloatArray, means: FloatArray, covariances: FloatArray
    ) -> GaussianJoint:
        """Return the mixture of full covariances.

        Parameters
        ----------
        weights : (K,) array
        means : (K, d + 1) array
            The value is the last coordinate.
        covariances : (K, d + 1, d + 1) array
        """
        inputs = covariances[:, :-1, :-1]
        cross = covariances[:, :-1, -1]
        unit = np.eye(inputs.shape[1])
        factors = [np.linalg.cholesky(one) for one in inputs]
        whiteners = np.stack([solve_triangular(one, unit, lower=True) for one in factors])
        white = np.einsum("kij,kj->ki", whiteners, cross)
        variances = covariances[:, -1, -1] - np.square(white).sum(axis=1)
        return GaussianJoint(
            np.log(np.maximum(weights, np.finfo(np.float64).tiny)),
            means[:, :-1].copy(),
            whiteners,
            means[:, -1].copy(),
            np.einsum("kij,ki->kj", whiteners, white),
            np.sqrt(np.maximum(variances, LEAST_STD**2)),
        )

    @staticmethod
    def of_kernels(u: FloatArray, v: FloatArray, x_width: float, y_width: float) -> GaussianJoint:
        """Return one round component at each observation, (n, d) and (n,)."""
        n, d = u.shape
        return GaussianJoint(
            np.full(n, -np.log(n)),
            u,
            np.eye(d)[None] / x_width,
            v,
            np.zeros((n, d)),
            np.full(n, y_width),
        )

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.centers.shape[1])

    @property
    def n_parts(self) -> int:
        """K."""
        return len(self.log_weights)

    def parts(self, u: FloatArray) -> Parts:
        """Return the components at inputs (n, d)."""
        if len(self.whiteners) == 1:
            white = self.whiteners[0].T
            squares = cdist(u @ white, self.centers @ white, "sqeuclidean")
        else:
            squares = np.square(self._white(u)).sum(axis=2)
        logs = self.log_weights + self._log_scale - 0.5 * squares
        means = self.offsets + u @ self.directions.T
        return Parts(logs, means - (self.directions * self.centers).sum(axis=1), self.stds)

    def slopes(self, u: FloatArray) -> PartSlopes:
        """Return the derivatives of the components at inputs (n, d)."""
        white = self._white(u)
        matrices = np.broadcast_to(self.whiteners, (self.n_parts, *self.whiteners.shape[1:]))
        logs = -np.einsum("nki,kij->nkj", white, matrices, optimize=True)
        return PartSlopes(logs, np.broadcast_to(self.directions, logs.shape))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            "log_weights": self.log_weights,
            "centers": self.centers,
            "whiteners": self.whiteners,
            "offsets": self.offsets,
            "directions": self.directions,
            "stds": self.stds,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> GaussianJoint:
        """Make the mixture that `to_arrays` described."""
        k, d = arrays["centers"].shape
        shapes = {"log_weights": (k,), "offsets": (k,), "directions": (k, d), "stds": (k,)}
        wrong = [name for name, shape in shapes.items() if arrays[name].shape != shape]
        if arrays["whiteners"].shape not in ((k, d, d), (1, d, d)):
            wrong.append("whiteners")
        if wrong or not (arrays["stds"] > 0.0).all():
            raise ValueError(f"arrays of wrong shape: {wrong}, or stds that are not positive")
        return cls(
            *(arrays[name] for name in ("log_weights", "centers", "whiteners")),
            *(arrays[name] for name in ("offsets", "directions", "stds")),
        )

    @property
    def _log_scale(self) -> FloatArray:
        """Return log |W_k| - (d / 2) log 2 pi."""
        diagonals = np.einsum("kii->ki", self.whiteners)
        return np.asarray(np.log(diagonals).sum(axis=1) - self.n_inputs * LOG_ROOT_TWO_PI)

    def _white(self, u: FloatArray) -> FloatArray:
        """Return z_k (n, K, d)."""
        off = u[:, None, :] - self.centers
        if len(self.whiteners) == 1:
            return np.asarray(off @ self.whiteners[0].T)
        return np.asarray(np.einsum("nkj,kij->nki", off, self.whiteners, optimize=True))
