"""Bounds of deep networks over boxes: every hidden layer by backward passes, compiled.

Affine forms of `box_kernel`, which go forwards, lose more with every layer. Here each unit that
may be of either sign is bounded by rows of its own that are carried to the input through the lines
of the layers below, from above and from below. That is dearer, and kept cheap by *marks*: a ReLU
that was proven to be on or off over a box is so over all parts of the box, and is not bounded
again. A search hands the marks of a box to its parts. Deep in a search few units are left.

Of a unit the likelier side goes first: where it settles the sign, the other is not needed.

References
----------
Zhang et al. (2018), CROWN [Zhang2018].
Wang et al. (2018), cuts of inputs by their influence [Wang2018].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.compiled import compiled
from nnbo_mip.exact.bounds.box_kernel import (
    FAST,
    bound_by_intervals,
    carry_to_input,
    draw_lines,
    improve_slopes,
    place_box,
    weigh_outputs,
    widest_layer,
)

ON, OFF = 1, -1
PLANE_SHARE = 0.5


@compiled(fastmath=FAST)
def _largest_of_unit(net, t, i, sign, lower, upper, offset, box_center, box_radius, weight):
    """Return an upper bound of ``sign * z_i`` of layer t, by a backward pass from its row."""
    first, end = net.offsets[t], net.offsets[t + 1]
    width = end - first
    weight[:first] = 0.0
    for pair in range(net.pair_start[t], net.pair_start[t + 1]):
        source = net.pair_source[pair]
        begin, size = net.offsets[source], net.offsets[source + 1] - net.offsets[source]
        at = net.pair_weights[pair] + i
        for s in range(size):
            weight[begin + s] += sign * net.weights[at + s * width]
    constant = sign * net.bias[first + i]
    constant = carry_to_input(net, t - 1, lower, upper, offset, weight, constant)
    for c in range(len(box_center)):
        constant += weight[c] * box_center[c] + abs(weight[c]) * box_radius[c]
    return constant


@compiled(fastmath=FAST)
def _spans_of_first(net, t, i, box_radius, spans):
    """Write how much unit i of a layer that reads inputs alone changes along each."""
    width = net.offsets[t + 1] - net.offsets[t]
    for pair in range(net.pair_start[t], net.pair_start[t + 1]):
        at = net.pair_weights[pair] + i
        for c in range(len(box_radius)):
            spans[net.offsets[t] + i, c] = abs(net.weights[at + c * width]) * box_radius[c]


@compiled(fastmath=FAST)
def _bound_unit(net, t, i, low, high, lower, upper, offset, box_center, box_radius, weight, spans):
    """Tighten the ends of unit i of layer t by one backward pass, or by two.

    ``spans`` (units, d) receives how much the unit may change along each coordinate.
    """
    unit = net.offsets[t] + i
    error = net.errors[unit]
    sign = 1.0 if high[unit] < -low[unit] else -1.0
    for _ in range(2):
        largest = _largest_of_unit(
            net, t, i, sign, lower, upper, offset, box_center, box_radius, weight
        )
        for c in range(len(box_center)):
            spans[unit, c] = abs(weight[c]) * box_radius[c]
        if sign > 0.0:
            high[unit] = min(high[unit], largest + error)
            if high[unit] <= 0.0:
                return
        else:
            low[unit] = max(low[unit], -largest - error)
            if low[unit] >= 0.0:
                return
        sign = -sign


@compiled(fastmath=FAST)
def _bound_layers(
    net, layers, box_center, box_radius, low, high, lower, upper, offset, marks, b,
    center, spread, weight, spans,
):  # fmt: skip
    """Write ends and lines of every ReLU layer over the box in ``low``, ``high``; mark ReLUs."""
    inputs = len(box_center)
    for t in range(1, layers + 1):
        first, end = net.offsets[t], net.offsets[t + 1]
        bound_by_intervals(net, t, low, high, center, spread)
        for i in range(end - first):
            unit = first + i
            low[unit] = center[i] - spread[i] - net.errors[unit]
            high[unit] = center[i] + spread[i] + net.errors[unit]
            mark = marks[unit - inputs, b]
            if mark == ON:
                low[unit] = max(low[unit], 0.0)
            elif mark == OFF:
                high[unit] = min(high[unit], 0.0)
            if not low[unit] < 0.0 < high[unit]:
                pass
            elif not net.reads_forms[t]:
                _spans_of_first(net, t, i, box_radius, spans)
            else:
                _bound_unit(
                    net, t, i, low, high, lower, upper, offset, box_center, box_radius,
                    weight, spans,
                )  # fmt: skip
            if low[unit] >= 0.0:
                marks[unit - inputs, b] = ON
            elif high[unit] <= 0.0:
                marks[unit - inputs, b] = OFF
        draw_lines(
            low[first:end], high[first:end], lower[first:end], upper[first:end],
            offset[first:end],
        )  # fmt: skip


@compiled(fastmath=FAST)
def _weigh_cuts(net, layers, weight, low, high, box_radius, spans, gains):
    """Write what a cut across each coordinate promises to take off the bound.

    Half of the plane's own change along it; and of what each open ReLU adds to the bound by its
    lines, the coordinate's share in how the unit changes over the box.
    """
    d = len(box_radius)
    for c in range(d):
        gains[c] = PLANE_SHARE * abs(weight[c]) * box_radius[c]
    for unit in range(d, net.offsets[layers + 1]):
        if not low[unit] < 0.0 < high[unit]:
            continue
        total = 0.0
        for c in range(d):
            total += spans[unit, c]
        if total > 0.0:
            lost = abs(weight[unit]) * high[unit] * low[unit] / (low[unit] - high[unit])
            for c in range(d):
                gains[c] += lost * spans[unit, c] / total


@compiled(fastmath=FAST)
def bound_deep_boxes(
    net, lower_ends, upper_ends, level, slope_steps, marks, slopes, constants, bounds, gains
):
    """Write an affine upper bound of the only output for each box; see `box_kernel.bound_boxes`.

    Parameters
    ----------
    net : KernelNetwork
    lower_ends, upper_ends : (d, B) arrays
    level : float
        Boxes whose bound is not above it get no slope steps.
    slope_steps : int
    marks : (n_relus, B) int8 array
        ON or OFF where a ReLU is known to be so over the box; what is found is added.
    slopes, constants, bounds : (d, B), (B,), (B,) arrays
        Receive ``f(x) <= slopes . x + constants <= bounds`` over each box.
    gains : (d, B) array
        Receives what a cut across each coordinate promises; see `_weigh_cuts`.
    """
    d = lower_ends.shape[0]
    layers = len(net.offsets) - 3
    units = net.offsets[layers + 1]
    widest = widest_layer(net, layers)
    low, high = np.zeros(units), np.zeros(units)
    lower, upper, offset = np.zeros(units), np.zeros(units), np.zeros(units)
    weight, output = np.zeros(units), np.zeros(units)
    center, spread = np.zeros(widest), np.zeros(widest)
    spans = np.zeros((units, d))
    box_center, box_radius, corner = np.zeros(d), np.zeros(d), np.zeros(d)
    error, row = net.errors[units], np.ones(1)
    for b in range(lower_ends.shape[1]):
        place_box(lower_ends, upper_ends, b, low, high, box_center, box_radius)
        _bound_layers(
            net, layers, box_center, box_radius, low, high, lower, upper, offset, marks, b,
            center, spread, weight, spans,
        )  # fmt: skip
        bounds[b] = np.inf
        for step in range(slope_steps + 1):
            weight[:] = 0.0
            constant = weigh_outputs(net, layers, row, weight) + error
            constant = carry_to_input(net, layers, lower, upper, offset, weight, constant)
            bound = constant
            for c in range(d):
                bound += weight[c] * box_center[c] + abs(weight[c]) * box_radius[c]
            if bound < bounds[b]:
                bounds[b], constants[b] = bound, constant
                for c in range(d):
                    slopes[c, b] = weight[c]
                _weigh_cuts(net, layers, weight, low, high, box_radius, spans, gains[:, b])
            if step == slope_steps or bounds[b] <= level:
                break
            for c in range(d):
                corner[c] = upper_ends[c, b] if weight[c] > 0.0 else lower_ends[c, b]
            improve_slopes(
                net, layers, corner, low, high, weight, upper, offset, lower,
                1.0 / (step + 1), output, center,
            )  # fmt: skip
