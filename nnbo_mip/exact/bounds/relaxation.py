r"""Linear relaxations of a network over many boxes at once (CROWN).

Over a box every pre-activation z is kept between two affine forms of the input,

    M(x) - H(x) <= z(x) <= M(x) + H(x),

M the middle and H the half difference. An affine map sends them to

    M_t = b_t + sum_k W_{t,k} M'_k,      H_t = sum_k |W_{t,k}| H'_k,

two matrix products instead of the four of the usual sign split. With proven
l <= z <= u a ReLU lies between ``s_l z`` and ``s_u z + o``, where

    l >= 0:       s_l = s_u = 1, o = 0
    u <= 0:       s_l = s_u = 0, o = 0
    l < 0 < u:    s_u = u / (u - l), o = -s_u l,  s_l = 1 if u > -l else 0,

so with p = (s_u + s_l)/2 and q = (s_u - s_l)/2 its forms are

    M' = p M + q H + o/2,      H' = q M + p H + o/2.

For layers that read only first layers this equals the backward CROWN pass. For deeper
layers the backward pass, which carries the rows of the layer to the input before it
takes signs, is tighter and dearer. The output always gets the backward pass, followed by
a few steps on the lower slopes (alpha-CROWN).

All arrays carry the batch last, so that one matrix product serves all boxes. Computed
bounds are widened by the constants of `exact.rounding`, which makes them true in real
arithmetic.

References
----------
Zhang et al. (2018), CROWN [Zhang2018].
Ehlers (2017), the triangle relaxation of a ReLU [Ehlers2017].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.rounding import RoundingModel, center_and_radius
from nnbo_mip.network.graph.affine import Affine, dense
from nnbo_mip.network.graph.graph import Network


@dataclass(frozen=True, eq=False)
class ReluLines:
    """Lines round the ReLUs of a layer over each box; all (n, B).

    ``lower * z <= relu(z) <= upper * z + offset`` for ``low <= z <= high``.
    """

    low: FloatArray
    high: FloatArray
    lower: FloatArray
    upper: FloatArray
    offset: FloatArray

    @staticmethod
    def within(low: FloatArray, high: FloatArray) -> ReluLines:
        """Return the CROWN lines of ReLUs with proven pre-activation bounds (n, B)."""
        crossing = (low < 0.0) & (high > 0.0)
        active = (low >= 0.0).astype(np.float64)
        slope = np.where(crossing, high / np.where(crossing, high - low, 1.0), active)
        offset = np.where(crossing, -slope * low, 0.0)
        flat = np.where(crossing, (high > -low).astype(np.float64), active)
        return ReluLines(low, high, flat, slope, offset)

    def take(self, boxes: npt.NDArray[np.intp]) -> ReluLines:
        """Return the lines of some boxes of the batch."""
        return ReluLines(
            self.low[:, boxes],
            self.high[:, boxes],
            self.lower[:, boxes],
            self.upper[:, boxes],
            self.offset[:, boxes],
        )


@dataclass(frozen=True, eq=False)
class LinearBounds:
    """Affine upper bounds of the output, one a box: ``f(x) <= slopes . x + constant``."""

    slopes: FloatArray  # (d, B)
    constant: FloatArray  # (B,)
    bound: FloatArray  # (B,) proven largest value over the box
    loose: FloatArray | None = None  # (d, B) what splits take off beside the slopes' part

    def goal(self, level: float) -> float:
        """Return what a plane must not exceed where f is to be at most `level`."""
        return level

    def values_below(self, largest: FloatArray, level: float) -> FloatArray:
        """Turn proven largest values of the planes (B,) into bounds of f."""
        return largest


@dataclass(frozen=True, eq=False)
class _AffineForms:
    """Middle and half-difference forms: coefficients (n, d, B) and constants (n, B)."""

    middle: FloatArray
    half: FloatArray
    middle_constant: FloatArray
    half_constant: FloatArray


class _Layer:
    """Dense weights of an affine map, with what every pass needs of them."""

    def __init__(self, affine: Affine) -> None:
        self.bias = affine.bias
        self.weights = {source: dense(matrix) for source, matrix in affine.terms.items()}
        self.magnitudes = {source: np.abs(matrix) for source, matrix in self.weights.items()}
        self.width = affine.width

    @property
    def hidden_sources(self) -> list[int]:
        return [source for source in self.weights if source > 0]


class Relaxer:
    """Bounds of one network over batches of boxes.

    Parameters
    ----------
    network : Network
        A network with one output.
    rounding : RoundingModel
        Error constants of the network over a box that contains all boxes asked for.
    tight : bool
        Whether every deeper layer gets the backward pass, whatever it costs. Otherwise
        only layers with no more rows than the input has coordinates do: measured on
        three layers of 32 units and five inputs, the forms need as many boxes and a
        third of the time.
    """

    def __init__(self, network: Network, rounding: RoundingModel, tight: bool = False) -> None:
        self.n_inputs = network.n_inputs
        self.rounding = rounding
        self._layers = [_Layer(affine) for affine in network.layers]
        self._head = _Layer(network.head)
        self._backward = [
            self._is_deep(layer) and (tight or layer.width <= self.n_inputs)
            for layer in self._layers
        ]
        self._forms_wanted = self._find_wanted_forms()

    @property
    def depth(self) -> int:
        """Number of ReLU layers."""
        return len(self._layers)

    def floats_per_box(self) -> int:
        """Float64 values that the largest intermediate array holds for one box."""
        widest = max((layer.width for layer in self._layers), default=1)
        sizes = [widest * (self.n_inputs if any(self._forms_wanted) else 1)]
        for layer, backward in zip(self._layers, self._backward, strict=True):
            if backward:
                sizes.append(2 * layer.width * widest)
        return max(sizes)

    def _is_deep(self, layer: _Layer) -> bool:
        return any(self._layers[source - 1].hidden_sources for source in layer.hidden_sources)

    def _find_wanted_forms(self) -> list[bool]:
        """Say for each layer whether some later layer is bounded by its forms."""
        wanted = [False] * self.depth
        for index in range(self.depth - 1, -1, -1):
            layer = self._layers[index]
            if wanted[index] or (layer.hidden_sources and not self._backward[index]):
                for source in layer.hidden_sources:
                    wanted[source - 1] = True
        return wanted

    def bound(
        self, lower: FloatArray, upper: FloatArray, level: float, slope_steps: int
    ) -> LinearBounds:
        """Bound the output over boxes (d, B); see `lines` and `planes`."""
        return self.planes(lower, upper, self.lines(lower, upper), level, slope_steps)

    # -- pre-activations --------------------------------------------------------------

    def lines(self, lower: FloatArray, upper: FloatArray) -> list[ReluLines]:
        """Bound every ReLU layer over the boxes ``lower <= x <= upper``, (d, B) each."""
        center, radius = center_and_radius(lower, upper)
        ends = [(lower, upper)]
        forms: list[_AffineForms | None] = [None]
        lines: list[ReluLines] = []
        for index, layer in enumerate(self._layers):
            low, high = _intervals(layer, ends)
            before: _AffineForms | None = None
            bounded_by_forms = bool(layer.hidden_sources) and not self._backward[index]
            if self._forms_wanted[index] or bounded_by_forms:
                before = _propagate(layer, forms, center.shape)
            if bounded_by_forms and before is not None:
                form_low, form_high = _form_ends(before, center, radius)
                low, high = np.maximum(low, form_low), np.minimum(high, form_high)
            elif self._backward[index]:
                row_low, row_high = self._row_ends(layer, lines, center, radius)
                low, high = np.maximum(low, row_low), np.minimum(high, row_high)
            error = self.rounding.layers[index][:, None]
            current = ReluLines.within(low - error, high + error)
            lines.append(current)
            wanted = self._forms_wanted[index] and before is not None
            forms.append(_after_relu(before, current) if wanted and before else None)
            ends.append((np.maximum(current.low, 0.0), np.maximum(current.high, 0.0)))
        return lines

    def _row_ends(
        self, layer: _Layer, lines: list[ReluLines], center: FloatArray, radius: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Bound the rows of a layer by a backward pass: rows and negated rows in one."""
        coefficients = {
            source: np.concatenate([weights, -weights]).T[:, :, None]
            for source, weights in layer.weights.items()
        }
        constant = np.concatenate([layer.bias, -layer.bias])[:, None]
        slopes, constant = self._carry(coefficients, constant, lines, [x.lower for x in lines])
        tops = constant + _dot(slopes, center) + _dot(np.abs(slopes), radius)
        return -tops[layer.width :], tops[: layer.width]

    def _carry(
        self,
        coefficients: dict[int, FloatArray],
        constant: FloatArray,
        lines: list[ReluLines],
        lower_slopes: list[FloatArray],
        trace: dict[int, FloatArray] | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Carry upper bounds ``sum_k C_k . h_k + constant`` down to the input.

        Parameters
        ----------
        coefficients : mapping of source to (n_k, R, B or 1) array
            R rows over hidden sources and the input; consumed.
        constant : (R, B or 1) array
        lines : list of ReluLines
            Of the layers below the rows.
        lower_slopes : list of (n_k, B) arrays
            Slopes of the lower lines, in [0, 1]; used where a coefficient is negative.
        trace : dict, optional
            Receives the coefficients found on each ReLU layer.

        Returns
        -------
        slopes : (d, R, B) array
        constant : (R, B) array
        """
        batch = lines[0].low.shape[1] if lines else 1
        for source in range(len(lines), 0, -1):
            found = coefficients.pop(source, None)
            if found is None:
                continue
            if trace is not None:
                trace[source] = found
            line, layer = lines[source - 1], self._layers[source - 1]
            positive = np.maximum(found, 0.0)
            constant = constant + (positive * line.offset[:, None]).sum(axis=0)
            passed = positive * line.upper[:, None]
            passed += (found - positive) * lower_slopes[source - 1][:, None]
            flat = passed.reshape(layer.width, -1)
            constant = constant + (layer.bias @ flat).reshape(passed.shape[1:])
            for below, weights in layer.weights.items():
                moved = (weights.T @ flat).reshape(-1, *passed.shape[1:])
                known = coefficients.get(below)
                coefficients[below] = moved if known is None else known + moved
        rows = constant.shape[0]
        slopes = coefficients.get(0, np.zeros((self.n_inputs, rows, 1)))
        shape = (rows, batch)
        return (
            np.broadcast_to(slopes, (self.n_inputs, *shape)),
            np.broadcast_to(constant, shape),
        )

    # -- output -----------------------------------------------------------------------

    def planes(
        self,
        lower: FloatArray,
        upper: FloatArray,
        lines: list[ReluLines],
        level: float = -np.inf,
        slope_steps: int = 0,
    ) -> LinearBounds:
        """Bound the output from above over each box by an affine function.

        Parameters
        ----------
        lower, upper : (d, B) arrays
            The boxes.
        lines : list of ReluLines
            What `lines` returned for them.
        level : float
            Boxes whose bound is not above it get no slope steps: it is enough.
        slope_steps : int
            Steps on the lower slopes; each keeps the better plane.
        """
        center, radius = center_and_radius(lower, upper)
        lower_slopes = [line.lower for line in lines]
        trace: dict[int, FloatArray] = {}
        best = self._output_planes(lines, lower_slopes, center, radius, trace)
        if not lines or not slope_steps:
            return best
        open_boxes = np.flatnonzero(best.bound > level)
        if len(open_boxes) == 0:
            return best
        slopes, constant, bound = (a.copy() for a in (best.slopes, best.constant, best.bound))
        center, radius = center[:, open_boxes], radius[:, open_boxes]
        lines = [line.take(open_boxes) for line in lines]
        lower_slopes = [line.lower for line in lines]
        trace = {source: _take_last(found, open_boxes) for source, found in trace.items()}
        tried = LinearBounds(slopes[:, open_boxes], constant[open_boxes], bound[open_boxes])
        for step in range(slope_steps):
            corner = center + np.sign(tried.slopes) * radius
            lower_slopes = self._better_slopes(corner, lines, lower_slopes, trace, 1.0 / (step + 1))
            trace = {}
            tried = self._output_planes(lines, lower_slopes, center, radius, trace)
            better = tried.bound < bound[open_boxes]
            chosen = open_boxes[better]
            slopes[:, chosen] = tried.slopes[:, better]
            constant[chosen] = tried.constant[better]
            bound[chosen] = tried.bound[better]
        return LinearBounds(slopes, constant, bound)

    def _output_planes(
        self,
        lines: list[ReluLines],
        lower_slopes: list[FloatArray],
        center: FloatArray,
        radius: FloatArray,
        trace: dict[int, FloatArray],
    ) -> LinearBounds:
        coefficients = {
            source: weights.T[:, :, None] for source, weights in self._head.weights.items()
        }
        constant = self._head.bias[:, None]
        slopes, constant = self._carry(coefficients, constant, lines, lower_slopes, trace)
        slopes = np.broadcast_to(slopes[:, 0], center.shape)
        constant = np.broadcast_to(constant[0] + self.rounding.output, center.shape[1:])
        bound = constant + _dot(slopes, center) + _dot(np.abs(slopes), radius)
        return LinearBounds(slopes, constant, bound)

    def _better_slopes(
        self,
        corner: FloatArray,
        lines: list[ReluLines],
        lower_slopes: list[FloatArray],
        trace: dict[int, FloatArray],
        step: float,
    ) -> list[FloatArray]:
        """Move the lower slopes against the derivative of the bound.

        The bound is attained at `corner` by pre-activations z of the relaxed network;
        its derivative with respect to a lower slope in use (coefficient a < 0) is a z,
        so the slope should rise where z > 0 and fall where z < 0.
        """
        sources = [corner]
        moved: list[FloatArray] = []
        for index, layer in enumerate(self._layers):
            line = lines[index]
            z = layer.bias[:, None] + sum(w @ sources[k] for k, w in layer.weights.items())
            found = trace.get(index + 1)
            if found is None:
                sources.append(np.maximum(z, 0.0))
                moved.append(lower_slopes[index])
                continue
            negative = found[:, 0] < 0.0
            old = lower_slopes[index]
            sources.append(np.where(negative, old * z, line.upper * z + line.offset))
            crossing = (line.low < 0.0) & (line.high > 0.0)
            scale = 0.5 * np.maximum(line.high, -line.low)
            change = step * np.clip(z / np.where(crossing, scale, 1.0), -1.0, 1.0)
            moved.append(np.where(crossing & negative, np.clip(old + change, 0.0, 1.0), old))
        return moved


def _intervals(
    layer: _Layer, ends: list[tuple[FloatArray, FloatArray]]
) -> tuple[FloatArray, FloatArray]:
    middle: FloatArray = np.broadcast_to(layer.bias[:, None], (layer.width, ends[0][0].shape[1]))
    spread: FloatArray = np.zeros_like(middle)
    for source, weights in layer.weights.items():
        low, high = ends[source]
        middle = middle + weights @ (0.5 * low + 0.5 * high)
        spread = spread + layer.magnitudes[source] @ (0.5 * (high - low))
    return middle - spread, middle + spread


def _propagate(
    layer: _Layer, forms: list[_AffineForms | None], box_shape: tuple[int, ...]
) -> _AffineForms:
    """Send forms through an affine map."""
    d, batch = box_shape
    shape = (layer.width, d, batch)
    middle = np.zeros((layer.width, d, 1))
    half: FloatArray = np.zeros((1, 1, 1))
    middle_constant: FloatArray = layer.bias[:, None]
    half_constant: FloatArray = np.zeros((1, 1))
    for source, weights in layer.weights.items():
        form = forms[source]
        if form is None:  # the input itself
            middle = middle + weights[:, :, None]
            continue
        magnitudes, n = layer.magnitudes[source], weights.shape[1]
        middle = middle + (weights @ form.middle.reshape(n, -1)).reshape(shape)
        half = half + (magnitudes @ form.half.reshape(n, -1)).reshape(shape)
        middle_constant = middle_constant + weights @ form.middle_constant
        half_constant = half_constant + magnitudes @ form.half_constant
    return _AffineForms(middle, half, middle_constant, half_constant)


def _after_relu(form: _AffineForms, line: ReluLines) -> _AffineForms:
    """Send forms through the ReLUs' lines."""
    same = 0.5 * (line.upper + line.lower)
    cross = 0.5 * (line.upper - line.lower)
    lift = 0.5 * line.offset
    return _AffineForms(
        same[:, None] * form.middle + cross[:, None] * form.half,
        cross[:, None] * form.middle + same[:, None] * form.half,
        same * form.middle_constant + cross * form.half_constant + lift,
        cross * form.middle_constant + same * form.half_constant + lift,
    )


def _form_ends(
    form: _AffineForms, center: FloatArray, radius: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least value of M - H and the largest of M + H over each box."""
    high = form.middle_constant + form.half_constant
    low = form.middle_constant - form.half_constant
    for j in range(center.shape[0]):
        above = form.middle[:, j] + form.half[:, j]
        below = form.middle[:, j] - form.half[:, j]
        high = high + above * center[j] + np.abs(above) * radius[j]
        low = low + below * center[j] - np.abs(below) * radius[j]
    return low, high


def _dot(coefficients: FloatArray, points: FloatArray) -> FloatArray:
    """Sum ``coefficients[j, …, b] * points[j, b]`` over j."""
    if coefficients.ndim == 2:
        return np.asarray((coefficients * points).sum(axis=0))
    return np.asarray((coefficients * points[:, None]).sum(axis=0))


def _take_last(values: FloatArray, index: npt.NDArray[np.intp]) -> FloatArray:
    return values if values.shape[-1] == 1 else values[..., index]
