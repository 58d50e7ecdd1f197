"""Functions of two variables.

References
----------
Dixon and Szegö (1978), Branin, Goldstein-Price, six-hump camel [DixonSzego1978].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.problems.one_dimensional import SINONE_LEAST, SINONE_MINIMIZER, SINONE_MOST, wave
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.sources import check_source, label
from nnbo_mip.space.space import Space


def branin() -> Problem:
    r"""Branin on [-5, 10] x [0, 15], three minima.

    ``(x2 - 5.1 / (4 pi^2) x1^2 + 5 / pi x1 - 6)^2 + 10 (1 - 1 / (8 pi)) cos(x1) + 10``.
    """
    return Problem(
        "branin",
        Space.box([-5.0, 0.0], [10.0, 15.0]),
        _branin,
        optimum=0.3978873577297383,
        optimizers=[[-np.pi, 12.275], [np.pi, 2.275], [3.0 * np.pi, 2.475]],
        worst=308.12909601160663,  # at (-5, 0)
    )


def camelback() -> Problem:
    """Six-hump camelback on [-3, 3] x [-2, 2], two minima.

    ``(4 - 2.1 x1^2 + x1^4 / 3) x1^2 + x1 x2 + (4 x2^2 - 4) x2^2``.
    """
    minimizer = np.array([0.08984201310031806, -0.7126564030207396])
    return Problem(
        "camelback",
        Space.box([-3.0, -2.0], [3.0, 2.0]),
        _camelback,
        optimum=-1.0316284534898774,
        optimizers=[minimizer, -minimizer],
        worst=162.9,  # at (3, 2) and (-3, -2)
    )


def three_hump_camel() -> Problem:
    """Three-hump camel on [-5, 5]^2: ``2 x1^2 - 1.05 x1^4 + x1^6 / 6 + x1 x2 + x2^2``."""
    return Problem(
        "three_hump_camel",
        Space.box([-5.0, -5.0], [5.0, 5.0]),
        _three_hump_camel,
        optimum=0.0,
        optimizers=[[0.0, 0.0]],
        worst=24575.0 / 12.0,  # at (5, 5) and (-5, -5)
    )


def goldstein_price(source: str = "004") -> Problem:
    """Goldstein-Price on [-2, 2]^2.

    ``(1 + (x1 + x2 + 1)^2 (19 - 14 x1 + 3 x1^2 - 14 x2 + 6 x1 x2 + 3 x2^2))
    (30 + (2 x1 - 3 x2)^2 (18 - 32 x1 + 12 x1^2 + 48 x2 - 36 x1 x2 + 27 x2^2))``.

    Parameters
    ----------
    source : {"004", "000"}
        004 scales by 76728, the value at (2, 2), so that scores fall below -1; 000, which
        does not scale, by the largest value.
    """
    source = check_source("goldstein_price", source, ("004", "000"))
    return Problem(
        label("goldstein_price", source=source),
        Space.box([-2.0, -2.0], [2.0, 2.0]),
        _goldstein_price,
        optimum=3.0,
        optimizers=[[0.0, -1.0]],
        worst=76728.0 if source == "004" else 1015690.2717980597,  # at (-1.7374, 2)
    )


def bohachevsky() -> Problem:
    """Bohachevsky on [-100, 100]^2.

    ``0.7 + x1^2 + 2 x2^2 - 0.3 cos(3 pi x1) - 0.4 cos(4 pi x2)``.
    """
    return Problem(
        "bohachevsky",
        Space.box([-100.0, -100.0], [100.0, 100.0]),
        _bohachevsky,
        optimum=0.0,
        optimizers=[[0.0, 0.0]],
        worst=30000.0,  # at the corners
    )


def mccormick() -> Problem:
    """McCormick on [-1.5, 4] x [-3, 4].

    ``sin(x1 + x2) + (x1 - x2)^2 - 1.5 x1 + 2.5 x2 + 1``.
    """
    return Problem(
        "mccormick",
        Space.box([-1.5, -3.0], [4.0, 4.0]),
        _mccormick,
        optimum=-1.9132229549810364,
        optimizers=[[0.5 - np.pi / 3.0, -0.5 - np.pi / 3.0]],
        worst=44.09847214410396,  # at (-1.5, 4)
    )


def sintwo() -> Problem:
    """SinTwo: ``s(x1) s(x2)`` on [0, 1]^2 with s of `sinone`."""
    return Problem(
        "sintwo",
        Space.box([0.0, 0.0], [1.0, 1.0]),
        _sintwo,
        optimum=SINONE_LEAST**2,
        optimizers=[[SINONE_MINIMIZER, SINONE_MINIMIZER]],
        worst=SINONE_MOST**2,
    )


def _branin(X: FloatArray) -> FloatArray:
    u, v = X[:, 0], X[:, 1]
    well = (v - 5.1 / (4.0 * np.pi**2) * u**2 + 5.0 / np.pi * u - 6.0) ** 2
    return well + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(u) + 10.0


def _camelback(X: FloatArray) -> FloatArray:
    u, v = X[:, 0], X[:, 1]
    return (4.0 - 2.1 * u**2 + u**4 / 3.0) * u**2 + u * v + (4.0 * v**2 - 4.0) * v**2


def _three_hump_camel(X: FloatArray) -> FloatArray:
    u, v = X[:, 0], X[:, 1]
    return 2.0 * u**2 - 1.05 * u**4 + u**6 / 6.0 + u * v + v**2


def _goldstein_price(X: FloatArray) -> FloatArray:
    u, v = X[:, 0], X[:, 1]
    near = 19.0 - 14.0 * u + 3.0 * u**2 - 14.0 * v + 6.0 * u * v + 3.0 * v**2
    far = 18.0 - 32.0 * u + 12.0 * u**2 + 48.0 * v - 36.0 * u * v + 27.0 * v**2
    return (1.0 + (u + v + 1.0) ** 2 * near) * (30.0 + (2.0 * u - 3.0 * v) ** 2 * far)


def _bohachevsky(X: FloatArray) -> FloatArray:
    u, v = X[:, 0], X[:, 1]
    # 1 - cos(a) = 2 sin(a / 2)^2 keeps the digits near the minimum.
    waves = 0.6 * np.sin(1.5 * np.pi * u) ** 2 + 0.8 * np.sin(2.0 * np.pi * v) ** 2
    return u**2 + 2.0 * v**2 + waves


def _mccormick(X: FloatArray) -> FloatArray:
    u, v = X[:, 0], X[:, 1]
    return np.sin(u + v) + (u - v) ** 2 - 1.5 * u + 2.5 * v + 1.0


def _sintwo(X: FloatArray) -> FloatArray:
    return wave(X[:, 0]) * wave(X[:, 1])
