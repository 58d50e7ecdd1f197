"""Bounds of several outputs, and of weighted sums of them that differ from box to box, compiled.

First every box gets the lines of its ReLUs and affine forms of all outputs; then a sum of
outputs, chosen with those in hand, is carried to the input. See `exact.bounds.box_kernel`.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.compiled import compiled
from nnbo_mip.exact.bounds.box_kernel import (
    FAST,
    bound_layers,
    carry_to_input,
    improve_slopes,
    place_box,
    propagate_forms,
    weigh_outputs,
    widest_layer,
)


@compiled(fastmath=FAST)
def bound_outputs(
    net, lower_ends, upper_ends, lows, highs, lowers, uppers, offsets, middles, halves
):
    """Write lines of all ReLUs and forms of all outputs for each box.

    Parameters
    ----------
    net : KernelNetwork
        Made with `output_forms`.
    lower_ends, upper_ends : (d, B) arrays
    lows, highs, lowers, uppers, offsets : (B, units) arrays
        Receive ends and lines.
    middles, halves : (B, d + 1, m) arrays
        Receive, by coefficients of x and constant, forms M and H of the outputs with
        ``M(x) - H(x) <= y <= M(x) + H(x)``, up to rounding.
    """
    d = lower_ends.shape[0]
    layers = len(net.offsets) - 3
    units, total = net.offsets[layers + 1], net.offsets[layers + 2]
    widest = widest_layer(net, layers)
    middle, half = np.zeros((d + 1, total)), np.zeros((d + 1, total))
    after_middle, after_half = np.zeros((d + 1, units)), np.zeros((d + 1, units))
    center, spread = np.zeros(widest), np.zeros(widest)
    box_center, box_radius = np.zeros(d), np.zeros(d)
    for b in range(lower_ends.shape[1]):
        low, high, lower, upper, offset = lows[b], highs[b], lowers[b], uppers[b], offsets[b]
        place_box(lower_ends, upper_ends, b, low, high, box_center, box_radius)
        bound_layers(
            net, layers, box_center, box_radius, low, high, lower, upper, offset,
            middle, half, after_middle, after_half, center, spread,
        )  # fmt: skip
        propagate_forms(
            net, layers + 1, d, lower, upper, offset, after_middle, after_half, middle, half
        )
        for c in range(d + 1):
            middles[b, c, :] = middle[c, units:total]
            halves[b, c, :] = half[c, units:total]


@compiled(fastmath=FAST)
def carry_rows(
    net, lower_ends, upper_ends, lows, highs, lowers, uppers, offsets,
    base, shares, rows, constants, levels, slope_steps, slopes, bounds,
):  # fmt: skip
    """Write an affine upper bound of a weighted sum of units and outputs for each box.

    Parameters
    ----------
    net : KernelNetwork
    lower_ends, upper_ends : (d, B) arrays
    lows, highs, lowers, uppers, offsets : (B, units) arrays
        From `bound_outputs`.
    base : (units,) array
        Coefficients of a further output, that has the share ``shares[b]`` in box b.
    shares : (B,) array
    rows : (B, m) array
        Weights of the outputs.
    constants : (B,) array
        What is added, with all errors; receives the plane's constant.
    levels : (B,) array
        Boxes whose bound is not above it get no slope steps.
    slope_steps : int
    slopes, bounds : (d, B), (B,) arrays
        Receive ``sum(x) <= slopes . x + constants <= bounds`` over each box.
    """
    d = lower_ends.shape[0]
    layers = len(net.offsets) - 3
    units = net.offsets[layers + 1]
    weight, output, lower = np.zeros(units), np.zeros(units), np.zeros(units)
    buffer = np.zeros(widest_layer(net, layers))
    low, high, center, radius = np.zeros(units), np.zeros(units), np.zeros(d), np.zeros(d)
    corner, best = np.zeros(d), np.zeros(d)
    for b in range(lower_ends.shape[1]):
        place_box(lower_ends, upper_ends, b, low, high, center, radius)
        lower[:] = lowers[b]
        added, bounds[b] = constants[b], np.inf
        for step in range(slope_steps + 1):
            for i in range(units):
                weight[i] = shares[b] * base[i]
            constant = added + weigh_outputs(net, layers, rows[b], weight)
            constant = carry_to_input(net, layers, lower, uppers[b], offsets[b], weight, constant)
            bound = constant
            for c in range(d):
                bound += weight[c] * center[c] + abs(weight[c]) * radius[c]
            if bound < bounds[b]:
                bounds[b], constants[b] = bound, constant
                for c in range(d):
                    best[c] = weight[c]
            if step == slope_steps or bounds[b] <= levels[b]:
                break
            for c in range(d):
                corner[c] = upper_ends[c, b] if weight[c] > 0.0 else lower_ends[c, b]
            improve_slopes(
                net, layers, corner, lows[b], highs[b], weight, uppers[b], offsets[b], lower,
                1.0 / (step + 1), output, buffer,
            )  # fmt: skip
        for c in range(d):
            slopes[c, b] = best[c]
