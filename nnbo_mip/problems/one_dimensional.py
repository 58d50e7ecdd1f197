"""Functions of one variable.

References
----------
Forrester et al. (2008), Forrester's function [Forrester2008].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.problems.problem import Problem
from nnbo_mip.space.space import Space


def forrester() -> Problem:
    """Forrester: ``(6x - 2)^2 sin(12x - 4)`` on [0, 1]."""
    return Problem(
        "forrester",
        Space.box([0.0], [1.0]),
        _forrester,
        optimum=-6.020740055767083,
        optimizers=[[0.7572487578418559]],
        worst=15.829731945974108,  # at 1
    )


def sinone() -> Problem:
    """SinOne: ``s(x) = 0.5 sin(13x) sin(27x) + 0.5`` on [0, 1]."""
    return Problem(
        "sinone",
        Space.box([0.0], [1.0]),
        _sinone,
        optimum=SINONE_LEAST,
        optimizers=[[SINONE_MINIMIZER]],
        worst=SINONE_MOST,
    )


def sine_cosine() -> Problem:
    """Sine and cosine of source 002: ``sin(7x) + cos(17x)`` on [-1, 1]."""
    return Problem(
        "sine_cosine",
        Space.box([-1.0], [1.0]),
        _sine_cosine,
        optimum=-1.9672852514210336,
        optimizers=[[-0.1905020325885861]],
        worst=1.909793694455164,  # at -0.7298
    )


def sine_parabola() -> Problem:
    """Sine on a parabola, for source 003: ``sin(3x) + x^2 - 0.7x`` on [-1, 2]."""
    return Problem(
        "sine_parabola",
        Space.box([-1.0], [2.0]),
        _sine_parabola,
        optimum=-0.5003596276665710,
        optimizers=[[-0.3593944986005533]],
        worst=2.320584501801074,  # at 2
    )


SINONE_LEAST, SINONE_MOST = 0.04292634243364353, 0.9755991438115748
SINONE_MINIMIZER = 0.6330131650828729
"""Least and largest value of `wave`, and where it is least; the largest is at 0.8675."""


def wave(x: FloatArray) -> FloatArray:
    """Return ``0.5 sin(13x) sin(27x) + 0.5``, of any shape."""
    return 0.5 * np.sin(13.0 * x) * np.sin(27.0 * x) + 0.5


def _sinone(X: FloatArray) -> FloatArray:
    return wave(X[:, 0])


def _forrester(X: FloatArray) -> FloatArray:
    x = X[:, 0]
    return (6.0 * x - 2.0) ** 2 * np.sin(12.0 * x - 4.0)


def _sine_cosine(X: FloatArray) -> FloatArray:
    x = X[:, 0]
    return np.sin(7.0 * x) + np.cos(17.0 * x)


def _sine_parabola(X: FloatArray) -> FloatArray:
    x = X[:, 0]
    return np.sin(3.0 * x) + x**2 - 0.7 * x
