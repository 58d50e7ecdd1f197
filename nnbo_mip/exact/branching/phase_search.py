"""Depth-first search over ReLU phases and grid intervals, compiled.

One call explores the subtree below a node, at most `node_limit` nodes of it, and
returns what is left open. Every discarded node has a recomputed, outward-rounded bound
(`simplex.safe_bound`) at most the cut-off.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.exact.bounds.simplex import (
    INFEASIBLE,
    OPTIMAL,
    PIVOT_TOLERANCE,
    add_ray,
    dual_simplex,
    read_multipliers,
    reset,
    safe_bound,
)
from nnbo_mip.exact.compiled import compiled

VIOLATION = 1e-9
"""Scaled amount by which h may differ from max(z, 0) without being branched on."""

ROW_TOLERANCE = 1e-8
"""Scaled amount by which a rounded point may break a row and still be worth repairing."""

MAX_STEPS = 2000
TIE_BREAK = 1e-6

DONE = 0
NODE_LIMIT = 1
IMPROVED = 2


@compiled()
def _set_end(T, d, v, nonbasic, at_upper, low, high, variable, new_low, new_high, objective):
    """Narrow a variable's ends; a non-basic one moves with its end. Return the objective."""
    for j in range(len(nonbasic)):
        if nonbasic[j] == variable:
            old = high[variable] if at_upper[j] else low[variable]
            new = new_high if at_upper[j] else new_low
            change = new - old
            if change != 0.0:
                for i in range(len(v)):
                    v[i] += T[i, j] * change
                objective += d[j] * change
            break
    low[variable], high[variable] = new_low, new_high
    return objective


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
    """Estimate the loss of pushing a variable down or up to `target`."""
    distance = abs(value[variable] - target)
    sign = 1.0 if value[variable] > target else -1.0
    if row_of[variable] >= 0:
        return _loss(T, d, nonbasic, at_upper, low, high, row_of[variable], sign, distance)
    return abs(d[column_of[variable]]) * distance


@compiled()
def _forward(weights, bias, objective, constant, x, h):
    """Evaluate the flat system at x; h receives the ReLU outputs."""
    d = len(x)
    for j in range(len(bias)):
        z = bias[j]
        for k in range(d):
            z += weights[j, k] * x[k]
        for k in range(j):
            z += weights[j, d + k] * h[k]
        h[j] = max(z, 0.0)
    total = constant
    for k in range(d):
        total += objective[k] * x[k]
    for k in range(len(bias)):
        total += objective[d + k] * h[k]
    return total


@compiled()
def _read_values(v, basic, nonbasic, at_upper, low, high, value, row_of, column_of):
    """Write the value and the place (row or column, else -1) of every variable."""
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
def _round_to_domain(value, low, high, grid_of, grid_start, grid_values, x):
    """Write the inputs of a relaxed point, clipped to the ends and rounded to the grids."""
    for k in range(len(x)):
        x[k] = min(max(value[k], low[k]), high[k])
        if grid_of[k] < 0:
            continue
        values = grid_values[grid_start[grid_of[k]] : grid_start[grid_of[k] + 1]]
        above = np.searchsorted(values, x[k])
        if above == len(values):
            above -= 1
        if above > 0 and x[k] - values[above - 1] < values[above] - x[k]:
            above -= 1
        x[k] = values[above]


@compiled()
def _respects_rows(A, r, low, high, first, x):
    """Whether x keeps the rows from `first` on, which read inputs only, up to a tolerance."""
    m, n = A.shape
    for i in range(first, m):
        total = r[i]
        for k in range(len(x)):
            total += A[i, k] * x[k]
        if not low[n + i] - ROW_TOLERANCE <= total <= high[n + i] + ROW_TOLERANCE:
            return False
    return True


@compiled()
def _choose_relu(T, d, nonbasic, at_upper, low, high, row_of, column_of, value, n_inputs, n_relus):
    """Return (score, variable to fix at zero first) of the most promising undecided ReLU.

    A ReLU is violated by ``min(h, s)``; the score is the sum of the objective's estimated
    losses in the two children, and the child that loses less comes first. The sum needs a
    third to two thirds of the nodes that the usual product needs: what counts is that one
    child dies soon.
    """
    n = len(d)
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
def _choose_grid(
    T, d, nonbasic, at_upper, low, high, row_of, column_of, value,
    grid_of, grid_start, grid_values,
):  # fmt: skip
    """Return (score, coordinate, end below, end above, below first) of the best grid split."""
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
def _any_grid(low, high, grid_of, grid_start, grid_values):
    """Return (coordinate, end below, end above) of some open grid coordinate, or -1."""
    for k in range(len(grid_of)):
        if grid_of[k] >= 0 and low[k] < high[k]:
            values = grid_values[grid_start[grid_of[k]] : grid_start[grid_of[k] + 1]]
            position = np.searchsorted(values, low[k], side="right")
            return k, values[position - 1], values[position]
    return -1, 0.0, 0.0


@compiled()
def search(
    A,
    r,
    c,
    constant,
    start_low,
    start_high,
    sizes,
    row_sizes,
    row_errors,
    base_error,
    n_inputs,
    n_relus,
    grid_of,
    grid_start,
    grid_values,
    unit_weights,
    unit_bias,
    cutoff,
    floor,
    best_value,
    node_limit,
    stack_size,
):
    """Explore the subtree of ``start_low <= variables <= start_high``.

    Parameters
    ----------
    A, r, c, constant, sizes, row_sizes, row_errors, base_error : the program
        Columns are x (n_inputs) then h (n_relus); the slack of row j < n_relus is
        ``h_j - z_j``; further rows are the K triangles, then rows that read inputs only.
    start_low, start_high : (n + m,) ends at the root of the subtree
    grid_of : (n_inputs,) index into the grids, -1 for a real coordinate
    grid_start, grid_values : concatenated grids in the program's units
    unit_weights, unit_bias : the flat system in the program's units
    cutoff : float
        Level to undercut; -inf while no admissible point is known.
    floor : float
        No admissible point scores less: a node bounded below it is proven empty.
    best_value : float
        A point whose value is above it ends the call, so that the caller raises the cut-off.
    node_limit, stack_size : int

    Returns
    -------
    outcome : DONE, NODE_LIMIT (or the stack was full), or IMPROVED
    settled : largest proven bound of the nodes discarded
    nodes, steps : work
    open_low, open_high, open_bound : the nodes left
    x : best point seen, in the program's units
    x_value : its value in the flat system
    """
    m, n = A.shape
    T = np.empty((m, n))
    d = np.empty(n)
    v = np.empty(m)
    basic = np.empty(m, dtype=np.int64)
    nonbasic = np.empty(n, dtype=np.int64)
    at_upper = np.empty(n, dtype=np.bool_)
    low, high = start_low.copy(), start_high.copy()

    stack_T = np.empty((stack_size, m, n))
    stack_d = np.empty((stack_size, n))
    stack_v = np.empty((stack_size, m))
    stack_basic = np.empty((stack_size, m), dtype=np.int64)
    stack_nonbasic = np.empty((stack_size, n), dtype=np.int64)
    stack_upper = np.empty((stack_size, n), dtype=np.bool_)
    # One more than dictionaries: the node that finds the stack full needs none.
    stack_low = np.empty((stack_size + 2, n + m))
    stack_high = np.empty((stack_size + 2, n + m))
    stack_objective = np.empty(stack_size)
    stack_bound = np.empty(stack_size + 2)
    branch_variable = np.empty(stack_size + 1, dtype=np.int64)
    branch_low = np.empty(stack_size + 1)
    branch_high = np.empty(stack_size + 1)

    mu = np.empty(m)
    e = np.empty(n)
    value = np.empty(n + m)
    row_of = np.empty(n + m, dtype=np.int64)
    column_of = np.empty(n + m, dtype=np.int64)
    h = np.empty(n_relus)
    x = np.empty(n_inputs)
    best_x = np.zeros(n_inputs)
    x_value = -np.inf

    top = 0
    nodes = 0
    steps = 0
    settled = -np.inf
    level = max(cutoff, floor)
    margin = 1e-10 * (1.0 + abs(level))
    inherited = np.inf
    objective = reset(A, r, c, constant, low, high, T, d, v, basic, nonbasic, at_upper)
    fresh = True
    outcome = DONE
    while True:
        nodes += 1
        status, objective, used, row, sign = dual_simplex(
            T, d, v, basic, nonbasic, at_upper, low, high, objective, level - margin, MAX_STEPS
        )
        steps += used
        read_multipliers(d, nonbasic, n, mu)
        if status == INFEASIBLE:
            fall = 2.0 * max(objective - floor, 0.0) + 1.0 + abs(objective)
            add_ray(T, v, basic, nonbasic, low, high, row, sign, fall, n, mu)
        bound = safe_bound(
            A, r, c, constant, low, high, mu, e, sizes, row_sizes, row_errors, base_error
        )
        if not bound < inherited:  # also where it is not a number
            bound = inherited
        empty = bound < floor
        discarded = empty or bound <= cutoff
        if not discarded and not fresh and status != OPTIMAL:
            # The dictionary has drifted: solve this node again from the slack basis.
            objective = reset(A, r, c, constant, low, high, T, d, v, basic, nonbasic, at_upper)
            fresh = True
            continue
        if discarded:
            if not empty:
                settled = max(settled, bound)
        else:
            _read_values(v, basic, nonbasic, at_upper, low, high, value, row_of, column_of)
            _round_to_domain(value, low, high, grid_of, grid_start, grid_values, x)
            reached = -np.inf
            if _respects_rows(A, r, low, high, 2 * n_relus, x):
                reached = _forward(unit_weights, unit_bias, c, constant, x, h)
            if reached > x_value:
                x_value = reached
                best_x[:] = x
            relu_score, variable = _choose_relu(
                T, d, nonbasic, at_upper, low, high, row_of, column_of, value, n_inputs, n_relus
            )
            grid_score, split, below, above, below_first = _choose_grid(
                T, d, nonbasic, at_upper, low, high, row_of, column_of, value,
                grid_of, grid_start, grid_values,
            )  # fmt: skip
            if grid_score > relu_score:
                variable = -1
            else:
                split = -1
            if split < 0 and variable < 0:
                # The relaxed point violates nothing and yet the bound stays above the
                # cut-off: branch on whatever is open.
                variable = _any_relu(low, high, n_inputs, n_relus, n)
                if variable < 0:
                    split, below, above = _any_grid(low, high, grid_of, grid_start, grid_values)
            if reached > best_value:
                inherited = bound
                outcome = IMPROVED
                break
            if split < 0 and variable < 0:
                settled = max(settled, bound)  # a leaf: its bound stands as it is
            else:
                if top < stack_size:
                    stack_T[top], stack_d[top], stack_v[top] = T, d, v
                    stack_basic[top], stack_nonbasic[top] = basic, nonbasic
                    stack_upper[top] = at_upper
                    stack_objective[top] = objective
                stack_low[top], stack_high[top], stack_bound[top] = low, high, bound
                if split >= 0:
                    first_low, first_high = low[split], below
                    second_low, second_high = above, high[split]
                    if not below_first:
                        first_low, second_low = second_low, first_low
                        first_high, second_high = second_high, first_high
                    first, second = split, split
                else:
                    first = variable
                    second = variable - n_inputs + n if variable < n else variable - n + n_inputs
                    first_low = first_high = second_low = second_high = 0.0
                branch_variable[top] = second
                branch_low[top], branch_high[top] = second_low, second_high
                top += 1
                inherited = bound
                objective = _set_end(
                    T, d, v, nonbasic, at_upper, low, high, first, first_low, first_high, objective
                )
                fresh = False
                if top > stack_size or nodes >= node_limit:
                    outcome = NODE_LIMIT
                    break
                continue
        if top == 0:
            break
        top -= 1
        T[:], d[:], v[:] = stack_T[top], stack_d[top], stack_v[top]
        basic[:], nonbasic[:], at_upper[:] = stack_basic[top], stack_nonbasic[top], stack_upper[top]
        low[:], high[:] = stack_low[top], stack_high[top]
        inherited = stack_bound[top]
        objective = _set_end(
            T,
            d,
            v,
            nonbasic,
            at_upper,
            low,
            high,
            branch_variable[top],
            branch_low[top],
            branch_high[top],
            stack_objective[top],
        )
        fresh = False
    # Nodes on the stack wait for their second child: narrow them to it.
    for level in range(top):
        stack_low[level, branch_variable[level]] = branch_low[level]
        stack_high[level, branch_variable[level]] = branch_high[level]
    if outcome != DONE:
        stack_low[top], stack_high[top] = low, high
        stack_bound[top] = inherited
        top += 1
    return (
        outcome,
        settled,
        nodes,
        steps,
        stack_low[:top].copy(),
        stack_high[:top].copy(),
        stack_bound[:top].copy(),
        best_x,
        x_value,
    )
