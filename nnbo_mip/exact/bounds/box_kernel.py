"""The relaxations of `exact.bounds.relaxation`, compiled: one box after another, all in the cache.

For the widths that surrogates have (tens to a few hundred units) this is several times
faster than batched matrix products, whose time goes into elementwise passes over arrays
that do not fit the cache. Dead ReLUs are skipped, and the zeros outside a column's range
(the blocks of an ensemble) are not touched.

Work arrays are indexed by unit: ``low``, ``high`` hold the proven ends of inputs and
pre-activations; ``upper``, ``offset``, ``lower`` the ReLU lines; ``middle``, ``half``
(d + 1, units) the affine forms before a ReLU, ``after_middle``, ``after_half`` behind it.

References
----------
Zhang et al. (2018), CROWN [Zhang2018].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.compiled import compiled

# Sums may be reordered and fused: the rounding model allows any order.
FAST = {"reassoc", "contract"}


@compiled(fastmath=FAST, inline="always")
def _add_scaled(target, factor, values):
    # Slices rather than offsets: an index that may wrap round would not be vectorized.
    for i in range(len(target)):
        target[i] += factor * values[i]


@compiled(fastmath=FAST, inline="always")
def _dot(left, right):
    total = 0.0
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@compiled(fastmath=FAST)
def bound_by_intervals(net, t, low, high, center, spread):
    """Write center and spread of layer t's pre-activations by interval arithmetic."""
    first, end = net.offsets[t], net.offsets[t + 1]
    width = end - first
    for i in range(width):
        center[i] = net.bias[first + i]
        spread[i] = 0.0
    for pair in range(net.pair_start[t], net.pair_start[t + 1]):
        source = net.pair_source[pair]
        begin, size = net.offsets[source], net.offsets[source + 1] - net.offsets[source]
        for s in range(size):
            bottom, top = low[begin + s], high[begin + s]
            if source > 0:
                bottom, top = max(bottom, 0.0), max(top, 0.0)
            m, r = 0.5 * bottom + 0.5 * top, 0.5 * (top - bottom)
            if m == 0.0 and r == 0.0:
                continue
            at = net.pair_weights[pair] + s * width
            column = net.pair_column[pair] + s
            start, stop = net.column_first[column], net.column_last[column]
            _add_scaled(center[start:stop], m, net.weights[at + start : at + stop])
            _add_scaled(spread[start:stop], r, net.magnitudes[at + start : at + stop])


@compiled(fastmath=FAST)
def propagate_forms(net, t, d, lower, upper, offset, after_middle, after_half, middle, half):
    """Send the affine forms behind the ReLUs of the sources through layer t's weights."""
    first, end = net.offsets[t], net.offsets[t + 1]
    width = end - first
    middle[:, first:end] = 0.0
    half[:, first:end] = 0.0
    for i in range(first, end):
        middle[d, i] = net.bias[i]
    for pair in range(net.pair_start[t], net.pair_start[t + 1]):
        source = net.pair_source[pair]
        begin, size = net.offsets[source], net.offsets[source + 1] - net.offsets[source]
        for s in range(size):
            at = net.pair_weights[pair] + s * width
            column = net.pair_column[pair] + s
            start, stop = net.column_first[column], net.column_last[column]
            if source == 0:
                _add_scaled(
                    middle[s, first + start : first + stop],
                    1.0,
                    net.weights[at + start : at + stop],
                )
                continue
            unit = begin + s
            if upper[unit] == 0.0:
                continue  # a dead ReLU
            weights = net.weights[at + start : at + stop]
            for c in range(d + 1):
                target = middle[c, first + start : first + stop]
                _add_scaled(target, after_middle[c, unit], weights)
            if upper[unit] == lower[unit] and offset[unit] == 0.0 and not net.reads_forms[source]:
                continue  # a stable ReLU of a first layer is an affine form: no half difference
            magnitudes = net.magnitudes[at + start : at + stop]
            for c in range(d + 1):
                target = half[c, first + start : first + stop]
                _add_scaled(target, after_half[c, unit], magnitudes)


@compiled(fastmath=FAST)
def _intersect_with_forms(first, end, d, box_center, box_radius, middle, half, low, high):
    """Intersect the ends of a layer with the extremes of its forms over the box."""
    for i in range(first, end):
        top = middle[d, i] + half[d, i]
        bottom = middle[d, i] - half[d, i]
        for c in range(d):
            above, below = middle[c, i] + half[c, i], middle[c, i] - half[c, i]
            top += above * box_center[c] + abs(above) * box_radius[c]
            bottom += below * box_center[c] - abs(below) * box_radius[c]
        high[i] = min(high[i], top)
        low[i] = max(low[i], bottom)


@compiled(fastmath=FAST)
def draw_lines(low, high, lower, upper, offset):
    """Write the CROWN lines of a layer's ReLUs; all arguments are slices of the layer."""
    for i in range(len(low)):
        bottom, top = low[i], high[i]
        crossing = bottom < 0.0 and top > 0.0
        stable = 1.0 if bottom >= 0.0 else 0.0
        slope = top / (top - bottom if crossing else 1.0)
        flat = 1.0 if top > -bottom else 0.0
        upper[i] = slope if crossing else stable
        lower[i] = flat if crossing else stable
        offset[i] = -slope * bottom if crossing else 0.0


@compiled(fastmath=FAST)
def _forms_after_relu(first, end, d, lower, upper, offset, middle, half, after_middle, after_half):
    """Send a layer's forms through its lines."""
    for c in range(d + 1):
        for i in range(first, end):
            same, cross = 0.5 * (upper[i] + lower[i]), 0.5 * (upper[i] - lower[i])
            m, h = middle[c, i], half[c, i]
            lift = 0.5 * offset[i] if c == d else 0.0
            after_middle[c, i] = same * m + cross * h + lift
            after_half[c, i] = cross * m + same * h + lift


@compiled(fastmath=FAST)
def weigh_outputs(net, layers, row, weight):
    """Add the coefficients of a weighted sum of outputs to ``weight``; return its constant."""
    head = layers + 1
    first, end = net.offsets[head], net.offsets[head + 1]
    width = end - first
    for pair in range(net.pair_start[head], net.pair_start[head + 1]):
        source = net.pair_source[pair]
        begin, size = net.offsets[source], net.offsets[source + 1] - net.offsets[source]
        if width == 1:
            at = net.pair_weights[pair]
            _add_scaled(weight[begin : begin + size], row[0], net.weights[at : at + size])
            continue
        for s in range(size):
            at = net.pair_weights[pair] + s * width
            column = net.pair_column[pair] + s
            start, stop = net.column_first[column], net.column_last[column]
            weight[begin + s] += _dot(net.weights[at + start : at + stop], row[start:stop])
    return _dot(net.bias[first:end], row)


@compiled(fastmath=FAST)
def carry_to_input(net, layers, lower, upper, offset, weight, constant):
    """Carry the coefficients of a sum of units to the input; return the constant.

    ``weight`` (units,) holds them and receives the coefficient found on every unit.
    """
    passed, rising = np.empty(len(weight)), np.empty(len(weight))
    for t in range(layers, 0, -1):
        first, end = net.offsets[t], net.offsets[t + 1]
        width = end - first
        for i in range(width):
            unit = first + i
            a = weight[unit]
            rising[i] = max(a, 0.0)
            passed[i] = rising[i] * upper[unit] + (a - rising[i]) * lower[unit]
        constant += _dot(rising[:width], offset[first:end])
        constant += _dot(passed[:width], net.bias[first:end])
        for pair in range(net.pair_start[t], net.pair_start[t + 1]):
            source = net.pair_source[pair]
            begin, size = net.offsets[source], net.offsets[source + 1] - net.offsets[source]
            for s in range(size):
                if source > 0 and upper[begin + s] == 0.0:
                    continue  # a dead ReLU passes nothing on
                at = net.pair_weights[pair] + s * width
                column = net.pair_column[pair] + s
                start, stop = net.column_first[column], net.column_last[column]
                weight[begin + s] += _dot(net.weights[at + start : at + stop], passed[start:stop])
    return constant


@compiled(fastmath=FAST)
def improve_slopes(net, layers, corner, low, high, weight, upper, offset, lower, step, output, z):
    """Move the lower slopes against the derivative of the bound at `corner`.

    The bound is attained there by pre-activations z of the relaxed network; its
    derivative with respect to a slope in use (coefficient a < 0) is a z.
    """
    for c in range(len(corner)):
        output[c] = corner[c]
    for t in range(1, layers + 1):
        first, end = net.offsets[t], net.offsets[t + 1]
        width = end - first
        for i in range(width):
            z[i] = net.bias[first + i]
        for pair in range(net.pair_start[t], net.pair_start[t + 1]):
            source = net.pair_source[pair]
            begin, size = net.offsets[source], net.offsets[source + 1] - net.offsets[source]
            for s in range(size):
                value = output[begin + s]
                if value == 0.0:
                    continue
                at = net.pair_weights[pair] + s * width
                column = net.pair_column[pair] + s
                start, stop = net.column_first[column], net.column_last[column]
                _add_scaled(z[start:stop], value, net.weights[at + start : at + stop])
        for i in range(width):
            unit = first + i
            if weight[unit] >= 0.0:
                output[unit] = upper[unit] * z[i] + offset[unit]
                continue
            output[unit] = lower[unit] * z[i]
            if low[unit] < 0.0 < high[unit]:
                share = z[i] / (0.5 * max(high[unit], -low[unit]))
                moved = lower[unit] + step * min(max(share, -1.0), 1.0)
                lower[unit] = min(max(moved, 0.0), 1.0)


@compiled(fastmath=FAST)
def place_box(lower_ends, upper_ends, b, low, high, center, radius):
    """Write the ends of box b, and a center and radius that contain it in real arithmetic."""
    for c in range(lower_ends.shape[0]):
        low[c], high[c] = lower_ends[c, b], upper_ends[c, b]
        center[c] = 0.5 * low[c] + 0.5 * high[c]
        half = 0.5 * (high[c] - low[c])
        radius[c] = half * (1.0 + 4e-16) + 4e-16 * abs(center[c]) + 1e-323


@compiled(fastmath=FAST)
def bound_layers(
    net, layers, box_center, box_radius, low, high, lower, upper, offset,
    middle, half, after_middle, after_half, center, spread,
):  # fmt: skip
    """Write ends and lines of every ReLU layer over the box in ``low``, ``high``, and its forms."""
    d = len(box_center)
    for t in range(1, layers + 1):
        first, end = net.offsets[t], net.offsets[t + 1]
        bound_by_intervals(net, t, low, high, center, spread)
        for i in range(end - first):
            low[first + i] = center[i] - spread[i]
            high[first + i] = center[i] + spread[i]
        if net.wants_forms[t] or net.reads_forms[t]:
            propagate_forms(net, t, d, lower, upper, offset, after_middle, after_half, middle, half)
        if net.reads_forms[t]:
            _intersect_with_forms(first, end, d, box_center, box_radius, middle, half, low, high)
        for i in range(first, end):
            low[i] -= net.errors[i]
            high[i] += net.errors[i]
        draw_lines(
            low[first:end], high[first:end], lower[first:end], upper[first:end],
            offset[first:end],
        )  # fmt: skip
        if net.wants_forms[t]:
            _forms_after_relu(
                first, end, d, lower, upper, offset, middle, half, after_middle, after_half
            )


@compiled(fastmath=FAST)
def widest_layer(net, layers):
    """Return the largest number of units of a ReLU layer, at least 1."""
    widest = 1
    for t in range(1, layers + 1):
        widest = max(widest, net.offsets[t + 1] - net.offsets[t])
    return widest


@compiled(fastmath=FAST)
def bound_boxes(net, lower_ends, upper_ends, level, slope_steps, slopes, constants, bounds):
    """Write an affine upper bound of the only output for each box.

    Parameters
    ----------
    net : KernelNetwork
    lower_ends, upper_ends : (d, B) arrays
    level : float
        Boxes whose bound is not above it get no slope steps.
    slope_steps : int
    slopes, constants, bounds : (d, B), (B,), (B,) arrays
        Receive ``f(x) <= slopes . x + constants <= bounds`` over each box.
    """
    d = lower_ends.shape[0]
    layers = len(net.offsets) - 3
    units = net.offsets[layers + 1]
    widest = widest_layer(net, layers)
    low, high = np.zeros(units), np.zeros(units)
    lower, upper, offset = np.zeros(units), np.zeros(units), np.zeros(units)
    middle, half = np.zeros((d + 1, units)), np.zeros((d + 1, units))
    after_middle, after_half = np.zeros((d + 1, units)), np.zeros((d + 1, units))
    weight, output = np.zeros(units), np.zeros(units)
    center, spread = np.zeros(widest), np.zeros(widest)
    box_center, box_radius, corner = np.zeros(d), np.zeros(d), np.zeros(d)
    error, row = net.errors[units], np.ones(1)
    for b in range(lower_ends.shape[1]):
        place_box(lower_ends, upper_ends, b, low, high, box_center, box_radius)
        bound_layers(
            net, layers, box_center, box_radius, low, high, lower, upper, offset,
            middle, half, after_middle, after_half, center, spread,
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
            if step == slope_steps or bounds[b] <= level:
                break
            for c in range(d):
                corner[c] = upper_ends[c, b] if weight[c] > 0.0 else lower_ends[c, b]
            improve_slopes(
                net, layers, corner, low, high, weight, upper, offset, lower,
                1.0 / (step + 1), output, center,
            )  # fmt: skip
