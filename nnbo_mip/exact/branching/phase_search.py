"""Depth-first search over ReLU phases and grid intervals, compiled.

One call explores the subtree below a node, at most `node_limit` nodes of it, and
returns what is left open. Every discarded node has a recomputed, outward-rounded bound
(`simplex.safe_bound`) at most the cut-off.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.compiled import compiled
from nnbo_mip.exact.bounds.simplex import (
    INFEASIBLE,
    OPTIMAL,
    add_ray,
    dual_simplex,
    read_multipliers,
    reset,
    safe_bound,
    steps_of_a_solve,
)
from nnbo_mip.exact.branching.phase_choice import choose_children, read_places

ROW_TOLERANCE = 1e-8
"""Scaled amount by which a rounded point may break a row and still be worth repairing."""

DONE = 0
NODE_LIMIT = 1
IMPROVED = 2
EXCLUDED = 3


@compiled()
def _set_ends(dictionary, low, high, child, objective):
    """Narrow a variable's ends; a non-basic one moves with its end. Return the objective."""
    T, d, v, _, nonbasic, at_upper = dictionary
    variable, new_low, new_high = child
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
def _round_to_domain(value, low, high, grids, x):
    """Write the inputs of a relaxed point, clipped to the ends and rounded to the grids."""
    grid_of, grid_start, grid_values = grids
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
def _in_exclusion(inner_exclusions, x):
    """Whether x lies in one of the exclusions."""
    below, above = inner_exclusions
    for i in range(len(below)):
        inside = True
        for k in range(len(x)):
            if not below[i, k] < x[k] < above[i, k]:
                inside = False
                break
        if inside:
            return True
    return False


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
def _empty_dictionaries(count, m, n):
    """Return room for `count` dictionaries: T, d, v, basic, nonbasic, at_upper."""
    return (
        np.empty((count, m, n)),
        np.empty((count, n)),
        np.empty((count, m)),
        np.empty((count, m), dtype=np.int64),
        np.empty((count, n), dtype=np.int64),
        np.empty((count, n), dtype=np.bool_),
    )


@compiled()
def _view(dictionaries, position):
    """Return one of several dictionaries."""
    T, d, v, basic, nonbasic, at_upper = dictionaries
    return (
        T[position],
        d[position],
        v[position],
        basic[position],
        nonbasic[position],
        at_upper[position],
    )


@compiled()
def _copy(source, target):
    """Copy a dictionary."""
    T, d, v, basic, nonbasic, at_upper = target
    T[:], d[:], v[:] = source[0], source[1], source[2]
    basic[:], nonbasic[:], at_upper[:] = source[3], source[4], source[5]


@compiled()
def _reset(data, low, high, dictionary):
    """Write the slack basis; return the objective there."""
    A, r, c, constant = data
    T, d, v, basic, nonbasic, at_upper = dictionary
    return reset(A, r, c, constant, low, high, T, d, v, basic, nonbasic, at_upper)


@compiled()
def _solve(data, errors, low, high, dictionary, objective, level, floor, mu, e):
    """Run the dual simplex; return (status, objective, steps, proven bound)."""
    A, r, c, constant = data
    sizes, row_sizes, row_errors, base_error = errors
    T, d, v, basic, nonbasic, at_upper = dictionary
    n = len(d)
    margin = 1e-10 * (1.0 + abs(level))
    most = steps_of_a_solve(T.size)
    status, objective, steps, row, sign = dual_simplex(
        T, d, v, basic, nonbasic, at_upper, low, high, objective, level - margin, most
    )
    read_multipliers(d, nonbasic, n, mu)
    if status == INFEASIBLE:
        fall = 2.0 * max(objective - floor, 0.0) + 1.0 + abs(objective)
        add_ray(T, v, basic, nonbasic, low, high, row, sign, fall, n, mu)
    bound = safe_bound(
        A, r, c, constant, low, high, mu, e, sizes, row_sizes, row_errors, base_error
    )
    return status, objective, steps, bound


@compiled()
def _try_point(data, units, grids, low, high, value, n_relus, x, h):
    """Round the relaxed point into x; return its value, -inf where it breaks a row."""
    A, r, c, constant = data
    weights, bias = units
    _round_to_domain(value, low, high, grids, x)
    if not _respects_rows(A, r, low, high, 2 * n_relus, x):
        return -np.inf
    return _forward(weights, bias, c, constant, x, h)


@compiled()
def search(
    data,
    errors,
    units,
    grids,
    inner_exclusions,
    n_inputs,
    start_low,
    start_high,
    cutoff,
    floor,
    best_value,
    node_limit,
    stack_size,
):
    """Explore the subtree of ``start_low <= variables <= start_high``.

    Parameters
    ----------
    data, errors : (A, r, c, constant), (sizes, row_sizes, row_errors, base_error)
        The program. Columns are x (n_inputs) then h (n_relus); the slack of row j < n_relus
        is ``h_j - z_j``; further rows are the K triangles, then rows that read inputs only.
    units : (weights, bias)
        The flat system in the program's units.
    grids : (grid_of, grid_start, grid_values)
        Index into the grids of each input, -1 for a real one; the concatenated grids.
    inner_exclusions : (below, above)
        Ends (H, n_inputs) of the exclusions of the domain.
    n_inputs : int
    start_low, start_high : (n + m,) ends at the root of the subtree
    cutoff : float
        Level to undercut; -inf while no admissible point is known.
    floor : float
        No admissible point scores less: a node bounded below it is proven empty.
    best_value : float
        A point whose value is above it ends the call, so that the caller raises the cut-off.
    node_limit, stack_size : int

    Returns
    -------
    outcome : DONE, NODE_LIMIT (or the stack was full), IMPROVED, or EXCLUDED: a point in
        an exclusion scores above the cut-off, and its node, the last one left, must be cut there
    settled : largest proven bound of the nodes discarded
    nodes, steps : work
    open_low, open_high, open_bound : the nodes left
    x : best point seen, or the excluded one, in the program's units
    x_value : its value in the flat system
    """
    m, n = data[0].shape
    n_relus = n - n_inputs
    stack = _empty_dictionaries(stack_size, m, n)
    dictionary = _view(_empty_dictionaries(1, m, n), 0)
    low, high = start_low.copy(), start_high.copy()
    # One more than dictionaries: the node that finds the stack full needs none.
    stack_low = np.empty((stack_size + 2, n + m))
    stack_high = np.empty((stack_size + 2, n + m))
    stack_objective = np.empty(stack_size)
    stack_bound = np.empty(stack_size + 2)
    second_variable = np.empty(stack_size + 1, dtype=np.int64)
    second_low = np.empty(stack_size + 1)
    second_high = np.empty(stack_size + 1)

    mu, e = np.empty(m), np.empty(n)
    places = (
        np.empty(n + m),
        np.empty(n + m, dtype=np.int64),
        np.empty(n + m, dtype=np.int64),
    )
    h, x = np.empty(n_relus), np.empty(n_inputs)
    best_x, x_value = np.zeros(n_inputs), -np.inf

    top = nodes = steps = 0
    settled, inherited = -np.inf, np.inf
    level = max(cutoff, floor)
    objective, fresh = _reset(data, low, high, dictionary), True
    outcome = DONE
    while True:
        nodes += 1
        status, objective, used, bound = _solve(
            data, errors, low, high, dictionary, objective, level, floor, mu, e
        )
        steps += used
        if not bound < inherited:  # also where it is not a number
            bound = inherited
        is_open = bound >= floor and bound > cutoff
        if is_open and not fresh and status != OPTIMAL:
            # The dictionary has drifted: solve this node again from the slack basis.
            objective, fresh = _reset(data, low, high, dictionary), True
            continue
        if not is_open and bound >= floor:
            settled = max(settled, bound)
        if is_open:
            read_places(dictionary, low, high, places)
            reached = _try_point(data, units, grids, low, high, places[0], n_relus, x, h)
            if reached > -np.inf and _in_exclusion(inner_exclusions, x):
                if reached > cutoff:
                    x_value = reached
                    best_x[:] = x
                    inherited = bound
                    outcome = EXCLUDED
                    break
                reached = -np.inf
            if reached > x_value:
                x_value = reached
                best_x[:] = x
            if reached > best_value:
                inherited = bound
                outcome = IMPROVED
                break
            first, second = choose_children(dictionary, low, high, places, grids, n_inputs, n_relus)
            if first[0] < 0:
                settled = max(settled, bound)  # a leaf: its bound stands as it is
            else:
                if top < stack_size:
                    _copy(dictionary, _view(stack, top))
                    stack_objective[top] = objective
                stack_low[top], stack_high[top], stack_bound[top] = low, high, bound
                second_variable[top], second_low[top], second_high[top] = second
                top += 1
                inherited = bound
                objective = _set_ends(dictionary, low, high, first, objective)
                fresh = False
                if top > stack_size or nodes >= node_limit:
                    outcome = NODE_LIMIT
                    break
                continue
        if top == 0:
            break
        top -= 1
        _copy(_view(stack, top), dictionary)
        low[:], high[:] = stack_low[top], stack_high[top]
        inherited = stack_bound[top]
        second = (second_variable[top], second_low[top], second_high[top])
        objective = _set_ends(dictionary, low, high, second, stack_objective[top])
        fresh = False
    # Nodes on the stack wait for their second child: narrow them to it.
    for position in range(top):
        stack_low[position, second_variable[position]] = second_low[position]
        stack_high[position, second_variable[position]] = second_high[position]
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
