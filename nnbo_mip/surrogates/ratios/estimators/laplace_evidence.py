r"""The evidence of labels under a Laplace posterior, by which a prior precision is chosen.

    log q(D) = log p(D | theta*) - delta/2 |theta*|^2 + P/2 log delta - 1/2 log det H
             = log p(D | theta*) - delta/2 |theta*|^2
               - 1/2 log det(I + Lambda^1/2 J J^T Lambda^1/2 / delta),

of which the second, of N numbers instead of P, is computed. Both hold where the gradient at
theta* vanishes.

References
----------
MacKay (1992), the evidence of a classifier [MacKay1992b].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.ratios.estimators.laplace import Curvature


def log_likelihood(log_odds: FloatArray, good: FloatArray, weights: FloatArray) -> float:
    """Return log p(D | theta) of labels (N,), 1 for good ones, with weights (N,)."""
    terms = good * log_odds - np.logaddexp(0.0, log_odds)
    return float((weights * terms).sum())


def evidence_by_points(
    likelihood: float, parameters: FloatArray, curvature: Curvature, delta: float
) -> float:
    """Return log q(D) from a determinant of N x N."""
    sizes = np.linalg.svd(curvature.rooted, compute_uv=False)
    volume = float(np.log1p(np.square(sizes) / delta).sum())
    return likelihood - 0.5 * delta * float(parameters @ parameters) - 0.5 * volume
