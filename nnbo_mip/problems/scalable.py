"""Functions of d variables: Levy, Rosenbrock, Perm and the G-function of the sources, Powell."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_finite
from nnbo_mip.core.errors import InputError
from nnbo_mip.problems.dimensions import check_dimension, cube
from nnbo_mip.problems.peaks import highest
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.sources import check_source, label

MAX_PERM = 64
"""Squares of d^d stay finite in float64."""

MAX_LISTED_OPTIMIZERS = 1024
"""Of the 2^(d-1) minima of the G-function."""


def levy(dimension: int = 2, source: str = "004") -> Problem:
    """Levy, ``w_i = 1 + (x_i - 1) / 4``.

    ``sin(pi w_1)^2 + sum_{i<d} (w_i - 1)^2 (1 + 10 sin(pi w_i + 1)^2)
    + (w_d - 1)^2 (1 + sin(2 pi w_d)^2)``.

    Parameters
    ----------
    dimension : int
        d, at least 1.
    source : {"004", "000"}
        Domain [-10, 10]^d or [-15, 10]^d.
    """
    d = check_dimension("levy", dimension)
    source = check_source("levy", source, ("004", "000"))
    lower, upper = (-10.0, 10.0) if source == "004" else (-15.0, 10.0)
    if d == 1:
        worst = highest(lambda x: _levy_first(x) + _levy_last(x), lower, upper)[1]
    else:
        first = highest(lambda x: _levy_first(x) + _levy_inner(x), lower, upper)[1]
        inner = highest(_levy_inner, lower, upper)[1]
        worst = first + (d - 2) * inner + highest(_levy_last, lower, upper)[1]
    return Problem(
        label("levy", dimension=d, source=source),
        cube(d, lower, upper),
        _levy,
        optimum=0.0,
        optimizers=np.ones((1, d)),
        worst=worst,
    )


def rosenbrock(dimension: int = 2, source: str = "004") -> Problem:
    """Rosenbrock: ``sum_{i<d} 100 (x_{i+1} - x_i^2)^2 + (x_i - 1)^2``.

    Parameters
    ----------
    dimension : int
        d, at least 2.
    source : {"004", "000", "002"}
        Domain [-5, 10]^d (004, 000) or [-2.048, 2.048]^d (002). From d = 3 on 004 scales by
        the value at (10, …, 10), the others by the largest value.
    """
    d = check_dimension("rosenbrock", dimension, least=2)
    source = check_source("rosenbrock", source, ("004", "000", "002"))
    lower, upper = (-2.048, 2.048) if source == "002" else (-5.0, 10.0)
    corner = np.full((1, d), upper)
    if source == "002":
        corner[:] = lower
    elif source == "000" or d == 2:
        corner[:, -1] = lower
    return Problem(
        label("rosenbrock", dimension=d, source=source),
        cube(d, lower, upper),
        _rosenbrock,
        optimum=0.0,
        optimizers=np.ones((1, d)),
        worst=float(_rosenbrock(corner)[0]),
    )


def perm(dimension: int = 2, beta: float = 0.5) -> Problem:
    """Perm on [-d, d]^d: ``sum_i (sum_j (j^i + beta) ((x_j / j)^i - 1))^2``.

    (1, 2, …, d) is a minimum; with d = 2 there is a second one, in closed form.

    Parameters
    ----------
    dimension : int
        d, from 1 to 64.
    beta : float
        At least 0.5, where the largest value is at (-d, …, -d).
    """
    d = check_dimension("perm", dimension, most=MAX_PERM)
    beta = as_finite(beta, "beta of 'perm'")
    if beta < 0.5:
        raise InputError(f"beta of 'perm' must be >= 0.5; got {beta}; raise it.")
    optimizers = [np.arange(1.0, d + 1.0)]
    if d == 2:
        shift = 4.0 / ((2.0 + beta) ** 2 + (4.0 + beta) * (1.0 + beta))
        optimizers.append(np.array([1.0 + shift * (2.0 + beta), 2.0 - 2.0 * shift * (1.0 + beta)]))
    function = partial(_perm, beta=beta)
    return Problem(
        label("perm", dimension=d, beta=beta),
        cube(d, -d, d),
        function,
        optimum=0.0,
        optimizers=np.stack(optimizers),
        worst=float(function(np.full((1, d), -float(d)))[0]),
    )


def g_function(dimension: int = 5) -> Problem:
    """G-function on [0, 1]^d: ``prod_i (|4 x_i - 2| + a_i) / (1 + a_i)``, ``a_i = (i - 2) / 2``.

    The first factor is negative around x_1 = 1/2, so the minimum is there and the other
    variables are 0 or 1.

    Parameters
    ----------
    dimension : int
        d, at least 1; up to 1024 of the 2^(d-1) minima are listed.
    """
    d = check_dimension("g_function", dimension)
    ends = itertools.product((0.0, 1.0), repeat=d - 1)
    listed = itertools.islice(ends, MAX_LISTED_OPTIMIZERS)
    optimizers = np.array([(0.5, *rest) for rest in listed])
    corner = np.zeros((1, d))
    return Problem(
        label("g_function", dimension=d),
        cube(d, 0.0, 1.0),
        _g_function,
        optimum=float(_g_function(optimizers[:1])[0]),
        optimizers=optimizers,
        worst=float(_g_function(corner)[0]),
    )


def powell(dimension: int = 4) -> Problem:
    """Powell on [-4, 5]^d, a sum over groups (a, b, c, e) of four variables.

    ``(a + 10 b)^2 + 5 (c - e)^2 + (b - 2 c)^4 + 10 (a - e)^4``, convex, so that the largest value
    is at a corner.

    Parameters
    ----------
    dimension : int
        d, a multiple of 4.
    """
    d = check_dimension("powell", dimension, least=4)
    if d % 4:
        raise InputError(f"the dimension of 'powell' must be a multiple of 4; got {d}; choose one.")
    corner = np.tile([-4.0, -4.0, 5.0, 5.0], d // 4)
    return Problem(
        label("powell", dimension=d),
        cube(d, -4.0, 5.0),
        _powell,
        optimum=0.0,
        optimizers=np.zeros((1, d)),
        worst=float(_powell(corner[None])[0]),
    )


def _levy(X: FloatArray) -> FloatArray:
    total: FloatArray = _levy_inner(X[:, :-1]).sum(axis=1)
    return _levy_first(X[:, 0]) + total + _levy_last(X[:, -1])


def _levy_first(x: FloatArray) -> FloatArray:
    return np.sin(np.pi * (1.0 + (x - 1.0) / 4.0)) ** 2


def _levy_inner(x: FloatArray) -> FloatArray:
    w = 1.0 + (x - 1.0) / 4.0
    return (w - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w + 1.0) ** 2)


def _levy_last(x: FloatArray) -> FloatArray:
    w = 1.0 + (x - 1.0) / 4.0
    return (w - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w) ** 2)


def _rosenbrock(X: FloatArray) -> FloatArray:
    valley = 100.0 * (X[:, 1:] - X[:, :-1] ** 2) ** 2
    total: FloatArray = (valley + (X[:, :-1] - 1.0) ** 2).sum(axis=1)
    return total


def _perm(X: FloatArray, beta: float) -> FloatArray:
    j = np.arange(1.0, X.shape[1] + 1.0)
    total = np.zeros(len(X))
    for i in range(1, X.shape[1] + 1):
        total += (((X / j) ** i - 1.0) @ (j**i + beta)) ** 2
    return total


def _powell(X: FloatArray) -> FloatArray:
    a, b, c, e = (X[:, place::4] for place in range(4))
    terms = (a + 10.0 * b) ** 2 + 5.0 * (c - e) ** 2 + (b - 2.0 * c) ** 4 + 10.0 * (a - e) ** 4
    total: FloatArray = terms.sum(axis=1)
    return total


def _g_function(X: FloatArray) -> FloatArray:
    a = 0.5 * (np.arange(1.0, X.shape[1] + 1.0) - 2.0)
    product: FloatArray = ((np.abs(4.0 * X - 2.0) + a) / (1.0 + a)).prod(axis=1)
    return product
