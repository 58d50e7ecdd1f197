r"""Densities of networks that the no-U-turn sampler draws from.

`ScaledPosterior`: with z_j ~ N(0, 1) for every weight and bias, a standard deviation s_g for
every group (weights and biases of each layer) and a noise s_n, the weights are theta_j = s_g z_j
and

    v_i ~ N(f_theta(u_i), s_n^2),   s_n ~ Gamma(a, rate b),
    s_g known, or s_g ~ Gamma(a', rate b').

Positions are z and the logarithms of what is positive, with energy

    z.z / 2 + S(theta) / (2 s_n^2) + n log s_n - sum_s (shape log s - rate s),

where the sum has s_n and every s_g that is not known; log s stands for the factor that comes with
the change of variables.

`CollapsedPosterior`: theta_j = s z_j with s known and s_n^2 ~ InvGamma(a, b), which integrates
out,

    z.z / 2 + (a + n/2) log(b + S(theta) / 2),   s_n^2 | theta ~ InvGamma(a + n/2, b + S / 2).
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.bnn.data import NetworkData

FIRST_NOISE = 0.1
"""Noise, in standard deviations of y, under which chains descend before they begin."""

DESCENT = 200
"""Iterations of that descent."""


@dataclass(frozen=True, eq=False)
class NetworkPosterior(abc.ABC):
    """An energy over z, the standardized weights, and perhaps more coordinates after them.

    Parameters
    ----------
    data : NetworkData
        Observations and networks.
    prior_scale : float
        Standard deviation of the weights, or where its chains begin.
    """

    data: NetworkData
    prior_scale: float

    @abc.abstractmethod
    def __call__(self, position: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return energies (C,) and gradients; see `Energy`."""

    @abc.abstractmethod
    def weights(self, draws: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return weights (N, C, P) and noise standard deviations (N, C) of draws (N, C, …)."""

    @property
    @abc.abstractmethod
    def first_coordinates(self) -> FloatArray:
        """What stands after z where a chain begins."""

    def start(self, rng: np.random.Generator) -> FloatArray:
        """Return where a chain begins: below a random point, with the other coordinates held.

        Where the noise is a coordinate, descent in all of them would follow it to zero.
        """
        held = self.first_coordinates
        size = self.data.layout.size
        first = rng.standard_normal(size) / max(self.prior_scale, 1.0)

        def energy(z: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self(np.append(z, held)[None])
            return float(value[0]), gradient[0, :size]

        found = minimize(energy, first, jac=True, method="L-BFGS-B", options={"maxiter": DESCENT})
        return np.append(found.x, held)


@dataclass(frozen=True, eq=False)
class ScaledPosterior(NetworkPosterior):
    """The energy above; positions (C, P + 1), or (C, P + G + 1) with G groups.

    Parameters
    ----------
    data, prior_scale
        As in `NetworkPosterior`.
    noise_prior : (shape, rate)
        Of the noise standard deviation.
    scale_prior : (shape, rate), optional
        Of every s_g, if those are sampled.
    """

    noise_prior: tuple[float, float]
    scale_prior: tuple[float, float] | None = None

    def __call__(self, position: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return energies (C,) and gradients."""
        size, n = self.data.layout.size, self.data.n
        z = position[:, :size]
        scales, noise = self._scales(position), np.exp(position[:, -1])
        misfit, slope = self.data.misfit(scales * z)
        slope *= scales / (2.0 * noise * noise)[:, None]
        gradient = np.empty_like(position)
        gradient[:, :size] = z + slope
        ratio = misfit / (noise * noise)
        value = 0.5 * np.einsum("cp,cp->c", z, z) + 0.5 * ratio + n * position[:, -1]
        gradient[:, -1] = n - ratio
        if self.scale_prior is not None:
            for column, group in enumerate(self.data.layout.groups, start=size):
                gradient[:, column] = np.einsum("cp,cp->c", slope[:, group], z[:, group])
                value += _add_gamma(position[:, column], self.scale_prior, gradient[:, column])
        value += _add_gamma(position[:, -1], self.noise_prior, gradient[:, -1])
        return value, gradient

    def weights(self, draws: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the weights and the noise, which is one of the coordinates."""
        flat = draws.reshape(-1, draws.shape[-1])
        theta = self._scales(flat) * flat[:, : self.data.layout.size]
        return theta.reshape(*draws.shape[:2], -1), np.exp(draws[:, :, -1])

    @property
    def first_coordinates(self) -> FloatArray:
        """The logarithms of the s_g that are sampled and of s_n."""
        groups = len(self.data.layout.groups) if self.scale_prior is not None else 0
        return np.array([*[np.log(self.prior_scale)] * groups, np.log(FIRST_NOISE)])

    def _scales(self, position: FloatArray) -> FloatArray:
        """Return the standard deviation of every weight, (C, P) or (1, 1)."""
        size = self.data.layout.size
        if self.scale_prior is None:
            return np.full((1, 1), self.prior_scale)
        scales = np.exp(position[:, size:-1])
        widths = [group.stop - group.start for group in self.data.layout.groups]
        return np.repeat(scales, widths, axis=1)


@dataclass(frozen=True, eq=False)
class CollapsedPosterior(NetworkPosterior):
    """The energy above; positions (C, P).

    Parameters
    ----------
    data, prior_scale
        As in `NetworkPosterior`.
    variance_prior : (shape, scale)
        Of the inverse Gamma distribution of the noise variance.
    """

    variance_prior: tuple[float, float]

    def __call__(self, position: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return energies (C,) and gradients."""
        shape, scale = self._given()
        misfit, slope = self.data.misfit(self.prior_scale * position)
        rest = scale + 0.5 * misfit
        slope *= (0.5 * self.prior_scale * shape / rest)[:, None]
        value = 0.5 * np.einsum("cp,cp->c", position, position) + shape * np.log(rest)
        return value, position + slope

    def weights(self, draws: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the weights, and the noise drawn given them."""
        theta = self.prior_scale * draws
        misfit, _ = self.data.misfit(theta.reshape(-1, theta.shape[-1]))
        shape, scale = self._given()
        precision = rng.gamma(shape, 1.0 / (scale + 0.5 * misfit))
        return theta, np.asarray(1.0 / np.sqrt(precision)).reshape(draws.shape[:2])

    @property
    def first_coordinates(self) -> FloatArray:
        """Nothing: the noise is no coordinate."""
        return np.empty(0)

    def _given(self) -> tuple[float, float]:
        """Return shape, given the data, and scale, given none, of the noise variance."""
        shape, scale = self.variance_prior
        return shape + 0.5 * self.data.n, scale


def _add_gamma(
    logarithm: FloatArray, prior: tuple[float, float], gradient: FloatArray
) -> FloatArray:
    """Return the energy (C,) of the logarithm of a Gamma value; add its slope in place."""
    shape, rate = prior
    value = rate * np.exp(logarithm)
    gradient += value - shape
    return np.asarray(value - shape * logarithm)
