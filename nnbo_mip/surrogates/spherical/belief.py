r"""The belief of a linear model on the sphere: normal weights of low rank.

In standardized units, with the prior deviations r of the d + 2 weights, psi r the features of
the n observations, and the singular values s_k and right vectors q_k of those over the roots of
their variances, the weights have

    mean         r V^T diag(s / (1 + s^2)) U^T (y / sqrt(D)),        V = (q_k),  U the left vectors
    covariance   r (1 - sum_k g_k q_k q_k^T) r,                      g_k = s_k^2 / (1 + s_k^2),

with at most min(n, d + 2) terms. A draw is

    mean + r (e - sum_k (1 - sqrt(1 - g_k)) q_k (q_k . e)),          e ~ N(0, 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import svd

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.scores.posteriors.spherical import SphericalPosterior
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient, check_scale
from nnbo_mip.surrogates.base.left_out import LeavesOut, log_densities
from nnbo_mip.surrogates.base.observations import Standardization
from nnbo_mip.surrogates.base.storage import standardization_arrays, standardization_of
from nnbo_mip.surrogates.spherical.evidence import Scales

OFFERED = frozenset(
    {
        *(Capability.MEAN, Capability.STD, Capability.GRADIENT),
        *(Capability.DRAWS, Capability.NOISE),
    }
)

LEAST_LEFT = 1e-10
"""Part of a value's variance that the others leave unexplained at least; smaller is rounding."""


@dataclass(frozen=True, eq=False)
class SphericalBelief(LeavesOut, Belief):
    """A linear model on the sphere after observations, or one function drawn from it.

    Parameters
    ----------
    rate : (d,) array
        Reciprocal length-scales about the middle of the cube.
    weights : (d + 2,) array
        Their mean, in standardized units.
    prior : (d + 2,) array
        Prior deviations r.
    directions : (m, d + 2) array
        q, orthonormal rows.
    gains : (m,) array
        g, from 0 to 1.
    units : Standardization
        Of the values.
    noise : float
        Standard deviation of a value about the function, in units of y.
    scale : float
        Multiplier of the uncertainty; 0 in a draw.
    """

    rate: FloatArray
    weights: FloatArray
    prior: FloatArray
    directions: FloatArray
    gains: FloatArray
    units: Standardization
    noise: float
    scale: float = 1.0

    family = "spherical_linear"
    capabilities = OFFERED

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.rate.size)

    @property
    def length_scales(self) -> FloatArray:
        """Reciprocals of the rates (d,)."""
        return np.asarray(1.0 / self.rate)

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Posterior mean (n,), or the drawn function."""
        return self._read.mean(self.check_points(X))

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Posterior std (n,) of the function, times the scale; the noise is not in it."""
        return self._read.std(self.check_points(X))

    def noise_std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the standard deviation (n,) of an observation from the function."""
        return np.full(len(self.check_points(X)), self.noise)

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean, std and their gradients; 0 is taken for the slope of a std of zero."""
        points = self.check_points(X)
        mean, std = self._read.moments(points)
        one, none = np.ones(len(points)), np.zeros(len(points))
        return ValueGradient(
            mean,
            std,
            self._read.pull_moments(points, lambda m, s: (one, none)),
            self._read.pull_moments(points, lambda m, s: (none, one)),
        )

    def draw(self, seed: int) -> SphericalBelief:
        """Return the function of one weight draw; its std is zero."""
        e = np.random.default_rng(seed).standard_normal(len(self.prior))
        shrunk = (1.0 - np.sqrt(1.0 - self.gains)) * (self.directions @ e)
        moved = self.scale * self.prior * (e - shrunk @ self.directions)
        return replace(self, weights=self.weights + moved, scale=0.0)

    def left_out(self, X: npt.ArrayLike, y: npt.ArrayLike, noise: npt.ArrayLike) -> FloatArray:
        """Return the log density (n,) of each value given the others.

        With D the variances of the values about the function and S that of the function, after all
        observations, K^-1 y = (y - mean) / D and (K^-1)_ii = (1 - S_ii / D_i) / D_i.
        """
        points, unit = self.check_points(X), self.units.y_scale
        variances = np.square(np.hypot(self.noise, np.asarray(noise)) / unit) + np.zeros(
            len(points)
        )
        gaps = (np.asarray(y, dtype=np.float64) - self.mean(points)) / unit
        known = np.square(self.std(points) / unit) / variances
        precisions = np.maximum(1.0 - known, LEAST_LEFT) / variances
        return log_densities(gaps / variances, precisions, unit)

    def posterior(self, members: bool = False) -> SphericalPosterior:
        """Return mean and std as functions of the projected point."""
        if members:
            raise UnsupportedError(
                "a spherical_linear belief must have members for this; it has draws; choose "
                "ts, or empirical_ei with n_draws."
            )
        return self._read

    @cached_property
    def _read(self) -> SphericalPosterior:
        units = self.units
        weights = units.y_scale * self.weights
        weights[-1] += units.y_center
        root = np.sqrt(self.gains)[:, None] * self.directions * self.prior
        if self.scale == 0.0:
            root = root[:0]
        return SphericalPosterior(
            np.zeros(self.n_inputs),
            self.rate,
            weights,
            root,
            slope_variance=float(self.prior[0] ** 2),
            level_variance=float(self.prior[-1] ** 2),
            reach=self.scale * units.y_scale,
        )

    def scaled(self, factor: float) -> SphericalBelief:
        """Return this belief with its std multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            "rate": self.rate,
            "weights": self.weights,
            "prior": self.prior,
            "directions": self.directions,
            "gains": self.gains,
            "noise": np.array(self.noise),
            "scale": np.array(self.scale),
            **standardization_arrays(self.units),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> SphericalBelief:
        """Make the belief that `to_arrays` described."""
        p, m = arrays["rate"].size + 2, arrays["gains"].size
        shapes: dict[str, tuple[int, ...]] = {"rate": (p - 2,), "weights": (p,), "prior": (p,)}
        shapes |= {"directions": (m, p), "gains": (m,)}
        wrong = [name for name, shape in shapes.items() if arrays[name].shape != shape]
        gains = arrays["gains"]
        if wrong or (gains < 0.0).any() or (gains > 1.0).any():
            raise ValueError(f"arrays of wrong shape: {wrong}, or gains beyond 0 to 1")
        return cls(
            arrays["rate"],
            arrays["weights"],
            arrays["prior"],
            arrays["directions"],
            gains,
            standardization_of(arrays),
            float(arrays["noise"]),
            float(arrays["scale"]),
        )


def conditioned(
    scales: Scales, X: FloatArray, y: FloatArray, told: FloatArray, units: Standardization
) -> SphericalBelief:
    """Return the belief of known scales.

    Parameters
    ----------
    scales : Scales
    X, y : (n, d) and (n,) arrays
        Points in model coordinates, standardized values.
    told : (n,) array
        Known variances of the values.
    units : Standardization
    """
    deviations = np.sqrt(told + scales.noise)
    psi = scales.features(X) / deviations[:, None]
    left, singular, directions = svd(psi, full_matrices=False, check_finite=False)
    squares = np.square(singular)
    mean = directions.T @ (singular / (1.0 + squares) * (left.T @ (y / deviations)))
    return SphericalBelief(
        scales.rate,
        scales.roots * mean,
        scales.roots,
        directions,
        squares / (1.0 + squares),
        units,
        float(np.sqrt(scales.noise)) * units.y_scale,
    )
