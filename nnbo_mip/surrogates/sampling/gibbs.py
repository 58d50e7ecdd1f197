"""Gibbs sampling: every coordinate in turn from its distribution given the others.

References
----------
Geman and Geman (1984), Gibbs sampling [GemanGeman1984].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nnbo_mip.core.arrays import FloatArray

Conditional = Callable[[FloatArray, np.random.Generator], FloatArray]
"""The state (C, P) to new values (C,) of one coordinate, drawn given the others."""


def gibbs(
    conditionals: Sequence[Conditional],
    start: FloatArray,
    n_draws: int,
    rng: np.random.Generator,
    burn_in: int = 0,
) -> FloatArray:
    """Return draws (n_draws, C, P).

    Parameters
    ----------
    conditionals : sequence of callables
        One a coordinate; each sees the new values of those before it.
    start : (C, P) array
        First positions.
    n_draws : int
        Sweeps that are returned.
    rng : numpy.random.Generator
        Source of the draws.
    burn_in : int
        Sweeps before the first draw.
    """
    position = start.copy()
    draws = np.empty((n_draws, *start.shape))
    for index in range(-burn_in, n_draws):
        for coordinate, conditional in enumerate(conditionals):
            position[:, coordinate] = conditional(position, rng)
        if index >= 0:
            draws[index] = position
    return draws


def draw_precision(
    squares: FloatArray, count: int, shape: float, rate: float, rng: np.random.Generator
) -> FloatArray:
    """Return a precision (C,) given normal values, from its Gamma distribution.

    With x_i ~ N(0, 1 / tau), i = 1 … count, and tau ~ Gamma(shape, rate) before, it is
    Gamma(shape + count / 2, rate + sum_i x_i^2 / 2).

    Parameters
    ----------
    squares : (C,) array
        sum_i x_i^2.
    count : int
        How many values.
    shape, rate : float
        Of the Gamma distribution before the values are known.
    rng : numpy.random.Generator
        Source of the draw.
    """
    return np.asarray(rng.gamma(shape + 0.5 * count, 1.0 / (rate + 0.5 * squares)))


def draw_cauchy_precision(
    values: FloatArray, tau: FloatArray, shape: float, rate: float, rng: np.random.Generator
) -> FloatArray:
    """Return the precision tau = 1 / s^2 (C,) of Cauchy values of scale s.

    A Cauchy value is x_i ~ N(0, 1 / (tau lambda_i)) with lambda_i ~ Gamma(1/2, 1/2). Given x_i
    and tau, lambda_i is Gamma(1, (1 + tau x_i^2) / 2), that is exponential; given lambda the
    precision is drawn as for normal values sqrt(lambda_i) x_i. The lambda_i are forgotten.

    Parameters
    ----------
    values : (C, count) array
        The x_i.
    tau : (C,) array
        The precision so far.
    shape, rate : float
        Of the Gamma distribution of tau.
    rng : numpy.random.Generator
        Source of the draws.
    """
    squares = np.square(values)
    mixing = rng.exponential(2.0 / (1.0 + tau[:, None] * squares))
    return draw_precision((mixing * squares).sum(axis=1), values.shape[1], shape, rate, rng)
