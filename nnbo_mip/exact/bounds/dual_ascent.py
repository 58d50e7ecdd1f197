r"""Dual ascent (alpha/beta-CROWN), compiled: bounds of many nodes of a phase search at once.

Arrays carry `LANES` nodes last, (tiles, K, LANES) in float32, so that every inner loop is a
vector loop. With a_j the coefficient that the ReLUs after j and the objective give h_j,

    f <= c + sum_{j open} max(a_j, 0) tau_j + sum_j rho_j b_j + sum_i max(a_i, 0),
    rho_j = max(a_j, 0) s_j + min(a_j, 0) alpha_j + beta_j,        a_k += rho_j W_jk  (k < j),

where an open ReLU has s = u / (u - l), tau = -s l, any alpha in [0, 1] and beta = 0; an
active one s = alpha = 1, beta >= 0; an inactive one s = alpha = 0, beta <= 0. The bound is
convex in each rho_j, with derivative z_j, the pre-activation at the relaxed point that
attains it.

These are dual multipliers of the program of `exact.bounds.program`: ``-max(a_j, 0)`` for the
triangle, and for ``h_j - z_j`` what else is in rho_j. The ascent proves nothing; `prove`
recomputes the bound of its multipliers in float64 and rounds it outward.

References
----------
Xu et al. (2021), alpha-CROWN: slopes that are optimized [Xu2021].
Wang et al. (2021), beta-CROWN: multipliers of split constraints [Wang2021].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.compiled import compiled
from nnbo_mip.exact.bounds.simplex import safe_bound

LANES = 128
"""As many as `ascent_nodes.CHUNK`."""

F = np.float32
FAST = {"contract", "reassoc", "nsz"}

MEMORY = F(0.7)
"""Weight of the past in the averages of relaxed points that branching reads."""

SMALLEST_NORM = F(1e-6)


@compiled(fastmath=FAST)
def _backward(net, upper, offset, alpha, beta, coefficients, bound):
    weights, bias, objective, constant, starts, n_inputs = net
    rho = np.empty(LANES, F)
    for k in range(len(objective)):
        for q in range(LANES):
            coefficients[k, q] = objective[k]
    for q in range(LANES):
        bound[q] = constant
    for j in range(len(bias) - 1, -1, -1):
        for q in range(LANES):
            a = coefficients[n_inputs + j, q]
            positive = max(a, F(0))
            r = positive * upper[j, q] + (a - positive) * alpha[j, q] + beta[j, q]
            bound[q] += positive * offset[j, q] + bias[j] * r
            rho[q] = r
        for k in range(starts[j]):
            w = weights[j, k]
            for q in range(LANES):
                coefficients[k, q] += w * rho[q]
    for i in range(n_inputs):
        for q in range(LANES):
            bound[q] += max(coefficients[i, q], F(0))


@compiled(fastmath=FAST)
def _relaxed_point(net, upper, offset, alpha, coefficients, y, z):
    """Write the columns y and pre-activations z that attain the bound."""
    weights, bias, _, _, starts, n_inputs = net
    total = np.empty(LANES, F)
    for i in range(n_inputs):
        for q in range(LANES):
            y[i, q] = F(1) if coefficients[i, q] > F(0) else F(0)
    for j in range(len(bias)):
        for q in range(LANES):
            total[q] = bias[j]
        for k in range(starts[j]):
            w = weights[j, k]
            for q in range(LANES):
                total[q] += w * y[k, q]
        for q in range(LANES):
            z[j, q] = total[q]
            on_top = coefficients[n_inputs + j, q] > F(0)
            high = upper[j, q] * total[q] + offset[j, q]
            y[n_inputs + j, q] = high if on_top else alpha[j, q] * total[q]


@compiled(fastmath=FAST)
def _step(phase, coefficients, z, fall, momentum, alpha, beta, velocity):
    """Take a projected Polyak step: its first-order fall of the bound is `fall` (LANES,)."""
    norm = np.zeros(LANES, F)
    slope = np.empty_like(z)
    for j in range(len(z)):
        for q in range(LANES):
            g = z[j, q]
            if phase[j, q] == 0:
                stuck = (alpha[j, q] <= F(0) and g < F(0)) or (alpha[j, q] >= F(1) and g > F(0))
                stuck = stuck or coefficients[j, q] >= F(0)
            elif phase[j, q] > 0:
                stuck = beta[j, q] <= F(0) and g > F(0)
            else:
                stuck = beta[j, q] >= F(0) and g < F(0)
            slope[j, q] = F(0) if stuck else g
            norm[q] += slope[j, q] * slope[j, q]
    for q in range(LANES):
        norm[q] = fall[q] / norm[q] if norm[q] > SMALLEST_NORM else F(0)
    for j in range(len(z)):
        for q in range(LANES):
            move = momentum * velocity[j, q] + norm[q] * slope[j, q]
            velocity[j, q] = move
            if phase[j, q] == 0:
                a = coefficients[j, q]
                if a < F(0):
                    alpha[j, q] = min(max(alpha[j, q] - move / min(a, F(-1e-9)), F(0)), F(1))
            elif phase[j, q] > 0:
                beta[j, q] = max(beta[j, q] - move, F(0))
            else:
                beta[j, q] = min(beta[j, q] - move, F(0))


@compiled()
def ascend(net, phases, alphas, betas, low, high, target, steps, momentum, beyond, least, out):
    """Improve the multipliers of all nodes; stop a tile when all of it is below the target.

    Parameters
    ----------
    net : (weights (K, d + K), bias (K,), objective (d + K,), constant, starts (K,), d)
    phases, alphas, betas : (tiles, K, LANES) arrays
        The multipliers are replaced by the best ones found.
    low, high : (K,) arrays
        Pre-activation bounds, ``low < 0 < high``.
    target : float
        A step aims at ``target - max(beyond * first excess over the target, least)``.
    out : (bounds (tiles, LANES), coefficients (tiles, K, LANES) at the best multipliers,
        on_losses, off_losses (tiles, K, LANES), points (tiles, d, LANES))
    """
    bounds, best_coefficients, on_losses, off_losses, points = out
    d, k = net[5], len(net[1])
    coefficients, y = np.empty((d + k, LANES), F), np.empty((d + k, LANES), F)
    z, velocity = np.empty((k, LANES), F), np.empty((k, LANES), F)
    upper, offset = np.empty((k, LANES), F), np.empty((k, LANES), F)
    bound, fall, extra = np.empty(LANES, F), np.empty(LANES, F), np.empty(LANES, F)
    for tile in range(len(phases)):
        phase, best = phases[tile], bounds[tile]
        alpha, beta = alphas[tile].copy(), betas[tile].copy()
        mean_z, mean_a = on_losses[tile], off_losses[tile]
        _lines(phase, low, high, upper, offset)
        best[:] = np.inf
        mean_z[:], mean_a[:], points[tile], velocity[:] = F(0), F(0), F(0), F(0)
        weight = F(0)
        for step in range(steps + 1):
            _backward(net, upper, offset, alpha, beta, coefficients, bound)
            for q in range(LANES):
                if bound[q] < best[q]:
                    best[q] = bound[q]
                    for j in range(k):
                        alphas[tile, j, q], betas[tile, j, q] = alpha[j, q], beta[j, q]
                        best_coefficients[tile, j, q] = coefficients[d + j, q]
            if best.max() <= target:
                break
            _relaxed_point(net, upper, offset, alpha, coefficients, y, z)
            weight = MEMORY * weight + F(1)
            mean_z[:] = MEMORY * mean_z + z
            mean_a[:] = MEMORY * mean_a + coefficients[d:]
            points[tile] = MEMORY * points[tile] + y[:d]
            if step == 0:
                for q in range(LANES):
                    extra[q] = max(beyond * (bound[q] - target), least)
            for q in range(LANES):
                fall[q] = max(bound[q] - target, F(0)) + extra[q]
            _step(phase, coefficients[d:], z, fall, momentum, alpha, beta, velocity)
        if weight > F(0):
            points[tile] /= weight
            _losses(phase, upper, offset, weight, mean_z, mean_a)


@compiled()
def _lines(phase, low, high, upper, offset):
    """Write slope and offset of the upper line of every ReLU of a tile."""
    for j in range(len(phase)):
        for q in range(LANES):
            open_ = phase[j, q] == 0
            slope = high[j] / (high[j] - low[j]) if open_ else F(phase[j, q] > 0)
            upper[j, q] = slope
            offset[j, q] = -slope * low[j] if open_ else F(0)


@compiled()
def _losses(phase, upper, offset, weight, mean_z, mean_a):
    """Turn sums of z and a into estimated falls of the bound when on and when off."""
    for j in range(len(phase)):
        for q in range(LANES):
            z, a = mean_z[j, q] / weight, mean_a[j, q] / weight
            on = offset[j, q] - (F(1) - upper[j, q]) * z
            off = offset[j, q] + upper[j, q] * z
            if a > F(0):
                on, off = a * on, a * off
            else:
                on, off = F(-0.5) * a * max(-z, F(0)), F(-0.5) * a * max(z, F(0))
            closed = phase[j, q] != 0
            mean_z[j, q] = F(-1) if closed else max(on, F(1e-6))
            mean_a[j, q] = F(-1) if closed else max(off, F(1e-6))


@compiled()
def prove(data, errors, root_low, root_high, phases, alphas, betas, coefficients, scale, bounds):
    """Lower bounds (N,) to those of the multipliers, recomputed and rounded outward.

    Parameters
    ----------
    data, errors : (A, r, c, constant), (sizes, row_sizes, row_errors, base_error)
        The program.
    root_low, root_high : (n + m,) arrays
        Its ends without phases.
    phases, alphas, betas, coefficients : (N, K) arrays
    scale : float
        What the ascent divided the objective by.
    bounds : (N,) array
    """
    A, r, c, constant = data
    sizes, row_sizes, row_errors, base_error = errors
    m, n = A.shape
    k = phases.shape[1]
    mu, e = np.empty(m), np.empty(n)
    low, high = np.empty(n + m), np.empty(n + m)
    for node in range(len(phases)):
        low[:], high[:], mu[:] = root_low, root_high, 0.0
        for j in range(k):
            a, beta = scale * coefficients[node, j], scale * betas[node, j]
            if phases[node, j] == 0:
                mu[j] = min(a, 0.0) * alphas[node, j]
                mu[k + j] = -max(a, 0.0)
            elif phases[node, j] > 0:
                mu[j] = a + beta
                high[n + j] = 0.0
            else:
                mu[j] = beta
                high[n - k + j] = 0.0
        bound = safe_bound(
            A, r, c, constant, low, high, mu, e, sizes, row_sizes, row_errors, base_error
        )
        if bound < bounds[node]:
            bounds[node] = bound
