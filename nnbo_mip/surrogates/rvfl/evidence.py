r"""The prior precision alpha of Bayesian linear regression, learned from the data.

In the coordinates t = U^T y of the SVD, with c_i = 1/beta + s_i^2/alpha, the evidence is

    log p(y | alpha, beta) = -1/2 sum_i (log c_i + t_i^2 / c_i)
                             + (n - r)/2 log beta - beta/2 |y - U t|^2 - n/2 log 2 pi,

and with lam_i = beta s_i^2 its slope in log alpha is (gamma - alpha |mu|^2) / 2, where

    gamma = sum_i lam_i / (alpha + lam_i),   |mu|^2 = sum_i (beta s_i t_i / (alpha + lam_i))^2.

The fixed-point iteration ``alpha <- gamma / |mu|^2`` therefore always moves uphill. At a
maximum it contracts: its slope in log alpha lies above -1, and below 1 where the evidence
curves down. One decomposition serves all iterations.

References
----------
MacKay (1992), the evidence, and its fixed-point iteration [MacKay1992a].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_number
from nnbo_mip.core.errors import TrainingError
from nnbo_mip.surrogates.rvfl.bayesian_linear import Spectrum

START = 1.0
"""Where the iteration begins, a middling precision for standardized values."""

WORST_CONDITION = 1e14
"""Alpha is kept large enough for (alpha + lam_max) / alpha to stay below this."""


def check_alpha(alpha: object) -> None:
    """Refuse a prior precision that is neither a positive number nor ``evidence``."""
    if isinstance(alpha, str):
        check_choice("alpha", alpha, ("evidence",))
    else:
        check_number("alpha", alpha, above=0.0)


def learn_alpha(spectrum: Spectrum, beta: float, tolerance: float, max_iterations: int) -> float:
    """Return the alpha of largest evidence that lies uphill of `START`.

    Parameters
    ----------
    spectrum : Spectrum
        Features and values.
    beta : float
        Precision of the noise.
    tolerance : float
        The iteration ends when alpha changes by less than this part of itself.
    max_iterations : int
        More than so many are a `TrainingError`.

    Notes
    -----
    Where noise alone explains the values (constant ones, a single one) the evidence grows with
    alpha without end. Alpha stops where the mean variance of the function at the data,
    sum_i s_i^2 / (n alpha), has come down to that of the noise, 1/beta.

    Where the values are much noisier than 1/beta allows, the evidence can have further, higher
    maxima at tiny alpha, which explain the noise by enormous weights: uphill of `START` is then
    the saner choice, and the right beta a better one.
    """
    lam = beta * np.square(spectrum.sizes)
    most = float(lam.sum()) / spectrum.n_values
    if most == 0.0:  # no feature is active at any datum: the values say nothing of weights
        return START
    least = min(most, float(lam.max()) / WORST_CONDITION)
    alpha = min(max(START, least), most)
    for _ in range(max_iterations):
        following = min(max(_step(spectrum, lam, alpha, beta), least), most)
        if abs(following - alpha) <= tolerance * alpha:
            return following
        alpha = following
    raise TrainingError(
        f"the evidence approximation must settle to a relative {tolerance:g} within "
        f"{max_iterations} iterations; alpha was still moving at {alpha:.6g}; raise "
        "max_iterations or tolerance, or give alpha as a number."
    )


def _step(spectrum: Spectrum, lam: FloatArray, alpha: float, beta: float) -> float:
    """Return gamma / |mu|^2; infinite where the values are zero."""
    total = alpha + lam
    gamma = float((lam / total).sum())
    squared = float(np.square(beta * spectrum.sizes * spectrum.coordinates / total).sum())
    return gamma / squared if squared > 0.0 else np.inf
