"""Steps of Gibbs sampling: precisions drawn from their distributions given the values.

References
----------
Geman and Geman (1984), Gibbs sampling [GemanGeman1984].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray


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
