r"""Hyper-parameters of largest marginal likelihood: what is searched, and the search.

`direct`, or a library, gives the logarithm of the likelihood and its gradient, in the
logarithms of the free parameters; SciPy's L-BFGS-B climbs it from the given values and from random
ones. Length-scales of inputs that are tied move as one. Where a parameter has a prior,
log p ~ N(center, width^2), the log density of that is added, and the climb ends at the most
probable logarithms. Several length-scales may have that prior for the mean m of their logarithms,
each of which differs from it by a Cauchy variable of scale s:

    -((m - center) / width)^2 / 2 - sum_j log(1 + ((log l_j - m) / s)^2).

So few values tell no input from another by chance, and few of many inputs may still be the ones
that matter: the tails are heavy.

References
----------
Rasmussen and Williams (2006), marginal likelihood, chapter 5 [RasmussenWilliams2006].
Hvarfner et al. (2024), the prior of length-scales by dimension [Hvarfner2024].
Byrd et al. (1995), L-BFGS-B [Byrd1995].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.gp.kernels import Kernel

ORDER = ("amplitude", "mixture", "length_scale", "noise")
"""The order of free parameters in a vector of logarithms; scikit-learn has the same."""

UNREACHABLE = 1e100
"""What L-BFGS-B sees in place of an infinite value: a plateau at which it stops."""

TOLERANCE = 1e-4
"""Gain in the logarithm of the likelihood at which a climb ends."""

MOST_STEPS = 15_000
"""Steps of a climb at most; it ends by itself long before."""

REACH = np.log(30.0)
"""How far from the given values climbs start; much farther out correlations are 0 or 1."""

Likelihood: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]
"""Log marginal likelihood and its gradient (p,) at logarithms (p,) of the free parameters."""


@dataclass(frozen=True)
class LogNormal:
    """A normal distribution of the logarithm of a parameter, or of each of several.

    Parameters
    ----------
    center, width : float
        Mean and standard deviation.
    apart : float
        s, the scale by which each of several differs from their mean, of which the rest is then
        said; infinite where each is by itself.
    """

    center: float
    width: float
    apart: float = math.inf

    @staticmethod
    def of_length_scales(d: int, apart: float = math.inf) -> LogNormal:
        """Return the one of Hvarfner et al. (2024): the typical length grows as sqrt(d).

        There, on [0, 1]^d, log l ~ N(sqrt(2) + log(d) / 2, 3); model coordinates are twice as wide.
        """
        return LogNormal(np.sqrt(2.0) + 0.5 * np.log(d) + np.log(2.0), np.sqrt(3.0), apart)

    def log_density(self, logarithms: FloatArray) -> tuple[float, FloatArray]:
        """Return the log density, 0 at its largest, and its slopes (p,)."""
        if math.isinf(self.apart):
            offset = (logarithms - self.center) / self.width
            return -0.5 * float(offset @ offset), -offset / self.width
        mean = float(logarithms.mean())
        common, own = (mean - self.center) / self.width, (logarithms - mean) / self.apart
        pulls = 2.0 * own / (1.0 + np.square(own)) / self.apart
        slopes = pulls.mean() - pulls - common / self.width / len(logarithms)
        return -0.5 * common**2 - float(np.log1p(np.square(own)).sum()), slopes


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """A kernel and a noise, and which of their numbers are free.

    Parameters
    ----------
    kernel : Kernel
        With the values at which the search starts, or which are kept.
    noise : float
        Variance of an observation about the function.
    ranges : mapping of str to (low, high)
        The free ones among `ORDER`.
    ard : bool
        Whether length-scales are free one by one instead of all together.
    priors : mapping of str to LogNormal
        Of those that are free and have one.
    tied : tuple of tuple of int
        Inputs that have one length-scale together where others have one each.
    """

    kernel: Kernel
    noise: float
    ranges: Mapping[str, tuple[float, float]]
    ard: bool
    priors: Mapping[str, LogNormal] = field(default_factory=dict)
    tied: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def free(self) -> tuple[str, ...]:
        """Name of every entry of the vector of logarithms."""
        count = len(self.kernel.length_scale) if self.ard else 1
        return tuple(
            name
            for name in ORDER
            if name in self.ranges
            for _ in range(count if name == "length_scale" else 1)
        )

    @cached_property
    def bounds(self) -> FloatArray:
        """Logarithms (p, 2) of the ends of the ranges."""
        return np.log([self.ranges[name] for name in self.free]).reshape(-1, 2)

    @property
    def logarithms(self) -> FloatArray:
        """Logarithms (p,) of the free values."""
        lengths = self.kernel.length_scale if self.ard else self.kernel.length_scale[:1]
        values = {
            "amplitude": [self.kernel.amplitude],
            "mixture": [self.kernel.mixture],
            "length_scale": lengths.tolist(),
            "noise": [self.noise],
        }
        return np.log([v for name in ORDER if name in self.ranges for v in values[name]])

    @property
    def moves(self) -> FloatArray:
        """What a search moves, (q, p): logarithms are ``v @ moves``, tied ones the same entry."""
        leader = np.arange(len(self.free))
        first = self.free.index("length_scale") if self.ard and "length_scale" in self.ranges else 0
        for group in self.tied if self.ard and "length_scale" in self.ranges else ():
            leader[first + np.array(group)] = first + min(group)
        return np.asarray(leader == np.unique(leader)[:, None], dtype=np.float64)

    def at(self, logarithms: FloatArray) -> Hyperparameters:
        """Return these with other free values."""
        low, high = self.bounds.T
        numbers = np.exp(np.clip(logarithms, low, high))
        free = np.array(self.free)
        kernel, noise = self.kernel, self.noise
        if "amplitude" in self.ranges:
            kernel = replace(kernel, amplitude=float(numbers[free == "amplitude"][0]))
        if "mixture" in self.ranges:
            kernel = replace(kernel, mixture=float(numbers[free == "mixture"][0]))
        if "length_scale" in self.ranges:
            lengths = np.broadcast_to(numbers[free == "length_scale"], kernel.length_scale.shape)
            kernel = replace(kernel, length_scale=lengths.copy())
        if "noise" in self.ranges:
            noise = float(numbers[free == "noise"][0])
        return replace(self, kernel=kernel, noise=noise)


def maximize_likelihood(
    likelihood: Likelihood,
    hyper: Hyperparameters,
    n_restarts: int,
    seed: int,
    most_steps: int = MOST_STEPS,
    starts: FloatArray | None = None,
) -> tuple[Hyperparameters, float]:
    """Return the best hyper-parameters that were found, and what was climbed there.

    The given ones, and -inf, if it is finite nowhere.

    Parameters
    ----------
    likelihood : callable
        What is climbed.
    hyper : Hyperparameters
        Where the first climb starts.
    n_restarts : int
        Further climbs, from points around it, uniform in the logarithms.
    seed : int
        Of these points.
    most_steps : int
        Of each climb.
    starts : (m, p) array, optional
        Logarithms from which to climb, in place of all others.
    """
    moves = hyper.moves
    leaders = moves.argmax(axis=1)
    start, bounds = hyper.logarithms[leaders], hyper.bounds[leaders]
    low, high = bounds.T
    nearest, farthest = np.maximum(low, start - REACH), np.minimum(high, start + REACH)
    others = np.random.default_rng(seed).uniform(nearest, farthest, (n_restarts, len(start)))
    names = [hyper.free[leader] for leader in leaders]
    climbed = _with_priors(_tied(likelihood, moves), hyper.priors, names)
    begun = (start, *others) if starts is None else np.clip(starts[:, leaders], low, high)
    ends = [_climb(climbed, logarithms, bounds, most_steps) for logarithms in begun]
    best, value = max(ends, key=lambda end: end[1])
    return hyper.at((best if value > -np.inf else start) @ moves), value


def _tied(likelihood: Likelihood, moves: FloatArray) -> Likelihood:
    """Return a likelihood in what is moved: slopes of what moves together add up."""
    if len(moves) == moves.shape[1]:
        return likelihood

    def of_moved(moved: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = likelihood(moved @ moves)
        return value, moves @ gradient

    return of_moved


def _with_priors(
    likelihood: Likelihood, priors: Mapping[str, LogNormal], names: Sequence[str]
) -> Likelihood:
    """Return the sum of a log likelihood and of the log densities, each 0 at its center."""
    if not priors:
        return likelihood
    moved = np.array(names)
    owned = [(prior, moved == name) for name, prior in priors.items() if name in names]

    def posterior(logarithms: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = likelihood(logarithms)
        gradient = gradient.copy()
        for prior, own in owned:
            density, slopes = prior.log_density(logarithms[own])
            value += density
            gradient[own] += slopes
        return value, gradient

    return posterior


def _climb(
    likelihood: Likelihood, start: FloatArray, bounds: FloatArray, most_steps: int
) -> tuple[FloatArray, float]:
    """Return where L-BFGS-B ends, and the likelihood there.

    Its first step is the gradient, which is thousands long where n is large: between wide
    bounds it lands in a corner, where correlations are 0 and so are all slopes. Dividing by
    the size of that gradient makes the first step one unit of the logarithms.
    """
    value, gradient = likelihood(start)
    if not np.isfinite(value):
        return start, -np.inf
    unit = max(1.0, float(np.abs(gradient).max()))

    def descent(logarithms: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = likelihood(logarithms)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return UNREACHABLE, np.zeros_like(logarithms)
        return -value / unit, -gradient / unit

    options = {"ftol": TOLERANCE / unit, "gtol": 1e-5 / unit, "maxiter": most_steps}
    answer = minimize(descent, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return answer.x, -unit * float(answer.fun)
