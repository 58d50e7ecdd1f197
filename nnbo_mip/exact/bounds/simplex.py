r"""A dense bounded dual simplex, compiled, for thousands of small related programs.

The program is ``max constant + c . x`` with slacks ``s = r + A x`` and every variable,
structural or slack, between finite ends. Its dictionary expresses the basic variables
and the objective in the non-basic ones,

    x_B = … + T x_N,        objective = … + d x_N,

and a basis is dual feasible when each non-basic variable with d > 0 sits at its upper
end and each with d < 0 at its lower end, which the slack basis always is. Changing an
end of a variable (a branch) keeps it so; hence a child starts where its parent ended.
Leaving rows are chosen by violation over row norm, entering columns by the long-step
ratio test, which passes over breakpoints by flipping variables to their other end.

None of this has to be trusted. Any multipliers whatsoever give the bound of Neumaier
and Shcherbina: with ``mu`` for the slacks and ``e = c - A^T mu``,

    objective <= constant - mu . r + sum_j max(e_j x_j over ends) + sum_i max(mu_i s_i over ends),

computed from the original data and widened by its rounding error. A pruned program is
one whose *recomputed* bound is at most the cut-off.

References
----------
Neumaier and Shcherbina (2004), safe bounds from multipliers [NeumaierShcherbina2004].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.compiled import compiled

PRIMAL_TOLERANCE = 1e-9
PIVOT_TOLERANCE = 1e-8
RATIO_TOLERANCE = 1e-11

MAX_STEPS = 2000
"""Of one solve."""

STEP_ENTRIES = 500_000_000
"""Steps times entries of the dictionary that one solve may take: about half a second."""

OPTIMAL = 0
CUT_OFF = 1
INFEASIBLE = 2
STALLED = 3


@compiled()
def reset(A, r, c, constant, low, high, T, d, v, basic, nonbasic, at_upper):
    """Write the slack basis into the work arrays; return the objective there.

    ``A`` (m, n), ``r`` (m,), ``c`` (n,), ends ``low``/``high`` (n + m,); variable j < n is
    structural, n + i the slack of row i. Work arrays: T (m, n), d (n,), v (m,) values of
    the basic variables, ``basic`` (m,) and ``nonbasic`` (n,) variable numbers, and
    ``at_upper`` (n,).
    """
    m, n = A.shape
    objective = constant
    for j in range(n):
        nonbasic[j] = j
        d[j] = c[j]
        at_upper[j] = c[j] > 0.0
        objective += c[j] * (high[j] if at_upper[j] else low[j])
    for i in range(m):
        basic[i] = n + i
        total = r[i]
        for j in range(n):
            T[i, j] = A[i, j]
            total += A[i, j] * (high[j] if at_upper[j] else low[j])
        v[i] = total
    return objective


@compiled(fastmath={"reassoc", "contract"})
def _squared_norm(values):
    total = 0.0
    for j in range(len(values)):
        total += values[j] * values[j]
    return total


@compiled()
def _leaving_row(T, v, basic, low, high):
    """Return the row of the largest violation over its norm, or -1 when none is violated."""
    best, row = 0.0, -1
    for i in range(len(v)):
        variable = basic[i]
        violation = max(low[variable] - v[i], v[i] - high[variable])
        if violation <= PRIMAL_TOLERANCE or violation * violation <= best:
            continue  # the score below is at most the violation squared
        score = violation * violation / (1.0 + _squared_norm(T[i]))
        if score > best:
            best, row = score, i
    return row


@compiled(fastmath={"contract"})
def _pivot(T, d, row, column):
    """Exchange the basic variable of `row` with the non-basic one of `column`."""
    m, n = T.shape
    leaving = T[row]
    inverse = 1.0 / leaving[column]
    for j in range(n):
        leaving[j] *= -inverse
    leaving[column] = inverse
    for i in range(m):
        target = T[i]
        factor = target[column]
        if i != row and factor != 0.0:
            target[column] = 0.0
            for j in range(n):
                target[j] += factor * leaving[j]
    factor = d[column]
    d[column] = 0.0
    for j in range(n):
        d[j] += factor * leaving[j]


@compiled()
def steps_of_a_solve(entries):
    """Return how many steps a solve may take, so that the clock is looked at in time.

    A solve that is cut short proves a weaker bound.
    """
    return max(20, min(MAX_STEPS, STEP_ENTRIES // (entries + 1)))


@compiled()
def dual_simplex(T, d, v, basic, nonbasic, at_upper, low, high, objective, cutoff, max_steps):
    """Run from a dual feasible dictionary; return (status, objective, steps, row, sign).

    CUT_OFF: the objective fell to the cut-off. INFEASIBLE: `row` cannot reach its end
    (`sign` is +1 when it must fall). STALLED: steps or pivots ran out.
    """
    m, n = T.shape
    ratios = np.empty(n)
    candidates = np.empty(n, dtype=np.int64)
    for step in range(max_steps):
        if objective <= cutoff:
            return CUT_OFF, objective, step, -1, 0.0
        row = _leaving_row(T, v, basic, low, high)
        if row < 0:
            return OPTIMAL, objective, step, -1, 0.0
        leaving = basic[row]
        falls = v[row] > high[leaving]
        end = high[leaving] if falls else low[leaving]
        sign = 1.0 if falls else -1.0
        remaining = abs(v[row] - end)
        count = 0
        for j in range(n):
            slope = sign * T[row, j]
            variable = nonbasic[j]
            if abs(slope) <= PIVOT_TOLERANCE or low[variable] == high[variable]:
                continue
            # At the upper end it may fall, which lowers the row where slope > 0.
            if (at_upper[j] and slope > 0.0) or (not at_upper[j] and slope < 0.0):
                ratios[count] = abs(d[j]) / abs(slope)
                candidates[count] = j
                count += 1
        if count == 0:
            return INFEASIBLE, objective, step, row, sign
        entering = -1
        while True:
            # Among nearly equal ratios the largest pivot is the safest.
            least = np.inf
            for k in range(count):
                if ratios[k] < least:
                    least = ratios[k]
            if least == np.inf:
                break
            chosen, largest = -1, 0.0
            for k in range(count):
                if ratios[k] <= least + RATIO_TOLERANCE:
                    size = abs(T[row, candidates[k]])
                    if size > largest:
                        chosen, largest = k, size
            j = candidates[chosen]
            variable = nonbasic[j]
            width = high[variable] - low[variable]
            if largest * width < remaining - PRIMAL_TOLERANCE:
                change = -width if at_upper[j] else width
                remaining -= largest * width
                for i in range(m):
                    v[i] += T[i, j] * change
                objective += d[j] * change
                at_upper[j] = not at_upper[j]
                ratios[chosen] = np.inf
                continue
            entering = j
            break
        if entering < 0:
            return INFEASIBLE, objective, step, row, sign
        change = (end - v[row]) / T[row, entering]
        variable = nonbasic[entering]
        value = (high[variable] if at_upper[entering] else low[variable]) + change
        for i in range(m):
            v[i] += T[i, entering] * change
        objective += d[entering] * change
        _pivot(T, d, row, entering)
        v[row] = value
        basic[row], nonbasic[entering] = variable, leaving
        at_upper[entering] = falls
    return STALLED, objective, max_steps, -1, 0.0


@compiled()
def read_multipliers(d, nonbasic, n, mu):
    """Write the slacks' multipliers of a dictionary: d where non-basic, 0 where basic."""
    mu[:] = 0.0
    for j in range(len(d)):
        if nonbasic[j] >= n:
            mu[nonbasic[j] - n] = d[j]


@compiled()
def add_ray(T, v, basic, nonbasic, low, high, row, sign, amount, n, mu):
    """Add the ray of an unreachable row to multipliers, so far that the bound falls by `amount`.

    With the identity ``x_row = … + T_row x_N`` the term ``sign L (x_row - … - T_row x_N)``
    may be added to the objective; its largest value falls by L times what is missing.
    """
    variable = basic[row]
    end = high[variable] if sign > 0.0 else low[variable]
    missing = abs(v[row] - end)
    if missing <= 0.0:
        return
    length = sign * amount / missing
    if variable >= n:
        mu[variable - n] += length
    for j in range(len(nonbasic)):
        if nonbasic[j] >= n:
            mu[nonbasic[j] - n] -= length * T[row, j]


@compiled()
def safe_bound(A, r, c, constant, low, high, mu, e, sizes, row_sizes, row_errors, base_error):
    """Return the Neumaier-Shcherbina bound of any multipliers, widened by all rounding.

    Parameters
    ----------
    A, r, c, constant : the program as stored
    low, high : (n + m,) ends
    mu : (m,) multipliers of the slacks
    e : (n,) work array
    sizes, row_sizes : (n,), (m,)
        Bounds on ``|x_j|`` and on ``|r_i| + sum_j |A_ij| |x_j|``.
    row_errors : (m,)
        How far each stored row may be from the true one anywhere in the box.
    base_error : float
        The same for the objective.
    """
    m, n = A.shape
    for k in range(n):
        e[k] = c[k]
    total = constant
    magnitude = abs(constant)
    error = base_error + 4.0 * (m + 2) * (n + 2) * 2.0**-1070  # what underflows
    for i in range(m):
        if mu[i] == 0.0:
            continue
        for k in range(n):
            e[k] -= mu[i] * A[i, k]
        least, largest = low[n + i], high[n + i]
        total += max(mu[i] * least, mu[i] * largest) - mu[i] * r[i]
        magnitude += abs(mu[i]) * (row_sizes[i] + max(abs(least), abs(largest)))
        error += abs(mu[i]) * row_errors[i]
    for k in range(n):
        total += max(e[k] * low[k], e[k] * high[k])
        magnitude += abs(c[k]) * sizes[k]
    return total + (error + magnitude * (8.0 * (m + n + 4) * 2.0**-53)) * (1.0 + 1e-9)
