"""Compiled walks through trees over boxes of cells: only nodes that a box reaches are visited."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.compiled import compiled


@compiled()
def leaf_ranges(
    a, b, feature, cut, left, right, value, variance, roots, low, high, fewest, most, stack
):
    """Write the ends of the values and of the variances of the leaves that boxes reach.

    Parameters
    ----------
    a, b : (B, d) int arrays
        Boxes of cells.
    feature, cut, left, right, value, variance : (N,) arrays
        The nodes.
    roots : (T,) int array
    low, high, fewest, most : (B, T) arrays
        Receive the ends of the values, then those of the variances.
    stack : (N,) int array
        Working space.
    """
    for box in range(a.shape[0]):
        for tree in range(roots.size):
            least, largest, sure, variable = np.inf, -np.inf, np.inf, 0.0
            stack[0] = roots[tree]
            waiting = 1
            while waiting > 0:
                waiting -= 1
                node = stack[waiting]
                while feature[node] >= 0:
                    j = feature[node]
                    goes_left, goes_right = a[box, j] <= cut[node], b[box, j] > cut[node]
                    if goes_left and goes_right:
                        stack[waiting] = right[node]
                        waiting += 1
                    node = left[node] if goes_left else right[node]
                least = min(least, value[node])
                largest = max(largest, value[node])
                sure = min(sure, variance[node])
                variable = max(variable, variance[node])
            low[box, tree], high[box, tree] = least, largest
            fewest[box, tree], most[box, tree] = sure, variable


@compiled()
def largest_below(node, box, a, b, feature, cut, left, right, value, variance, weights, stack):
    """Return the largest sum of `largest_sums` among the leaves below a node that a box reaches."""
    by_value, by_square, center = weights
    largest = -np.inf
    stack[0] = node
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        while feature[node] >= 0:
            j = feature[node]
            goes_left, goes_right = a[box, j] <= cut[node], b[box, j] > cut[node]
            if goes_left and goes_right:
                stack[waiting] = right[node]
                waiting += 1
            node = left[node] if goes_left else right[node]
        off = value[node] - center
        largest = max(largest, by_value * value[node] + by_square * (variance[node] + off * off))
    return largest


@compiled()
def largest_sums(
    a,
    b,
    feature,
    cut,
    left,
    right,
    value,
    variance,
    roots,
    by_value,
    by_square,
    center,
    total,
    coordinate,
    after,
    stack,
):
    """Add up the largest ``p value + q (variance + (value - c)^2)`` of every tree over boxes.

    Parameters
    ----------
    a, b, feature, cut, left, right, value, variance, roots, stack
        As in `leaf_ranges`.
    by_value, by_square, center : (B,) arrays
        p, q and c of each box.
    total : (B,) array
        Receives the sum over trees.
    coordinate, after : (B,) int arrays
        Receive where to split: the first node that sends a box both ways, in the tree where the
        two ways differ most; -1 where every tree ends in one leaf.
    """
    for box in range(a.shape[0]):
        weights = (by_value[box], by_square[box], center[box])
        total[box], coordinate[box], after[box] = 0.0, -1, -1
        widest = -1.0
        for tree in range(roots.size):
            node = roots[tree]
            while feature[node] >= 0:
                j = feature[node]
                goes_left, goes_right = a[box, j] <= cut[node], b[box, j] > cut[node]
                if goes_left and goes_right:
                    break
                node = left[node] if goes_left else right[node]
            if feature[node] < 0:
                off = value[node] - weights[2]
                total[box] += weights[0] * value[node] + weights[1] * (variance[node] + off * off)
                continue
            below = left[node], right[node]
            on_left, on_right = -np.inf, -np.inf
            for side in range(2):
                found = largest_below(
                    below[side],
                    box,
                    a,
                    b,
                    feature,
                    cut,
                    left,
                    right,
                    value,
                    variance,
                    weights,
                    stack,
                )
                if side == 0:
                    on_left = found
                else:
                    on_right = found
            total[box] += max(on_left, on_right)
            if abs(on_left - on_right) > widest:
                widest = abs(on_left - on_right)
                coordinate[box], after[box] = feature[node], cut[node]
