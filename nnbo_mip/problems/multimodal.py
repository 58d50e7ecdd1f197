"""Functions of d variables with many local minima, as the literature has them."""

from __future__ import annotations

from functools import partial

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_finite
from nnbo_mip.core.errors import InputError
from nnbo_mip.problems.dimensions import check_dimension, cube
from nnbo_mip.problems.peaks import highest
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.sources import label

ACKLEY = 32.768
"""Half of a side of Ackley's usual box."""

STEEPNESS = 10
"""Exponent m of Michalewicz."""

MAX_MICHALEWICZ = 100
"""Dimension up to which every peak of a coordinate is resolved."""


def ackley(dimension: int = 2, lower: float = -ACKLEY, upper: float = ACKLEY) -> Problem:
    """Ackley on a box, [-32.768, 32.768]^d unless said otherwise.

    ``-20 exp(-0.2 sqrt(mean x_i^2)) - exp(mean cos(2 pi x_i)) + 20 + e``. Both terms are
    concave in their means, so at the maximum all ``|x_i|`` are the same.

    Parameters
    ----------
    dimension : int
        d, at least 1.
    lower, upper : float
        Ends of every side, with 0 between them; -5 and 10 are usual with many dimensions.
    """
    d = check_dimension("ackley", dimension)
    low, high = as_finite(lower, "lower of 'ackley'"), as_finite(upper, "upper of 'ackley'")
    if not low <= 0.0 <= high or low == high:
        raise InputError(
            f"the sides of 'ackley' must hold its minimizer 0; got [{low:g}, {high:g}]; widen them."
        )
    ends = {} if (low, high) == (-ACKLEY, ACKLEY) else {"lower": low, "upper": high}
    return Problem(
        label("ackley", dimension=d, **ends),
        cube(d, low, high),
        _ackley,
        optimum=0.0,
        optimizers=np.zeros((1, d)),
        worst=highest(lambda x: _ackley(x[:, None]), 0.0, max(-low, high))[1],
    )


def griewank(dimension: int = 2) -> Problem:
    """Griewank on [-600, 600]^d: ``sum x_i^2 / 4000 - prod cos(x_i / sqrt(i)) + 1``.

    `worst` is the bound ``90 d + 2``, which is not attained.

    Parameters
    ----------
    dimension : int
        d, at least 1.
    """
    d = check_dimension("griewank", dimension)
    return Problem(
        label("griewank", dimension=d),
        cube(d, -600.0, 600.0),
        _griewank,
        optimum=0.0,
        optimizers=np.zeros((1, d)),
        worst=90.0 * d + 2.0,
    )


def michalewicz(dimension: int = 2) -> Problem:
    """Michalewicz on [0, pi]^d: ``-sum_i sin(x_i) sin(i x_i^2 / pi)^20``.

    Parameters
    ----------
    dimension : int
        d, from 1 to 100.
    """
    d = check_dimension("michalewicz", dimension, most=MAX_MICHALEWICZ)
    peaks = [highest(partial(_michalewicz_term, i=i), 0.0, np.pi) for i in range(1, d + 1)]
    return Problem(
        label("michalewicz", dimension=d),
        cube(d, 0.0, np.pi),
        _michalewicz,
        optimum=-sum(height for _, height in peaks),
        optimizers=[[place for place, _ in peaks]],
        worst=0.0,  # at 0: no term is negative
    )


def styblinski_tang(dimension: int = 2) -> Problem:
    """Styblinski-Tang on [-5, 5]^d: ``sum (x_i^4 - 16 x_i^2 + 5 x_i) / 2``.

    Parameters
    ----------
    dimension : int
        d, at least 1.
    """
    d = check_dimension("styblinski_tang", dimension)
    least = float(np.roots([4.0, 0.0, -32.0, 5.0]).real.min())
    optimizer = np.full((1, d), least)
    return Problem(
        label("styblinski_tang", dimension=d),
        cube(d, -5.0, 5.0),
        _styblinski_tang,
        optimum=float(_styblinski_tang(optimizer)[0]),
        optimizers=optimizer,
        worst=125.0 * d,  # at (5, …, 5)
    )


def _ackley(X: FloatArray) -> FloatArray:
    radius = np.sqrt((X**2).mean(axis=1))
    waves = np.exp(np.cos(2.0 * np.pi * X).mean(axis=1))
    total: FloatArray = -20.0 * np.expm1(-0.2 * radius) + (np.exp(1.0) - waves)
    return total


def _griewank(X: FloatArray) -> FloatArray:
    waves = np.cos(X / np.sqrt(np.arange(1.0, X.shape[1] + 1.0))).prod(axis=1)
    total: FloatArray = (X**2).sum(axis=1) / 4000.0 - waves + 1.0
    return total


def _michalewicz(X: FloatArray) -> FloatArray:
    i = np.arange(1.0, X.shape[1] + 1.0)
    total: FloatArray = _michalewicz_term(X, i).sum(axis=1)
    return -total


def _michalewicz_term(x: FloatArray, i: float | FloatArray) -> FloatArray:
    height: FloatArray = np.sin(x) * np.sin(i * x**2 / np.pi) ** (2 * STEEPNESS)
    return height


def _styblinski_tang(X: FloatArray) -> FloatArray:
    total: FloatArray = 0.5 * (X**4 - 16.0 * X**2 + 5.0 * X).sum(axis=1)
    return total
