r"""Gaussian and Cauchy priors of the weights of a network, layer by layer.

With a precision tau for each layer (1 / s^2, s the prior's scale), a weight has the energy

    gaussian   tau theta^2 / 2,
    cauchy     log(1 + tau theta^2).

Sums of many Gaussian weights tend to a Gaussian process; Cauchy weights are stable too, and keep
jumps however wide the network is. For a limit the scale of a layer that reads H units must fall
like H^-1/2, or H^-1 under Cauchy: `by_width` divides by that.

References
----------
Neal (1996), Gaussian and Cauchy priors, and their limits [Neal1996].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.bnn.layout import Layout
from nnbo_mip.surrogates.sampling.gibbs import draw_cauchy_precision, draw_precision

PRIORS = ("gaussian", "cauchy")


@dataclass(frozen=True, eq=False)
class WeightPrior:
    """The prior of all weights of a network.

    Parameters
    ----------
    layout : Layout
        Where the weights stand.
    kinds : tuple of str
        ``gaussian`` or ``cauchy``, one a layer.
    scales : tuple of float
        Scale of the prior, one a layer.
    by_width : bool
        Whether the scales of layers after the first are divided by the width they read, to the
        power 1/2 or 1; those of biases are not.
    """

    layout: Layout
    kinds: tuple[str, ...]
    scales: tuple[float, ...]
    by_width: bool = False

    @staticmethod
    def of(
        layout: Layout,
        kinds: str | tuple[str, ...],
        scales: float | tuple[float, ...],
        by_width: bool,
    ) -> WeightPrior:
        """Give every layer its own of what was said once for all."""
        count = len(layout.shapes)
        kinds = (kinds,) * count if isinstance(kinds, str) else kinds
        scales = scales if isinstance(scales, tuple) else (scales,) * count
        for name, given in (("prior", kinds), ("prior_scale", scales)):
            if len(given) != count:
                raise InputError(
                    f"{name} must be one for all or one for each of the {count} layers; got "
                    f"{given!r}; give {count}."
                )
        return WeightPrior(layout, kinds, scales, by_width)

    def precisions(self, n_chains: int) -> FloatArray:
        """Return the precisions (C, K), one a layer, that the scales name."""
        return np.tile(1.0 / np.square(np.array(self.scales, dtype=np.float64)), (n_chains, 1))

    def energy(self, theta: FloatArray, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return energies (C,) and gradients (C, P) at weights (C, P).

        Parameters
        ----------
        theta : (C, P) array
            Weights.
        tau : (C, K) array
            Precisions of the layers.
        """
        value, gradient = np.zeros(len(theta)), np.empty_like(theta)
        for column, (kind, part, factor) in enumerate(self._parts()):
            weights = theta[:, part]
            precision = tau[:, column // 2, None] * factor
            pull = precision * weights
            if kind == "gaussian":
                value += 0.5 * (pull * weights).sum(axis=1)
            else:
                squares = pull * weights
                value += np.log1p(squares).sum(axis=1)
                pull = 2.0 * pull / (1.0 + squares)
            gradient[:, part] = pull
        return value, gradient

    def draw(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return weights (N, P) of N networks from the prior."""
        theta = np.empty((n_draws, self.layout.size))
        tau = self.precisions(n_draws)
        for column, (kind, part, factor) in enumerate(self._parts()):
            shape = (n_draws, part.stop - part.start)
            unit = rng.standard_normal(shape) if kind == "gaussian" else rng.standard_cauchy(shape)
            theta[:, part] = unit / np.sqrt(tau[:, column // 2, None] * factor)
        return theta

    def draw_precisions(
        self, theta: FloatArray, tau: FloatArray, shape: float, rng: np.random.Generator
    ) -> FloatArray:
        """Return precisions (C, K) given the weights, by one step of Gibbs sampling.

        Each has a Gamma distribution of this shape before, with the mean that the scales name.
        """
        drawn = np.empty_like(tau)
        for layer, where in enumerate(self.layout.layers):
            factors = np.concatenate(
                [
                    np.full(part.stop - part.start, np.sqrt(factor))
                    for _, part, factor in self._parts()[2 * layer : 2 * layer + 2]
                ]
            )
            values = theta[:, where] * factors
            rate = shape * self.scales[layer] ** 2
            if self.kinds[layer] == "gaussian":
                squares = np.square(values).sum(axis=1)
                drawn[:, layer] = draw_precision(squares, values.shape[1], shape, rate, rng)
            else:
                drawn[:, layer] = draw_cauchy_precision(values, tau[:, layer], shape, rate, rng)
        return drawn

    def _parts(self) -> list[tuple[str, slice, float]]:
        """Return kind, place and factor of the precision of every group of weights."""
        parts = []
        for index, group in enumerate(self.layout.groups):
            layer, is_bias = divmod(index, 2)
            kind, width = self.kinds[layer], self.layout.shapes[layer][0]
            factor = 1.0
            if self.by_width and layer > 0 and not is_bias:
                factor = float(width if kind == "gaussian" else width**2)
            parts.append((kind, group, factor))
        return parts
