r"""Hartmann in three and six dimensions, on [0, 1]^d.

``-sum_i a_i exp(-sum_j A_ij (x_j - P_ij)^2)`` with four terms.

References
----------
Dixon and Szegö (1978), Hartmann's functions [DixonSzego1978].
"""

from __future__ import annotations

from functools import partial

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import frozen
from nnbo_mip.problems.dimensions import cube
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.sources import check_source, label

HEIGHTS = frozen(np.array([1.0, 1.2, 3.0, 3.2]))

RATES_3 = frozen(np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]]))

CENTRES_3 = frozen(
    1e-4
    * np.array([[3689.0, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]])
)

RATES_6 = frozen(
    np.array(
        [
            [10.0, 3, 17, 3.5, 1.7, 8],
            [0.05, 10, 17, 0.1, 8, 14],
            [3, 3.5, 1.7, 10, 17, 8],
            [17, 8, 0.05, 10, 0.1, 14],
        ]
    )
)

CENTRES_6 = frozen(
    1e-4
    * np.array(
        [
            [1312.0, 1696, 5569, 124, 8283, 5886],
            [2329, 4135, 8307, 3736, 1004, 9991],
            [2348, 1451, 3522, 2883, 3047, 6650],
            [4047, 8828, 8732, 5743, 1091, 381],
        ]
    )
)


def hartmann3(source: str = "003") -> Problem:
    """Hartmann in three dimensions.

    Parameters
    ----------
    source : {"003", "000"}
        The first coordinate of the third centre is 0.1091 (003) or 0.1090 (000).
    """
    source = check_source("hartmann3", source, ("003", "000"))
    centres = CENTRES_3.copy()
    optimum, minimizer, worst = (
        -3.8627797873326625,
        [0.11458887665506897, 0.555648894616930, 0.8525469846866774],
        -3.7727185141626774e-05,
    )
    if source == "000":
        centres[2, 0] = 0.1090
        optimum, minimizer, worst = (
            -3.8627795341672501,
            [0.11455098289606471, 0.5556489620279098, 0.8525470930072057],
            -3.77148196525938e-05,
        )
    return Problem(
        label("hartmann3", source=source),
        cube(3, 0.0, 1.0),
        partial(_hartmann, rates=RATES_3, centres=frozen(centres)),
        optimum=optimum,
        optimizers=[minimizer],
        worst=worst,  # at (1, 1, 0)
    )


def hartmann6() -> Problem:
    """Hartmann in six dimensions; a strong local minimum has the value -3.20316."""
    minimizer = [
        0.20168951100670542,
        0.15001069182345797,
        0.476873974221897,
        0.27533243049405607,
        0.31165161660011324,
        0.6573005340656203,
    ]
    return Problem(
        "hartmann6",
        cube(6, 0.0, 1.0),
        partial(_hartmann, rates=RATES_6, centres=CENTRES_6),
        optimum=-3.3223680114155148,
        optimizers=[minimizer],
        worst=-2.8124505439686524e-08,  # at (1, 1, 0, 1, 1, 1)
    )


def _hartmann(X: FloatArray, rates: FloatArray, centres: FloatArray) -> FloatArray:
    distances = (rates * (X[:, None, :] - centres) ** 2).sum(axis=2)
    total: FloatArray = np.exp(-distances) @ HEIGHTS
    return -total
