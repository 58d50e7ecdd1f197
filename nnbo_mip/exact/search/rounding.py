r"""How far float64 passes and linear relaxations can be from real arithmetic.

A dot product of n terms computed in floating point, in any order, differs from the
real one by at most ``gamma_n * sum |a||x|`` with ``gamma_n = n u / (1 - n u)`` and
``u = 2^-53`` (plus an absolute term for underflow, eta = 2^-1074 times what it can grow
to). Every quantity the engines compute
over a box (forward passes, interval bounds, linear relaxations with slopes in [0, 1]
and offsets of at most ``max|z|``) is a chain of such products whose summands are
bounded by those of the *magnitude network*

    m_0 = max(|lower|, |upper|),    m_l = |b_l| + sum_k |W_{l,k}| m_k,

so one constant a neuron, valid for the whole box and every box inside it, covers all
of them: ``error_l = gamma_N * m_l`` where N adds up the lengths of all products on a
path, with a factor for the few elementwise operations in between. Underflow adds
``eta N (G_l + sum_{k < l} |m_k|_1)``: a value that is off by eta reaches neuron l by the gain
``G_l = 1 + sum_k |W_{l,k}| G_k``, a coefficient of h_k that is off by eta meets a unit of
magnitude m_k. In float64 these
constants are about 1e-12 of the magnitudes, far below any useful gap, and cost nothing
a box.

References
----------
Higham (2002), gamma_n, errors of dot products [Higham2002].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.affine import Affine, dense
from nnbo_mip.network.graph.graph import Network

UNIT_ROUNDOFF = 2.0**-53
SMALLEST_SUBNORMAL = 2.0**-1074
LARGEST_FLOAT = float(np.finfo(np.float64).max)

LARGEST_MAGNITUDE = 1e120
"""Magnitudes up to which the engines work: they multiply two of them at most."""

OPERATIONS_PER_TERM = 8
"""Rounded operations a summand may meet between two affine maps: slope, offset,
product, sign split, concretization (bounded from above)."""


@dataclass(frozen=True, eq=False)
class RoundingModel:
    """Error bounds for float64 work over a box.

    Parameters
    ----------
    layers : tuple of (n_l,) arrays
        Error of any computed bound on, or value of, pre-activation l.
    outputs : (m,) array
        The same for the outputs.
    magnitudes : (m,) array
        Bounds on the outputs' absolute values that the magnitude network gives.
    largest : float
        The largest magnitude of any unit.
    """

    layers: tuple[FloatArray, ...]
    outputs: FloatArray
    magnitudes: FloatArray
    largest: float

    @property
    def output(self) -> float:
        """Error of the only output, or of any."""
        return float(self.outputs.max(initial=0.0))

    @property
    def magnitude(self) -> float:
        """Bound on the absolute value of the only output, or of any."""
        return float(self.magnitudes.max(initial=0.0))

    @property
    def is_useful(self) -> bool:
        """Whether products of what occurs stay far from overflow; else nothing is proven."""
        return self.largest < LARGEST_MAGNITUDE


def gamma(n: int) -> float:
    """Return ``n u / (1 - n u)``, rounded up; infinite once n u reaches 1/2."""
    product = n * UNIT_ROUNDOFF
    return float("inf") if product >= 0.5 else product / (1.0 - product) * (1.0 + 1e-9)


def rounded_up(number: Fraction) -> float:
    """Return the least float that is not below a fraction."""
    try:
        near = float(number)
    except OverflowError:
        return math.inf if number > 0 else -LARGEST_FLOAT
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def sum_above(first: float, second: float) -> float:
    """Return a float that is not below the sum of two: the least one, where both are finite."""
    if not (math.isfinite(first) and math.isfinite(second)):
        return first + second
    return rounded_up(Fraction(first) + Fraction(second))


def shares_above(count: int) -> FloatArray:
    """Return (count + 1,) floats that are not below the shares 0, 1 / count, …, 1."""
    return np.array([rounded_up(Fraction(k, count)) for k in range(count + 1)])


def rounding_model(network: Network, lower: FloatArray, upper: FloatArray) -> RoundingModel:
    """Compute the error constants of a network over a box ``lower <= x <= upper``."""
    with np.errstate(over="ignore", invalid="ignore"):  # `is_useful` says so
        return _rounding_model(network, lower, upper)


def _rounding_model(network: Network, lower: FloatArray, upper: FloatArray) -> RoundingModel:
    magnitudes = [np.maximum(np.abs(lower), np.abs(upper))]
    gains = [np.ones(network.n_inputs)]
    longest = [1]
    errors: list[FloatArray] = []
    for position, affine in enumerate((*network.layers, network.head), start=1):
        magnitude, gain, length = _propagate(affine, magnitudes, gains, longest)
        # A relaxation adds one offset of at most |z| for every layer it passes, so its
        # summands are at most (position + 1) times those of the magnitude network.
        factor = gamma(OPERATIONS_PER_TERM * length) * (position + 1)
        # A coefficient of a relaxation that underflows is multiplied by a unit's magnitude.
        reach = sum(float(earlier.sum()) for earlier in magnitudes) * (position + 1)
        underflow = SMALLEST_SUBNORMAL * OPERATIONS_PER_TERM * length * (gain + reach)
        errors.append(factor * magnitude + underflow)
        magnitudes.append(magnitude)
        gains.append(gain)
        longest.append(length)
    return RoundingModel(
        layers=tuple(errors[:-1]),
        outputs=errors[-1],
        magnitudes=magnitudes[-1],
        largest=float(np.max([m.max(initial=0.0) for m in (*magnitudes, *gains)])),
    )


def _propagate(
    affine: Affine,
    magnitudes: list[FloatArray],
    gains: list[FloatArray],
    longest: list[int],
) -> tuple[FloatArray, FloatArray, int]:
    """Return magnitude, gain (what an absolute error can grow to), longest path of summands."""
    magnitude = np.abs(affine.bias)
    gain = np.ones(affine.width)
    summands = 1
    path = 0
    for source in affine.terms:
        weights = np.abs(dense(affine.terms[source]))
        # A product that underflows loses less than a subnormal, however small it is.
        vanishing = SMALLEST_SUBNORMAL * np.count_nonzero(weights, axis=1)
        magnitude = magnitude + weights @ magnitudes[source] + vanishing
        gain = gain + weights @ gains[source]
        summands += weights.shape[1]
        path = max(path, longest[source])
    length = path + summands
    rounding_up = 1.0 + 2.0 * gamma(length)
    return magnitude * rounding_up, gain * rounding_up, length


def center_and_radius(lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return centers and radii whose boxes contain the given ones in real arithmetic."""
    center = 0.5 * lower + 0.5 * upper
    radius = 0.5 * (upper - lower)
    return center, radius * (1.0 + 4e-16) + 4e-16 * np.abs(center) + 1e-323
