"""The evidence of Bayesian linear regression, whose maximum `learn_alpha` climbs to."""

from __future__ import annotations

import numpy as np

from nnbo_mip.surrogates.rvfl.bayesian_linear import Spectrum


def log_evidence(spectrum: Spectrum, alpha: float, beta: float) -> float:
    """Return log p(y | alpha, beta)."""
    variances = 1.0 / beta + np.square(spectrum.sizes) / alpha
    n, r = spectrum.n_values, len(spectrum.sizes)
    explained = np.log(variances) + np.square(spectrum.coordinates) / variances
    unexplained = (n - r) * np.log(beta) - beta * spectrum.rest
    return float(0.5 * (unexplained - explained.sum() - n * np.log(2.0 * np.pi)))
