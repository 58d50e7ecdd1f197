"""Learning from a sample, with the deviations that were told where a family weighs them."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.base.abstract import Belief, Surrogate


def learned(surrogate: Surrogate, X: FloatArray, y: FloatArray, noise: FloatArray | None) -> Belief:
    """Fit a surrogate.

    Parameters
    ----------
    surrogate : Surrogate
    X, y : (n, d) and (n,) arrays
        Points and values, larger is better.
    noise : (n,) array or None
        Deviations of the values; NaN where none was told, which counts as zero.
    """
    if noise is None or not surrogate.weighs_noise:
        return surrogate.fit(X, y)
    return surrogate.fit_with_noise(X, y, np.nan_to_num(noise))
