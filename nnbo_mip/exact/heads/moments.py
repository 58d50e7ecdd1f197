r"""Weighted sums of the mean and a second coordinate, as linear problems.

    plain    (mean, std),           std an output: one linear problem
    smooth   (mean, std),           std below tangents of its curve: see `tangents`
    raw      (mean, -relu(raw)),    for heads that fall with a std that is smooth: one problem

The std that is read of an output is its positive part. Where the output is proven never to be
below a rounding error, that is added to the bounds; elsewhere a ReLU takes the positive part.
"""

from __future__ import annotations

import abc
import math

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.heads.sequence import SHARE, Allowance, Outputs, Sequence
from nnbo_mip.exact.heads.std_floor import proven_floor
from nnbo_mip.exact.search.result import Step
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.posteriors.compiled import PlainPosterior, SmoothPosterior
from nnbo_mip.space.domain import Domain

NEGLIGIBLE = 1e-10
"""Share of its magnitude by which a std may be negative before a ReLU is spent on it."""


class Plane(abc.ABC):
    """Two coordinates of the points, and the largest weighted sums of them."""

    floor: float
    """A proven lower bound of the std, at least 0."""

    limits: tuple[float, float] = (0.0, math.inf)
    """Values that the second coordinate cannot leave."""

    @abc.abstractmethod
    def coordinates(self, points: FloatArray) -> FloatArray:
        """Return both coordinates (n, 2) at points (n, d), in float64."""

    @abc.abstractmethod
    def std_of(self, second: FloatArray) -> FloatArray:
        """Return the std that belongs to a second coordinate."""

    @abc.abstractmethod
    def std_slope(self, second: float) -> float:
        """Return the derivative of the std by the second coordinate."""

    @abc.abstractmethod
    def maximize(
        self,
        first: float,
        second: float,
        allowance: Allowance,
        level: float = -math.inf,
        share: float = SHARE,
    ) -> Step:
        """Bound ``first * mean + second * coordinate`` over the domain; weights >= 0."""

    def refine(self, points: FloatArray) -> bool:
        """Become exacter near points (n, d), and say whether that was possible."""
        return False


class StdPlane(Plane):
    """Mean and std."""

    _posterior: PlainPosterior | SmoothPosterior

    def coordinates(self, points: FloatArray) -> FloatArray:
        """Return mean and std (n, 2)."""
        return np.column_stack(self._posterior.moments(points))

    def std_of(self, second: FloatArray) -> FloatArray:
        """Return the std itself."""
        return second

    def std_slope(self, second: float) -> float:
        """Return 1."""
        return 1.0


class PlainPlane(StdPlane):
    """Mean and std of a `PlainPosterior`; the weight of the std may be negative.

    Parameters
    ----------
    posterior : PlainPosterior
    domain : Domain
    sequence : Sequence
        Solves the problems.
    """

    def __init__(self, posterior: PlainPosterior, domain: Domain, sequence: Sequence) -> None:
        self._posterior, self._sequence = posterior, sequence
        network, low = posterior.network, proven_floor(posterior.network, "std", domain)
        outputs = Outputs(network, domain.lower, domain.upper)
        self._shortfall = max(-low, 0.0)
        if not self._shortfall <= NEGLIGIBLE * outputs.magnitude("std"):
            network, self._shortfall = with_positive_std(network), 0.0
            outputs = Outputs(network, domain.lower, domain.upper)
        self._outputs = outputs
        self.floor = max(low, 0.0)

    def maximize(
        self,
        first: float,
        second: float,
        allowance: Allowance,
        level: float = -math.inf,
        share: float = SHARE,
    ) -> Step:
        """Bound ``first * mean + second * std``."""
        weights = {"mean": first, "std": second}
        objective, margin = self._outputs.weighted(weights)
        margin += max(second, 0.0) * self._shortfall * (1.0 + 4.0 * UNIT_ROUNDOFF)
        return self._sequence.maximize(
            objective, weights, margin=margin, allowance=allowance, level=level, share=share
        )


class RawPlane(Plane):
    """Mean and ``-relu(raw)`` of a `SmoothPosterior`.

    Parameters
    ----------
    posterior : SmoothPosterior
    domain : Domain
    sequence : Sequence
        Solves the problems.
    """

    limits = (-math.inf, 0.0)

    def __init__(self, posterior: SmoothPosterior, domain: Domain, sequence: Sequence) -> None:
        self._posterior, self._sequence = posterior, sequence
        self._outputs = Outputs(posterior.network, domain.lower, domain.upper)
        self.floor = smooth_floor(posterior)

    def coordinates(self, points: FloatArray) -> FloatArray:
        """Return mean and -relu(raw) (n, 2)."""
        network = self._posterior.network
        raw = np.maximum(network.evaluate(points, "relu_raw"), 0.0)
        return np.column_stack([self._posterior.mean(points), -raw])

    def std_of(self, second: FloatArray) -> FloatArray:
        """Return the std."""
        return self._posterior.std_of(np.maximum(-second, 0.0))

    def std_slope(self, second: float) -> float:
        """Return minus the slope of the curve."""
        return -float(self._posterior.slope_of(max(-second, 0.0)))

    def maximize(
        self,
        first: float,
        second: float,
        allowance: Allowance,
        level: float = -math.inf,
        share: float = SHARE,
    ) -> Step:
        """Bound ``first * mean - second * relu(raw)``; what `relu_raw` lacks to 0 raises it."""
        weights = {"mean": first, "relu_raw": -second}
        objective, margin = self._outputs.weighted(weights)
        return self._sequence.maximize(
            objective, weights, margin=margin, allowance=allowance, level=level, share=share
        )


def smooth_floor(posterior: SmoothPosterior) -> float:
    """Return a number not above the std of a smooth posterior, which is least at relu(raw) = 0."""
    return max(float(posterior.std_of(0.0)) * (1.0 - 1e-14), 0.0)


def with_positive_std(network: Network) -> Network:
    """Return the network whose output ``std`` is the positive part of what it was."""
    index = network.output_index("std")
    last = len(network.layers) + 1
    head = network.head
    keep = np.ones(head.width)
    keep[index] = 0.0
    terms = {k: keep[:, None] * head.dense(k) for k in head.terms}
    terms[last] = 1.0 - keep[:, None]
    layers = (*network.layers, head.rows([index]))
    return Network(network.n_inputs, layers, Affine(keep * head.bias, terms), network.output_names)
