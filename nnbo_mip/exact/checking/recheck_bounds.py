r"""Upper bounds of a network over many boxes, written for checking and shared with no engine.

Hidden layers go forwards as two affine forms of the input, ``L(x) <= z(x) <= U(x)``:

    U_l = b_l + sum_k W+ U'_k + W- L'_k,      L_l = b_l + sum_k W+ L'_k + W- U'_k,

with W+ and W- the positive and negative parts. With proven ends ``l <= z <= u`` (from the
forms or from plain intervals, whichever is tighter) a ReLU lies between lines

    t z <= relu(z) <= s z + o,      s = u/(u - l), o = -s l, 0 <= t <= 1   where l < 0 < u,

and is a line itself elsewhere. The output goes backwards through the same lines, so that

    f(x) <= a . x + c      on the box,

and the slopes t are moved halfway towards the better of 0 and 1 at the point where this
plane is largest, a few times; the best plane is kept.

Rounding. Every computed number is a sum of products along paths of the network. A sum of
N rounded operations is off by at most ``gamma_N`` times the sum of the magnitudes of its
terms, and those are bounded, for the whole domain, by

    m_0 = |x|,    M_l = |b_l| + sum_k |W| M_k,    m_l = |b_l| + sum_k |W| (m_k + M_k),

the second term in the bracket for the offsets o. Those constants widen every bound, and so
does what underflow takes from values and, times the ranges of units, from coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.graph import Network

SLOPE_ROUNDS = 3
VANISHING = 2.0**-1070
"""More than any product loses by underflow."""

OPERATIONS = 12
"""Rounded operations that a term can meet between two affine maps, counted generously."""


@dataclass(frozen=True, eq=False)
class LinearBounds:
    """``f(x) <= slopes . x + constant`` on each box, and which ReLUs are fixed there.

    Parameters
    ----------
    slopes : (d, B) array
    constant : (B,) array
        Contains every rounding error.
    largest : (B,) array
        Largest value of the plane on its box, rounded up.
    steepness : (d, B) array
        What a cut promises for each unit of width, coordinate by coordinate; proves nothing.
    active, unstable : lists of (n_l, B) bool arrays
        ReLUs proven to pass their input; ReLUs that may do either. The rest gives zero.
    """

    slopes: FloatArray
    constant: FloatArray
    largest: FloatArray
    steepness: FloatArray
    active: list[npt.NDArray[np.bool_]]
    unstable: list[npt.NDArray[np.bool_]]

    def select(self, mask: npt.NDArray[np.bool_]) -> LinearBounds:
        """Return the planes of the boxes where `mask` (B,) holds."""
        return LinearBounds(
            self.slopes[:, mask],
            self.constant[mask],
            self.largest[mask],
            self.steepness[:, mask],
            [part[:, mask] for part in self.active],
            [part[:, mask] for part in self.unstable],
        )


@dataclass(frozen=True, eq=False)
class _Lines:
    """``lower z <= relu(z) <= upper z + offset``, each (n, B)."""

    lower: FloatArray
    upper: FloatArray
    offset: FloatArray


class BoxBounder:
    """Bounds one network of one output over boxes inside ``lower <= x <= upper``."""

    def __init__(self, network: Network, lower: FloatArray, upper: FloatArray) -> None:
        self.dimension = network.n_inputs
        self.depth = len(network.layers)
        self._bias = [affine.bias[:, None] for affine in network.layers]
        self._weights = [{k: a.dense(k) for k in a.terms} for a in network.layers]
        self._signed = [
            {k: (np.maximum(w, 0.0), np.minimum(w, 0.0)) for k, w in terms.items()}
            for terms in self._weights
        ]
        self._head = {k: network.head.dense(k)[0][:, None] for k in network.head.terms}
        self._head_bias = float(network.head.bias[0])
        errors = rounding_errors(network, np.maximum(np.abs(lower), np.abs(upper)))
        self._errors = [error[:, None] for error in errors[:-1]]
        self.output_error = float(errors[-1][0])
        """Bound on the rounding of one forward pass, and of the constant of a plane."""

    @property
    def floats_per_box(self) -> int:
        """Size of the largest intermediate array, a box."""
        widest = max((b.shape[0] for b in self._bias), default=1)
        return 2 * widest * (self.dimension + 1)

    def planes(self, lower: FloatArray, upper: FloatArray) -> LinearBounds:
        """Bound f over boxes given by their ends, (d, B) each."""
        ends, lines = self._forward(lower, upper)
        slopes, constant, adjoints = self._backward(lines, lower.shape[1])
        largest = self._largest(slopes, constant, lower, upper)
        for _ in range(SLOPE_ROUNDS if self.depth > 1 else 1):
            corners = np.where(slopes > 0.0, upper, lower)
            lines = self._better_lines(lines, adjoints, ends, corners)
            new_slopes, new_constant, adjoints = self._backward(lines, lower.shape[1])
            new_largest = self._largest(new_slopes, new_constant, lower, upper)
            better = new_largest < largest
            slopes = np.where(better, new_slopes, slopes)
            constant = np.where(better, new_constant, constant)
            largest = np.minimum(largest, new_largest)
        return LinearBounds(
            slopes,
            constant + self.output_error,
            largest,
            self._steepness(slopes, ends, lines, adjoints, upper - lower),
            [low >= 0.0 for low, _ in ends],
            [(low < 0.0) & (high > 0.0) for low, high in ends],
        )

    def _steepness(
        self,
        slopes: FloatArray,
        ends: list[tuple[FloatArray, FloatArray]],
        lines: list[_Lines],
        adjoints: list[FloatArray],
        width: FloatArray,
    ) -> FloatArray:
        return np.abs(slopes)

    def _largest(
        self, slopes: FloatArray, constant: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> FloatArray:
        corner_terms = np.maximum(slopes * lower, slopes * upper).sum(axis=0)
        return np.asarray(constant + corner_terms + self.output_error)

    def ends(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return proven ends (n,) of all pre-activations over one box (d,), layer by layer."""
        pairs, _ = self._forward(lower[:, None], upper[:, None])
        low = [pair[0][:, 0] for pair in pairs]
        high = [pair[1][:, 0] for pair in pairs]
        return np.concatenate([*low, np.empty(0)]), np.concatenate([*high, np.empty(0)])

    # -- hidden layers ----------------------------------------------------------------

    def _forward(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[list[tuple[FloatArray, FloatArray]], list[_Lines]]:
        """Return proven ends of every pre-activation, and lines round every ReLU."""
        middle, radius = 0.5 * (lower + upper), 0.5 * (upper - lower)
        intervals = [(lower, upper)]
        forms: list[tuple[FloatArray, FloatArray]] = []  # (n, d + 1, B): low and high
        ends, lines = [], []
        for position in range(self.depth):
            low_form, high_form = self._affine_forms(position, forms, lower.shape[1])
            low, high = _smallest(low_form, middle, radius), -_smallest(-high_form, middle, radius)
            plain_low, plain_high = self._plain_ends(position, intervals)
            low = np.maximum(low, plain_low) - self._errors[position]
            high = np.minimum(high, plain_high) + self._errors[position]
            line = _relu_lines(low, high)
            low_form = low_form * line.lower[:, None, :]
            high_form = high_form * line.upper[:, None, :]
            high_form[:, -1, :] += line.offset
            forms.append((low_form, high_form))
            intervals.append((np.maximum(low, 0.0), np.maximum(high, 0.0)))
            ends.append((low, high))
            lines.append(line)
        return ends, lines

    def _plain_ends(
        self, position: int, intervals: list[tuple[FloatArray, FloatArray]]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the ends (n, B) of a layer's pre-activations by interval arithmetic."""
        bias, signed = self._bias[position], self._signed[position]
        low = bias + sum(p @ intervals[k][0] + n @ intervals[k][1] for k, (p, n) in signed.items())
        high = bias + sum(p @ intervals[k][1] + n @ intervals[k][0] for k, (p, n) in signed.items())
        return low, high

    def _affine_forms(
        self, position: int, forms: list[tuple[FloatArray, FloatArray]], boxes: int
    ) -> tuple[FloatArray, FloatArray]:
        width, columns = self._bias[position].shape[0], self.dimension + 1
        both = np.zeros((width, columns))
        both[:, -1] = self._bias[position][:, 0]
        if 0 in self._weights[position]:
            both[:, :-1] = self._weights[position][0]
        low = np.repeat(both[:, :, None], boxes, axis=2)
        high = low.copy()
        for source, (positive, negative) in self._signed[position].items():
            if source == 0:
                continue
            before_low, before_high = (form.reshape(len(form), -1) for form in forms[source - 1])
            shape = (width, columns, boxes)
            low += (positive @ before_low + negative @ before_high).reshape(shape)
            high += (positive @ before_high + negative @ before_low).reshape(shape)
        return low, high

    # -- output -----------------------------------------------------------------------

    def _backward(
        self, lines: list[_Lines], boxes: int
    ) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        """Return slopes (d, B) and constant (B,) of the plane, and the weights of each h_l."""
        widths = [self.dimension, *(len(bias) for bias in self._bias)]
        adjoints = [np.zeros((width, boxes)) for width in widths]
        for source, weights in self._head.items():
            adjoints[source] += weights
        constant = np.full(boxes, self._head_bias)
        for position in range(self.depth - 1, -1, -1):
            adjoint, line = adjoints[position + 1], lines[position]
            above, below = np.maximum(adjoint, 0.0), np.minimum(adjoint, 0.0)
            passed = above * line.upper + below * line.lower
            constant += (above * line.offset + passed * self._bias[position]).sum(axis=0)
            for source, weights in self._weights[position].items():
                adjoints[source] += weights.T @ passed
        return adjoints[0], constant, adjoints[1:]

    def _better_lines(
        self,
        lines: list[_Lines],
        adjoints: list[FloatArray],
        ends: list[tuple[FloatArray, FloatArray]],
        points: FloatArray,
    ) -> list[_Lines]:
        """Move the lower lines halfway to those that are best at the points (d, B)."""
        sources = [points]
        result = []
        for position, (line, (low, high)) in enumerate(zip(lines, ends, strict=True)):
            terms = self._weights[position].items()
            z = self._bias[position] + sum(w @ sources[k] for k, w in terms)
            used_above = adjoints[position] >= 0.0
            h = np.where(used_above, line.upper * z + line.offset, line.lower * z)
            moved = 0.5 * (line.lower + (z > 0.0))
            free = (low < 0.0) & (high > 0.0) & ~used_above
            result.append(_Lines(np.where(free, moved, line.lower), line.upper, line.offset))
            sources.append(h)
        return result


def _smallest(form: FloatArray, middle: FloatArray, radius: FloatArray) -> FloatArray:
    """Smallest value of forms (n, d + 1, B) over boxes."""
    result = form[:, -1, :].copy()
    for j in range(len(middle)):
        result += form[:, j, :] * middle[j] - np.abs(form[:, j, :]) * radius[j]
    return result


def _relu_lines(low: FloatArray, high: FloatArray) -> _Lines:
    unstable = (low < 0.0) & (high > 0.0)
    width = np.where(unstable, high - low, 1.0)
    passes = (low >= 0.0).astype(np.float64)
    upper = np.where(unstable, np.minimum(high / width, 1.0), passes)
    # The margin makes up for the rounding of the slope and of its products.
    offset = np.where(unstable, -upper * low + 1e-15 * width, 0.0)
    lower = np.where(unstable, (high > -low).astype(np.float64), passes)
    return _Lines(lower, upper, offset)


def rounding_errors(network: Network, size: FloatArray) -> list[FloatArray]:
    """Return, layer by layer and then for the output, what rounding can add; see the module."""
    ranges, sizes, gains, lengths = [size], [size], [np.ones_like(size)], [1]
    errors = []
    for affine in (*network.layers, network.head):
        weights = {k: np.abs(affine.dense(k)) for k in affine.terms}
        bias = np.abs(affine.bias)
        length = OPERATIONS + sum(w.shape[1] for w in weights.values()) + max(lengths)
        inflate = 1.0 + 4.0 * length * 2.0**-53
        range_ = inflate * (bias + sum(w @ ranges[k] for k, w in weights.items()))
        total = inflate * (bias + sum(w @ (sizes[k] + ranges[k]) for k, w in weights.items()))
        gain = inflate * (np.ones_like(bias) + sum(w @ gains[k] for k, w in weights.items()))
        # Forwards once and, for the output, backwards once: twice the operations.
        gamma = 2.0 * length * 2.0**-53 / (1.0 - 2.0 * length * 2.0**-53)
        # What underflows in a value grows by the gain, in a coefficient by a unit's range.
        reach = len(ranges) * sum(float(earlier.sum()) for earlier in (*ranges, *sizes))
        error = 2.0 * gamma * total + length * VANISHING * (gain + reach)
        errors.append(error)
        ranges.append(range_ + error)  # the ends that offsets are made of contain the error
        sizes.append(total)
        gains.append(gain)
        lengths.append(length)
    return errors
