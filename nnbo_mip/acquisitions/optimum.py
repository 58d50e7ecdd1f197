r"""A sampled value of the optimum, for max-value entropy search.

draw    the largest value found of one member or weight draw over the box [-1, 1]^d: the best
        of random points, each of the best few followed uphill;
gumbel  from the marginals of the belief at random points x_i, as if independent: the
        distribution prod_i Phi((y - mean_i) / std_i) of their maximum has quantiles
        y_p; a Gumbel distribution with the same quartiles, y_p = a - b log(-log p), gives

            b = (y_3/4 - y_1/4) / (log log 4 - log log 4/3),   a = y_1/2 + b log log 2,

        and y* = a - b log(-log r) with r uniform in (0, 1).

A value that was found is no larger than the optimum of the draw; where that matters, an exact
maximizer's `optimum` can be given instead.

References
----------
Wang and Jegelka (2017), sampling the maximum, by draws or a Gumbel distribution [WangJegelka2017].
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.scores.base.abstract import standardized
from nnbo_mip.surrogates.base.abstract import Belief, Capability

N_POINTS = 2048
N_CLIMBS = 3
MAX_CLIMB = 100
"""Steps of one climb."""

_BISECTIONS = 50


def largest_value(draw: Belief, evaluated: FloatArray | None, rng: np.random.Generator) -> float:
    """Return the largest mean of a draw that was found in the box."""
    points = candidates(draw.n_inputs, evaluated, rng)
    values = draw.mean(points)
    best = float(values.max())
    if Capability.GRADIENT not in draw.capabilities:
        return best
    spread = float(values.std())
    starts = points[np.argsort(-values, kind="stable")[:N_CLIMBS]]
    return max([best, *(_climb(draw, start, spread) for start in starts)])


def gumbel_value(belief: Belief, evaluated: FloatArray | None, rng: np.random.Generator) -> float:
    """Return a sample of the largest value among random points."""
    points = candidates(belief.n_inputs, evaluated, rng)
    mean, std = belief.mean(points), belief.std(points)
    quartiles = _quantiles(mean, std, np.array([0.25, 0.5, 0.75]))
    depth = np.log(-np.log([0.25, 0.5, 0.75]))
    width = (quartiles[2] - quartiles[0]) / (depth[0] - depth[2])
    center = quartiles[1] + width * depth[1]
    return float(center - width * np.log(-np.log(rng.uniform(1e-12, 1.0 - 1e-12))))


def candidates(d: int, evaluated: FloatArray | None, rng: np.random.Generator) -> FloatArray:
    """Return random points of the box and the evaluated ones."""
    points = rng.uniform(-1.0, 1.0, (N_POINTS, d))
    return points if evaluated is None else np.concatenate([points, evaluated])


def _climb(draw: Belief, start: FloatArray, spread: float) -> float:
    """Return the value that gradient steps inside the box reach."""
    from scipy.optimize import minimize

    size = spread or 1.0

    def fall(x: FloatArray) -> tuple[float, FloatArray]:
        local = draw.differentiate(x[None, :])
        return -float(local.mean[0]) / size, -local.mean_gradient[0] / size

    bounds = [(-1.0, 1.0)] * len(start)
    options = {"maxiter": MAX_CLIMB}
    found = minimize(fall, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    return float(draw.mean(np.clip(found.x, -1.0, 1.0))[0])


def _quantiles(mean: FloatArray, std: FloatArray, shares: FloatArray) -> FloatArray:
    """Return quantiles of the maximum of independent normal variables, by bisection."""
    # Below `low` some variable surely stays above; 10 deviations above all, none does.
    low = np.full(len(shares), float((mean - 10.0 * std).max()))
    high = np.full(len(shares), float((mean + 10.0 * std).max()))
    goal = np.log(shares)
    for _ in range(_BISECTIONS):
        middle = 0.5 * low + 0.5 * high
        ratios = standardized(middle[:, None] - mean, std)
        reached = np.asarray(log_ndtr(ratios)).sum(axis=1) >= goal
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high
