"""The regression tests of source 001, functions of x in [-100, 100].

Tests 3 and 4 were redefined there for optimization without printing how; `test3b` and
`test4b` stand for them here, made so that the optimum is unique and off the boundary.

References
----------
Kruse (2022), the tests [Kruse2022].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.problems.noise import Noise
from nnbo_mip.problems.problem import Problem
from nnbo_mip.space.space import Space

STEP_ENDS = np.array([-100, -83, -71, -60, -49, -31, -9, 3, 14, 26, 37, 60, 83, 100], float)
STEP_LEVELS = np.array([181, 162, 144, 69, 106, 88, 200, 125, 144, 162, 181, 88, 181], float)
"""Plateaus of `test2`: level i from end i up to, not including, end i + 1."""

EDGE_LEVEL = 200.0
"""Value of `test2` at -100 and at 100."""


def smooth() -> Problem:
    """Smooth: ``x sin(pi x / 50) + 150 + x / 10 + sin(x)``."""
    return Problem(
        "test1",
        _interval(),
        _smooth,
        optimum=64.82835705050773,
        optimizers=[[-77.35182946296771]],
        worst=183.2185797778453,  # at 32.97
    )


def steps() -> Problem:
    """Plateaus: ``u_i + sin(x)`` on thirteen plateaus, 200 at both ends of the interval.

    The lowest plateau is 69 on [-60, -49), where sin(x) = -1 twice.
    """
    return Problem(
        "test2",
        _interval(),
        _steps,
        optimum=68.0,
        optimizers=[[-18.5 * np.pi], [-16.5 * np.pi]],
        worst=201.0,  # on [-9, 3)
    )


def two_valued(seed: int = 0) -> Problem:
    """Two-valued: ``50 g + 100 + 10 sin(x/2) + e (30 - 90 g)``, ``g = sign(x) + 1``.

    e is 0 or 1 with probability 1/2, drawn at every observation. `function` is the lower of
    the two values, and its minimum, at eight points, the least value that can be observed.
    """
    return Problem(
        "test3" if seed == 0 else f"test3:seed={seed}",
        _interval(),
        _lower_branch,
        optimum=40.0,
        optimizers=[[k * np.pi] for k in range(3, 32, 4)],
        worst=210.0,  # upper branch, x > 0
        noise=UpperBranch(seed),
    )


def tilted_two_valued(seed: int = 0) -> Problem:
    """`test3` plus ``|x - 19 pi| / 10``, which leaves one of the eight minima."""
    crest = 2.0 * np.arccos(0.02)  # where the upper branch has slope 0
    return Problem(
        "test3b" if seed == 0 else f"test3b:seed={seed}",
        _interval(),
        _tilted_lower_branch,
        optimum=40.0,
        optimizers=[[19.0 * np.pi]],
        worst=200.0 + 10.0 * np.sin(0.5 * crest) + 0.1 * (19.0 * np.pi - crest),
        noise=UpperBranch(seed),
    )


def varying() -> Problem:
    """Varying frequency: ``200 - x^2 / 200 + w(x)``.

    ``w(x) = max(10, |x| / 2) sin((x / 2) min(3, max(0, (1 + x / 100)^2)))``.
    """
    return Problem(
        "test4",
        _interval(),
        _varying,
        optimum=100.7630337661250,
        optimizers=[[99.49712315706015]],
        worst=212.4951206669178,  # at 50.99
    )


def hollow() -> Problem:
    """`test4` with a hollow for its parabola: ``200 - 50 exp(-((x - 55) / 30)^2) + w(x)``."""
    return Problem(
        "test4b",
        _interval(),
        _hollow,
        optimum=121.4088795269987,
        optimizers=[[58.65843831257458]],
        worst=241.9101880229339,  # at 97.40
    )


@dataclass(frozen=True)
class UpperBranch(Noise):
    """With probability 1/2 the upper of the two values of `test3` in place of the lower."""

    def spoiled(self, X: FloatArray, y: FloatArray, share: FloatArray) -> FloatArray:
        """Return y, or y plus the distance of the branches."""
        gap = np.abs(30.0 - 90.0 * (np.sign(X[:, 0]) + 1.0))
        return y + np.where(share < 0.5, gap, 0.0)


def _interval() -> Space:
    return Space.box([-100.0], [100.0])


def _smooth(X: FloatArray) -> FloatArray:
    x = X[:, 0]
    return x * np.sin(np.pi * x / 50.0) + 150.0 + x / 10.0 + np.sin(x)


def _steps(X: FloatArray) -> FloatArray:
    x = X[:, 0]
    plateau = np.searchsorted(STEP_ENDS, x, side="right") - 1
    level = STEP_LEVELS[np.clip(plateau, 0, STEP_LEVELS.size - 1)]
    return np.where(np.abs(x) >= STEP_ENDS[-1], EDGE_LEVEL, level + np.sin(x))


def _lower_branch(X: FloatArray) -> FloatArray:
    x = X[:, 0]
    g = np.sign(x) + 1.0
    return 50.0 * g + 100.0 + 10.0 * np.sin(0.5 * x) + np.minimum(0.0, 30.0 - 90.0 * g)


def _tilted_lower_branch(X: FloatArray) -> FloatArray:
    return _lower_branch(X) + 0.1 * np.abs(X[:, 0] - 19.0 * np.pi)


def _varying(X: FloatArray) -> FloatArray:
    x = X[:, 0]
    return 200.0 - x**2 / 200.0 + _waves(x)


def _hollow(X: FloatArray) -> FloatArray:
    x = X[:, 0]
    return 200.0 - 50.0 * np.exp(-(((x - 55.0) / 30.0) ** 2)) + _waves(x)


def _waves(x: FloatArray) -> FloatArray:
    speed = np.clip((1.0 + x / 100.0) ** 2, 0.0, 3.0)
    return np.maximum(10.0, 0.5 * np.abs(x)) * np.sin(0.5 * x * speed)
