r"""Weighted sums of the mean and a second coordinate, as linear problems.

    plain    (mean, std),           std an output: one linear problem
    smooth   (mean, std),           std below tangents of its readout: see `tangents`
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
from nnbo_mip.scores.posteriors.readouts import PlainReadout, SmoothReadout
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


class PlainPlane(Plane):
    """Mean and std of a `PlainReadout`; the weight of the std may be negative.

    Parameters
    ----------
    readout : PlainReadout
    domain : Domain
    sequence : Sequence
        Solves the problems.
    """

    def __init__(self, readout: PlainReadout, domain: Domain, sequence: Sequence) -> None:
        self._readout, self._sequence = readout, sequence
        network, low = readout.network, proven_floor(readout.network, "std", domain)
        outputs = Outputs(network, domain.lower, domain.upper)
        self._shortfall = max(-low, 0.0)
        if not self._shortfall <= NEGLIGIBLE * outputs.magnitude("std"):
            network, self._shortfall = with_positive_std(network), 0.0
            outputs = Outputs(network, domain.lower, domain.upper)
        self._outputs = outputs
        self.floor = max(low, 0.0)

    def coordinates(self, points: FloatArray) -> FloatArray:
        """Return mean and std (n, 2)."""
        return np.column_stack(self._readout.moments(points))

    def std_of(self, second: FloatArray) -> FloatArray:
        """Return the std itself."""
        return second

    def std_slope(self, second: float) -> float:
        """Return 1."""
        return 1.0

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
    """Mean and ``-relu(raw)`` of a `SmoothReadout`.

    Parameters
    ----------
    readout : SmoothReadout
    domain : Domain
    sequence : Sequence
        Solves the problems.
    """

    limits = (-math.inf, 0.0)

    def __init__(self, readout: SmoothReadout, domain: Domain, sequence: Sequence) -> None:
        self._readout, self._sequence = readout, sequence
        self._outputs = Outputs(readout.network, domain.lower, domain.upper)
        self.floor = smooth_floor(readout)

    def coordinates(self, points: FloatArray) -> FloatArray:
        """Return mean and -relu(raw) (n, 2)."""
        network = self._readout.network
        raw = np.maximum(network.evaluate(points, "relu_raw"), 0.0)
        return np.column_stack([self._readout.mean(points), -raw])

    def std_of(self, second: FloatArray) -> FloatArray:
        """Return the std."""
        return self._readout.std_of(np.maximum(-second, 0.0))

    def std_slope(self, second: float) -> float:
        """Return minus the slope of the readout."""
        return -float(self._readout.slope_of(max(-second, 0.0)))

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


def smooth_floor(readout: SmoothReadout) -> float:
    """Return a number not above the std of a smooth readout, which is least at relu(raw) = 0."""
    return max(float(readout.std_of(0.0)) * (1.0 - 1e-14), 0.0)


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
