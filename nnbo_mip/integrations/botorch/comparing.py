r"""What was read of a model, compared with the model at probe points.

Means and stds must agree to 1e-8 of the prior's std, acquisition values to what such a difference
explains and 1e-8 of their own size.

BoTorch raises small variances to a floor v (GPyTorch's `min_variance`, 1e-10 unless it is set, and
1e-12 in analytic acquisitions). We do not: where the floor is reached both functions differ. It is
reached nowhere if the least posterior variance is above it. With the prior variance a and the
variances of the noise D_i the posterior variance at any point is at least

    1 / (1 / a + sum_i 1 / D_i),

for f(x_i) = r_i f(x) + g_i with |r_i| <= 1 and g independent of f(x), so that the values
tell of f(x) at most sum_i r_i^2 / D_i.
"""

from __future__ import annotations

import math
from typing import Any

import gpytorch
import numpy as np
import torch
from scipy.stats import qmc

from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.surrogates.gp.belief import GpBelief

TOLERANCE = 1e-8

LEAST_VARIANCE = 1e-12
"""The floor of BoTorch's analytic acquisitions."""

N_PROBES, MOST_OBSERVED = 64, 32


def probes(lower: FloatArray, upper: FloatArray, observed: FloatArray) -> FloatArray:
    """Return points (m, d) that fill a box, and some of the observed ones (n, d)."""
    filling = qmc.Sobol(len(lower), rng=0).random(N_PROBES)
    apart = observed[:: -(-len(observed) // MOST_OBSERVED)]
    return np.concatenate([lower + filling * (upper - lower), apart])


def check_moments(belief: GpBelief, model: Any, transform: Any, points: FloatArray) -> float:
    """Refuse a belief whose mean or std differs from the model's; return the largest difference.

    Parameters
    ----------
    belief : GpBelief
    model : Model
        Of BoTorch.
    transform : PosteriorTransform or None
        Applied to the model's posterior.
    points : (m, d) array

    Returns
    -------
    float
        In stds of the prior.
    """
    with torch.no_grad(), gpytorch.settings.min_variance(double_value=-math.inf):  # no floor
        place = next(model.parameters()).device
        X = torch.as_tensor(points, device=place)[:, None, :]
        told = model.posterior(X, posterior_transform=transform)
        mean = told.mean.reshape(-1).cpu().numpy()
        std = told.variance.reshape(-1).clamp_min(0.0).sqrt().cpu().numpy()
    floor = np.sqrt(_floor())
    own = belief.std(points)
    sure = own > floor
    unit = prior_std(belief)
    size = unit + float(np.abs(mean).max())
    by_mean = np.abs(belief.mean(points) - mean).max() / size
    by_std = np.abs(own - std)[sure].max(initial=0.0) / unit
    largest = float(max(by_mean, by_std))
    if not largest <= TOLERANCE:
        raise UnsupportedError(
            "what was read of a model must agree with its posterior to "
            f"{TOLERANCE:g}; it differs by {largest:.3g} at a probe point; give the model more "
            "noise, or use botorch.optim.optimize_acqf."
        )
    return largest


def check_scores(scorer: Scorer, acq_function: Any, points: FloatArray) -> float:
    """Refuse a score that differs from BoTorch's values; return the largest difference.

    Parameters
    ----------
    scorer : Scorer
        Of a belief that `check_moments` took.
    acq_function : AcquisitionFunction
    points : (m, d) array

    Returns
    -------
    float
        Relative to 1 + |value|.
    """
    head, belief = scorer.head, scorer.belief
    assert isinstance(head, MomentHead)
    assert isinstance(belief, GpBelief)
    with torch.no_grad():
        place = next(acq_function.parameters()).device
        told = acq_function(torch.as_tensor(points, device=place)[:, None, :]).cpu().numpy()
    own = scorer.score(points)
    mean, std = scorer.moments(points)
    by_mean, by_std = head.gradient(mean, std)
    size = prior_std(belief) + np.abs(mean).max()
    explained = TOLERANCE * (size * np.abs(by_mean) + prior_std(belief) * np.abs(by_std))
    off = np.abs(own - told)
    if not (off <= explained + TOLERANCE * (1.0 + np.abs(told))).all():
        worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        raise UnsupportedError(
            f"a {type(acq_function).__name__} must agree with the {head.name} that was read of it; "
            f"it is {told[worst]!r} where that is {own[worst]!r}; use "
            "botorch.optim.optimize_acqf for it."
        )
    return float((off / (1.0 + np.abs(told))).max())


def check_floor(belief: GpBelief) -> None:
    """Refuse a belief whose variance may be so small that BoTorch raises it."""
    diagonal = np.broadcast_to(belief.diagonal, len(belief.points))
    with np.errstate(divide="ignore"):
        least = 1.0 / (1.0 / belief.kernel.amplitude + (1.0 / diagonal).sum())
    scale = belief.scale * belief.units.y_scale
    least, floor = least * scale**2, _floor()
    if not least > floor:
        raise UnsupportedError(
            f"the variance of a posterior must stay above {floor:g}, to which BoTorch raises "
            f"smaller ones; the least that it may have here is {least:.3g}; multiply the outcomes "
            "by a power of ten, or give the model more noise."
        )


def prior_std(belief: GpBelief) -> float:
    """Return the std of the function where nothing is known, in units of y."""
    return float(np.sqrt(belief.kernel.amplitude)) * belief.scale * belief.units.y_scale


def _floor() -> float:
    """Return the variance to which BoTorch raises smaller ones."""
    return max(float(gpytorch.settings.min_variance.value(torch.float64)), LEAST_VARIANCE)
