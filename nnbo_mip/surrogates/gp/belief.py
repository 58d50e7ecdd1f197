r"""The posterior of a Gaussian process, from plain arrays.

In standardized units, with observations (u_i, v_i), the kernel k, the variance D on the
diagonal and L L^T = K + D I, K_ij = k(u_i, u_j),

    mean   f(u) = k(u)^T w,                 w = (K + D I)^-1 v
    std    s(u) = sqrt(k(u, u) - |L^-1 k(u)|^2),          k(u)_i = k(u, u_i)
    grad   df = sum_i w_i dk(u, u_i),       ds = -(1 / s) sum_i c_i dk(u, u_i),
           c = (K + D I)^-1 k(u).

A draw is a sampled function of the prior, moved onto the observations: with m random waves

    g(u) = sqrt(a / m) sum_j (p_j cos(o_j . u) + q_j sin(o_j . u)),   p_j, q_j ~ N(0, 1),

o_j from the kernel's spectrum and e_i ~ N(0, D),

    draw(u) = f(u) + scale [ g(u) - k(u)^T (K + D I)^-1 (g(u_i) + e_i)_i ].

Over the waves and e, its mean and covariance are those of the posterior exactly; for given
waves it is one smooth function. Only its shape departs from a Gaussian, by 1 / m.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dpotri

from nnbo_mip.core.arrays import Array, FloatArray, blocks
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient, check_scale
from nnbo_mip.surrogates.base.left_out import LeavesOut, log_densities
from nnbo_mip.surrogates.base.observations import Standardization
from nnbo_mip.surrogates.base.storage import standardization_arrays, standardization_of
from nnbo_mip.surrogates.gp.kernels import FORMS, Kernel

N_WAVES = 1024


def gp_capabilities(noisy: bool) -> frozenset[Capability]:
    """Return what the belief of a Gaussian process offers."""
    offered = {Capability.MEAN, Capability.STD, Capability.GRADIENT, Capability.DRAWS}
    return frozenset(offered | ({Capability.NOISE} if noisy else set()))


@dataclass(frozen=True, eq=False)
class Waves:
    """A sum of random waves, g.

    Parameters
    ----------
    frequencies : (m, d) array
        o_j.
    cosines, sines : (m,) arrays
        Their factors, sqrt(a / m) and the outside scale included.
    """

    frequencies: FloatArray
    cosines: FloatArray
    sines: FloatArray

    def evaluate(self, u: FloatArray) -> FloatArray:
        """Return g (n,) at points (n, d)."""
        phases = u @ self.frequencies.T
        return np.asarray(np.cos(phases) @ self.cosines + np.sin(phases) @ self.sines)

    def gradient(self, u: FloatArray) -> FloatArray:
        """Return the gradient (n, d) of g."""
        phases = u @ self.frequencies.T
        slopes = np.cos(phases) * self.sines - np.sin(phases) * self.cosines
        return np.asarray(slopes @ self.frequencies)


@dataclass(frozen=True, eq=False)
class GpBelief(LeavesOut, Belief):
    """A Gaussian process after observations, or one function drawn from it.

    Parameters
    ----------
    kernel : Kernel
        In standardized units.
    points : (n, d) array
        Observed points, standardized.
    factor : (n, n) array
        L, lower triangular.
    weights : (n,) array
        w.
    units : Standardization
        From the user's units to standardized ones.
    diagonal : float or (n,) array
        D, noise included.
    noise : float
        Standard deviation of an observation about the function, in units of y.
    scale : float
        Multiplier of the uncertainty.
    waves : Waves, optional
        Makes this a draw: they are added to the mean, and the std is zero.
    """

    kernel: Kernel
    points: FloatArray
    factor: FloatArray
    weights: FloatArray
    units: Standardization
    diagonal: float | FloatArray
    noise: float = 0.0
    scale: float = 1.0
    waves: Waves | None = None

    family = "gp"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.points.shape[1])

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this belief offers."""
        return gp_capabilities(self.noise > 0.0)

    @property
    def length_scales(self) -> FloatArray:
        """Those of the kernel (d,), in model coordinates."""
        return np.broadcast_to(self.kernel.length_scale, self.n_inputs) * self.units.x_scale

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Posterior mean (n,), or the drawn function."""
        return self._join(self._mean(u) for u in self._blocks(X))

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Posterior std (n,) of the function, times the scale; the noise is not in it."""
        return self._join(self._std(u)[0] for u in self._blocks(X))

    def noise_std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the standard deviation (n,) of an observation from the function."""
        return np.full(len(self.check_points(X)), self.noise)

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean, std and their gradients; 0 is taken for the slope of a std of zero."""
        parts = [self._differentiate(u) for u in self._blocks(X)]
        mean, std, mean_gradient, std_gradient = (
            np.concatenate(group) for group in zip(*parts, strict=True)
        )
        return ValueGradient(mean, std, mean_gradient, std_gradient)

    def value_weights(self, X: npt.ArrayLike) -> FloatArray:
        """Return by how much the mean at points (n, d) moves with each value learned from: (n, m).

        They are (K + D I)^-1 k(u); the mean of all values has what they leave of 1.
        """
        cross = np.concatenate([self.kernel(u, self.points) for u in self._blocks(X)])
        return self._solve(cross.T).T

    def draw(self, seed: int) -> GpBelief:
        """Return one function of the posterior, spread by the outside scale; its std is zero."""
        if self.waves is not None:
            return self
        rng = np.random.default_rng(seed)
        frequencies = self.kernel.frequencies(N_WAVES, rng)
        size = self.scale * np.sqrt(self.kernel.amplitude / N_WAVES)
        cosines, sines = size * rng.standard_normal((2, N_WAVES))
        waves = Waves(frequencies, cosines, sines)
        errors = self.scale * np.sqrt(self.diagonal) * rng.standard_normal(len(self.points))
        correction = self._solve(waves.evaluate(self.points) + errors)
        return replace(self, weights=self.weights - correction, waves=waves)

    def left_out(self, X: npt.ArrayLike, y: npt.ArrayLike, noise: npt.ArrayLike) -> FloatArray:
        """Return the log density (n,) of each value given the others."""
        precisions = dpotri(self.factor, lower=1)[0].diagonal()
        return log_densities(self.weights, precisions, self.units.y_scale)

    def posterior(self, members: bool = False) -> ProcessPosterior:
        """Return the posterior of one kernel of all inputs."""
        if self.waves is not None:
            raise UnsupportedError(
                "a draw of a Gaussian process is a sum of many waves and has no proven bounds; "
                "choose another surrogate for exact Thompson sampling, or a heuristic maximizer."
            )
        kernel, units = self.kernel, self.units
        if kernel.groups:
            raise UnsupportedError(
                "a Gaussian process must have one kernel of all inputs to be maximized exactly; "
                f"this one is a sum over {len(kernel.groups)} groups; drop the groups, or choose "
                "a heuristic maximizer."
            )
        return ProcessPosterior(
            self.points,
            self.factor,
            self.weights,
            kernel.length_scale,
            units.x_center,
            units.x_scale,
            form=kernel.form,
            nu=kernel.nu,
            mixture=kernel.mixture,
            amplitude=kernel.amplitude,
            y_center=units.y_center,
            y_scale=units.y_scale,
            reach=self._factor,
        )

    def scaled(self, factor: float) -> GpBelief:
        """Return this belief with its std multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        arrays: dict[str, Array] = {
            "kernel": np.array(self.kernel.form),
            "length_scale": self.kernel.length_scale,
            "amplitude": np.array(self.kernel.amplitude),
            "nu": np.array(self.kernel.nu),
            "mixture": np.array(self.kernel.mixture),
            "points": self.points,
            "factor": self.factor,
            "weights": self.weights,
            "diagonal": np.array(self.diagonal),
            "noise": np.array(self.noise),
            "scale": np.array(self.scale),
            **standardization_arrays(self.units),
        }
        if self.kernel.groups:
            arrays["groups"] = _labels(self.kernel.groups, self.n_inputs)
        if self.waves is not None:
            arrays["frequencies"] = self.waves.frequencies
            arrays["cosines"], arrays["sines"] = self.waves.cosines, self.waves.sines
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> GpBelief:
        """Make the belief that `to_arrays` described."""
        n, d = arrays["points"].shape
        shapes = {"length_scale": (d,), "factor": (n, n), "weights": (n,)}
        shapes |= {"x_center": (d,), "x_scale": (d,)}
        waves = None
        if "frequencies" in arrays:
            m = len(arrays["frequencies"])
            shapes |= {"frequencies": (m, d), "cosines": (m,), "sines": (m,)}
            waves = Waves(arrays["frequencies"], arrays["cosines"], arrays["sines"])
        groups: tuple[tuple[int, ...], ...] = ()
        if "groups" in arrays:
            labels = arrays["groups"]
            shapes["groups"] = (d,)
            groups = tuple(tuple(np.flatnonzero(labels == g).tolist()) for g in np.unique(labels))
        wrong = [name for name, shape in shapes.items() if arrays[name].shape != shape]
        form = str(arrays["kernel"])
        if wrong or form not in FORMS:
            raise ValueError(f"kernel {form:.20}, arrays of wrong shape: {wrong}")
        amplitude, nu, mixture = (float(arrays[name]) for name in ("amplitude", "nu", "mixture"))
        kernel = Kernel(form, arrays["length_scale"], amplitude, nu, mixture, groups)
        return cls(
            kernel,
            arrays["points"],
            arrays["factor"],
            arrays["weights"],
            standardization_of(arrays),
            arrays["diagonal"] if arrays["diagonal"].ndim else float(arrays["diagonal"]),
            float(arrays["noise"]),
            float(arrays["scale"]),
            waves,
        )

    # -- parts, in standardized units ---------------------------------------------------

    def _blocks(self, X: npt.ArrayLike) -> Iterator[FloatArray]:
        u = self.units.inward(self.check_points(X))
        waves = 0 if self.waves is None else len(self.waves.frequencies)
        for rows in blocks(len(u), 2 * max(len(self.points), waves)):
            yield u[rows]

    @staticmethod
    def _join(parts: Iterator[FloatArray]) -> FloatArray:
        return np.concatenate(list(parts))

    def _solve(self, values: FloatArray) -> FloatArray:
        """Return (K + D I)^-1 values."""
        return np.asarray(cho_solve((self.factor, True), values, check_finite=False))

    def _mean(self, u: FloatArray) -> FloatArray:
        value = self.kernel(u, self.points) @ self.weights
        if self.waves is not None:
            value = value + self.waves.evaluate(u)
        return np.asarray(self.units.y_center + self.units.y_scale * value)

    def _std(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the std (n,) in units of y, and L^-1 k(u), (number of points, n)."""
        k = self.kernel(u, self.points)
        whitened = solve_triangular(self.factor, k.T, lower=True, check_finite=False)
        if self.waves is not None:
            return np.zeros(len(u)), whitened
        variance = self.kernel.amplitude - np.square(whitened).sum(axis=0)
        return self._factor * np.sqrt(np.maximum(variance, 0.0)), whitened

    @property
    def _factor(self) -> float:
        return self.scale * self.units.y_scale

    def _differentiate(
        self, u: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        slope = self.kernel.pull(u, self.points, self.weights)
        if self.waves is not None:
            slope = slope + self.waves.gradient(u)
        std, whitened = self._std(u)
        solved = solve_triangular(self.factor, whitened, trans="T", lower=True, check_finite=False)
        root = np.where(std > 0.0, std / self._factor, np.inf)
        std_slope = -self.kernel.pull(u, self.points, solved.T) / root[:, None]
        return (
            self._mean(u),
            std,
            self.units.y_scale * slope / self.units.x_scale,
            self._factor * std_slope / self.units.x_scale,
        )


def _labels(groups: tuple[tuple[int, ...], ...], d: int) -> npt.NDArray[np.int64]:
    """Return the number of the group (d,) of each input."""
    labels = np.empty(d, dtype=np.int64)
    for index, columns in enumerate(groups):
        labels[list(columns)] = index
    return labels
