"""Squared errors of small networks and their gradients, compiled: one point at a time."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.compiled import compiled


@compiled(fastmath={"reassoc", "contract"}, error_model="numpy")
def write_misfits(theta, widths, activation, u, v, values, gradients):  # type: ignore[no-untyped-def]
    """Write the misfits of C networks and their gradients.

    Parameters
    ----------
    theta : (C, P) array
        Weights as `Layout` has them.
    widths : (K + 1,) array of int
        Inputs, hidden widths, 1.
    activation : int
        0 for relu, 1 for tanh, else sigmoid.
    u, v : (n, d) and (n,) arrays
        Inputs and values.
    values, gradients : (C,) and (C, P) arrays
        What is written.
    """
    depth = len(widths) - 1
    values[:] = 0.0
    gradients[:] = 0.0
    units = np.empty(widths.sum())  # the values of every layer, one after the other
    adjoint, before = np.empty(widths.max()), np.empty(widths.max())
    for chain in range(len(theta)):
        weights, slopes = theta[chain], gradients[chain]
        for point in range(len(u)):
            units[: widths[0]] = u[point]
            here, place = 0, 0  # where this layer's inputs and its weights stand
            for layer in range(depth):
                n_in, n_out = widths[layer], widths[layer + 1]
                there = here + n_in
                outputs = units[there : there + n_out]
                outputs[:] = weights[place + n_in * n_out : place + (n_in + 1) * n_out]
                for i in range(n_in):
                    row = weights[place + i * n_out : place + (i + 1) * n_out]
                    value = units[here + i]
                    for j in range(n_out):
                        outputs[j] += value * row[j]
                if layer < depth - 1:
                    for j in range(n_out):
                        if activation == 0:
                            outputs[j] = max(outputs[j], 0.0)
                        elif activation == 1:
                            outputs[j] = np.tanh(outputs[j])
                        else:
                            outputs[j] = 1.0 / (1.0 + np.exp(-outputs[j]))
                here, place = there, place + (n_in + 1) * n_out
            error = units[here] - v[point]
            values[chain] += error * error
            adjoint[0] = 2.0 * error
            for layer in range(depth - 1, -1, -1):
                n_in, n_out = widths[layer], widths[layer + 1]
                here -= n_in
                place -= (n_in + 1) * n_out
                for j in range(n_out):
                    slopes[place + n_in * n_out + j] += adjoint[j]
                for i in range(n_in):
                    row = weights[place + i * n_out : place + (i + 1) * n_out]
                    slope_row = slopes[place + i * n_out : place + (i + 1) * n_out]
                    value, back = units[here + i], 0.0
                    for j in range(n_out):
                        slope_row[j] += value * adjoint[j]
                        back += adjoint[j] * row[j]
                    if activation == 0:
                        before[i] = back if value > 0.0 else 0.0
                    elif activation == 1:
                        before[i] = back * (1.0 - value * value)
                    else:
                        before[i] = back * value * (1.0 - value)
                adjoint, before = before, adjoint
