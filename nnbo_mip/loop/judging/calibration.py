r"""By how much a model's standard deviations are too small, from values that it did not see.

Each value y_i is compared with what a model says of it that learned from others,

    z_i = (y_i - mean_-i(x_i)) / sqrt(std_-i(x_i)^2 + noise_i^2),

and standard deviations are multiplied by

    c = max(1, root mean square of z,  max |z| / q_n),   q_n = Phi^-1(1 - 1 / (4 n)),

the second for a width that is too small everywhere, the third for a few values that a model did
not expect at all, such as a narrow valley: of n normal numbers the largest |z| is below q_n in 60 %
of cases. Standard deviations are never made smaller.

A Gaussian process answers for every value alone, from the factor that it has:
z_i = [K^-1 y]_i / sqrt([K^-1]_ii). Other families learn anew, without one part of the values after
the other.

References
----------
Dubrule (1983), leaving out one value of a Gaussian process [Dubrule1983].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_solve
from scipy.special import ndtri

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.step.training_set import TrainingSet
from nnbo_mip.surrogates.base.abstract import Belief
from nnbo_mip.surrogates.gp.belief import GpBelief

PARTS = 5
"""How often a family learns anew."""

FEWEST = 8
"""Values from which something can be said."""

LARGEST = 1e6
"""Of a factor: a model that is surer than that says nothing."""

Fit = Callable[[FloatArray, FloatArray, FloatArray | None], Belief]
"""What learns from points (n, d), values (n,) and deviations (n,)."""


def calibration(belief: Belief, sample: TrainingSet, fit: Fit) -> float:
    """Return what deviations are to be multiplied by, at least 1.

    Parameters
    ----------
    belief : Belief
        What was learned from the sample.
    sample : TrainingSet
    fit : callable
        Learns in the same way from a part of it.
    """
    if int(sample.told.sum()) < FEWEST:
        return 1.0
    if isinstance(belief, GpBelief) and belief.waves is None:
        z = left_out(belief)[sample.told]
    else:
        z = _of_parts(sample, fit)
    return factor(z)


def factor(z: FloatArray) -> float:
    """Return c of standardized residuals (n,)."""
    z = z[np.isfinite(z)]
    if not len(z):
        return 1.0
    expected = float(ndtri(1.0 - 0.25 / len(z)))
    spread = float(np.sqrt(np.mean(np.square(np.minimum(np.abs(z), LARGEST)))))
    return float(np.clip(max(spread, float(np.abs(z).max()) / expected), 1.0, LARGEST))


def left_out(belief: GpBelief) -> FloatArray:
    """Return z (n,) of a Gaussian process, its hyper-parameters kept."""
    n = len(belief.points)
    inverse = np.asarray(cho_solve((belief.factor, True), np.eye(n), check_finite=False))
    root = np.sqrt(np.maximum(np.diag(inverse), np.finfo(np.float64).tiny))
    return np.asarray(belief.weights / (root * belief.scale))


def _of_parts(sample: TrainingSet, fit: Fit) -> FloatArray:
    """Return z of all values that were told, each of a model that learned without its part."""
    rows = np.arange(len(sample.y))
    noise = np.zeros(len(rows)) if sample.noise is None else np.nan_to_num(sample.noise)
    found = []
    for part in range(PARTS):
        out = (rows % PARTS == part) & sample.told
        kept = ~(rows % PARTS == part)
        given = None if sample.noise is None else sample.noise[kept]
        if not out.any() or np.ptp(sample.y[kept]) == 0.0:
            continue
        belief = fit(sample.X[kept], sample.y[kept], given)
        spread = np.hypot(belief.std(sample.X[out]), noise[out])
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append((sample.y[out] - belief.mean(sample.X[out])) / spread)
    return np.concatenate(found) if found else np.empty(0)
