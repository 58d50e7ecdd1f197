"""Where the phase search branches: the ReLU or grid whose children lose most, compiled.

A dictionary is (T, d, v, basic, nonbasic, at_upper), see `exact.bounds.simplex`; places are
(value, row_of, column_of) of every variable, and grids (grid_of, grid_start, grid_values).
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.compiled import compiled
from nnbo_mip.exact.bounds.simplex import PIVOT_TOLERANCE

VIOLATION = 1e-9
"""Scaled amount by which h may differ from max(z, 0) without being branched on."""

TIE_BREAK = 1e-6


@compiled()
def read_places(dictionary, low, high, places):
    """Write the value and the place (row or column, else -1) of every variable."""
    _, _, v, basic, nonbasic, at_upper = dictionary
    value, row_of, column_of = places
    for j in range(len(nonbasic)):
        variable = nonbasic[j]
        value[variable] = high[variable] if at_upper[j] else low[variable]
        row_of[variable] = -1
        column_of[variable] = j
    for i in range(len(basic)):
        value[basic[i]] = v[i]
        row_of[basic[i]] = i
        column_of[basic[i]] = -1


@compiled()
def _loss(T, d, nonbasic, at_upper, low, high, row, sign, distance):
    """Estimate what the objective loses when a basic variable must move by `distance`.

    The least ratio of the dual simplex times the distance: a lower bound on the true loss.
    """
    least = np.inf
    for j in range(len(d)):
        variable = nonbasic[j]
        slope = sign * T[row, j]
        if abs(slope) <= PIVOT_TOLERANCE or low[variable] == high[variable]:
            continue
        if (at_upper[j] and slope > 0.0) or (not at_upper[j] and slope < 0.0):
            ratio = abs(d[j]) / abs(slope)
            if ratio < least:
                least = ratio
    return least * distance if least < np.inf else np.inf


@compiled()
def _end_loss(T, d, nonbasic, at_upper, low, high, row_of, column_of, value, variable, target):
    """Estimate the loss of pushing a variable down or up to `target`.

    It gets plain arrays because a tuple costs something a call, and this is called for every
    open ReLU of every node.
    """
    distance = abs(value[variable] - target)
    sign = 1.0 if value[variable] > target else -1.0
    if row_of[variable] >= 0:
        return _loss(T, d, nonbasic, at_upper, low, high, row_of[variable], sign, distance)
    return abs(d[column_of[variable]]) * distance


@compiled()
def _choose_relu(dictionary, low, high, places, n_inputs, n_relus):
    """Return (score, variable to fix at zero first) of the most promising undecided ReLU.

    A ReLU is violated by ``min(h, s)``; the score is the sum of the objective's estimated
    losses in the two children, and the child that loses less comes first. The sum needs a
    third to two thirds of the nodes that the usual product needs: what counts is that one
    child dies soon.
    """
    T, d, _, _, nonbasic, at_upper = dictionary
    value, row_of, column_of = places
    n = n_inputs + n_relus
    best, chosen = -1.0, -1
    for j in range(n_relus):
        output, slack = n_inputs + j, n + j
        if low[output] == high[output] or low[slack] == high[slack]:
            continue
        violation = min(value[output], value[slack])
        if violation <= VIOLATION:
            continue
        off = _end_loss(T, d, nonbasic, at_upper, low, high, row_of, column_of, value, output, 0.0)
        on = _end_loss(T, d, nonbasic, at_upper, low, high, row_of, column_of, value, slack, 0.0)
        score = off + on + TIE_BREAK * violation
        if score > best:
            best, chosen = score, output if off <= on else slack
    return best, chosen


@compiled()
def _choose_grid(dictionary, low, high, places, grids):
    """Return (score, coordinate, end below, end above, below first) of the best grid split."""
    grid_of, grid_start, grid_values = grids
    T, d, _, _, nonbasic, at_upper = dictionary
    value, row_of, column_of = places
    best, chosen, chosen_below, chosen_above, below_first = -1.0, -1, 0.0, 0.0, True
    for k in range(len(grid_of)):
        if grid_of[k] < 0 or low[k] == high[k]:
            continue
        values = grid_values[grid_start[grid_of[k]] : grid_start[grid_of[k] + 1]]
        at = min(max(value[k], low[k]), high[k])
        position = np.searchsorted(values, at, side="right")
        if position == len(values) or at - values[position - 1] <= VIOLATION:
            continue
        below, above = values[position - 1], values[position]
        if above - at <= VIOLATION:
            continue
        down = _end_loss(T, d, nonbasic, at_upper, low, high, row_of, column_of, value, k, below)
        up = _end_loss(T, d, nonbasic, at_upper, low, high, row_of, column_of, value, k, above)
        score = down + up
        if score > best:
            best, chosen, chosen_below, chosen_above = score, k, below, above
            below_first = down <= up
    return best, chosen, chosen_below, chosen_above, below_first


@compiled()
def _any_relu(low, high, n_inputs, n_relus, n):
    """Return some ReLU whose phase is open, or -1."""
    for j in range(n_relus):
        if low[n_inputs + j] < high[n_inputs + j] and low[n + j] < high[n + j]:
            return n_inputs + j
    return -1


@compiled()
def _any_grid(low, high, grids):
    """Return (coordinate, end below, end above) of some open grid coordinate, or -1."""
    grid_of, grid_start, grid_values = grids
    for k in range(len(grid_of)):
        if grid_of[k] >= 0 and low[k] < high[k]:
            values = grid_values[grid_start[grid_of[k]] : grid_start[grid_of[k] + 1]]
            position = np.searchsorted(values, low[k], side="right")
            return k, values[position - 1], values[position]
    return -1, 0.0, 0.0


@compiled()
def choose_children(dictionary, low, high, places, grids, n_inputs, n_relus):
    """Return both children as (variable, low, high), the likelier one first.

    The variable is -1 for a leaf: nothing is open. Where the relaxed point violates nothing
    and yet the bound stays above the cut-off, whatever is open is branched on.
    """
    n = n_inputs + n_relus
    relu_score, variable = _choose_relu(dictionary, low, high, places, n_inputs, n_relus)
    grid_score, split, below, above, below_first = _choose_grid(
        dictionary, low, high, places, grids
    )
    if grid_score > relu_score:
        variable = -1
    else:
        split = -1
    if split < 0 and variable < 0:
        variable = _any_relu(low, high, n_inputs, n_relus, n)
        if variable < 0:
            split, below, above = _any_grid(low, high, grids)
    if split >= 0:
        lower_part, upper_part = (split, low[split], below), (split, above, high[split])
        return (lower_part, upper_part) if below_first else (upper_part, lower_part)
    other = variable - n_inputs + n if variable < n else variable - n + n_inputs
    return (variable, 0.0, 0.0), (other, 0.0, 0.0)
