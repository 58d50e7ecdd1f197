"""What a belief says of a value that it is not told: `LeavesOut`."""

from __future__ import annotations

import abc

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray


class LeavesOut(abc.ABC):
    """A belief that can take back one observation at a time."""

    @abc.abstractmethod
    def left_out(self, X: npt.ArrayLike, y: npt.ArrayLike, noise: npt.ArrayLike) -> FloatArray:
        """Return the log density (n,) of each value given the others, with the scales it has.

        Parameters
        ----------
        X, y : (n, d) and (n,) arrays
            What it learned from.
        noise : float or (n,) array
            Deviations that were told.
        """


def log_densities(weights: FloatArray, precisions: FloatArray, scale: float) -> FloatArray:
    """Return log densities (n,) from K^-1 y (n,) and the diagonal (n,) of K^-1.

    Parameters
    ----------
    weights, precisions : (n,) arrays
        In standardized units.
    scale : float
        Units of y in one of them.
    """
    squares = np.square(weights) / precisions
    return np.asarray(0.5 * (np.log(precisions / (2.0 * np.pi)) - squares) - np.log(scale))
