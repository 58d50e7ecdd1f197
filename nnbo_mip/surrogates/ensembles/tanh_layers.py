"""Members with one hidden layer of tanh as the layers of one network, in the user's units."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.budget import reserve
from nnbo_mip.scores.posteriors.tanh import TanhLayers
from nnbo_mip.surrogates.base.observations import Standardization
from nnbo_mip.surrogates.ensembles.stack import Stack


def tanh_layers(stack: Stack, units: Standardization, reach: float) -> TanhLayers:
    """Return inner, bias, outer, direct and offset of a `TanhMembers`: mean, then members.

    Parameters
    ----------
    stack : Stack
        Of M members with one hidden layer and one output that is read.
    units : Standardization
        From the user's units to the members'.
    reach : float
        How far the members are moved apart about their mean.
    """
    count, d = stack.n_members, stack.n_inputs
    (inner, outer), (bias, offset) = stack.weights, stack.biases
    h = inner.shape[1]
    last = np.broadcast_to(outer[:, 0], (count, h))
    if stack.masks is not None:
        last = last * stack.masks[0]
    blocks = max(len(inner), len(bias))
    reserve(
        f"the spread of {count} members",
        n_bytes=8.0 * (5.0 * count**2 + 2.0 * count * blocks * h),
        operations=2.0 * count**2 * h,
    )
    inner = np.broadcast_to(inner, (blocks, h, d)).reshape(blocks * h, d)
    bias = np.broadcast_to(bias, (blocks, h)).reshape(blocks * h)
    linked = np.zeros((count, d)) if stack.skip is None else stack.skip[:, 0]
    shift = np.broadcast_to(offset[:, 0], count) - linked @ (units.x_center / units.x_scale)
    average = np.full((count, count), 1.0 / count)
    moved = average + reach * (np.eye(count) - average)
    combined = units.y_scale * np.vstack([average[:1], moved])
    return (
        *units.first_layer(inner, bias),
        (combined[:, :, None] * last).reshape(-1, count * h) if blocks > 1 else combined @ last,
        combined @ (linked / units.x_scale),
        units.y_center + combined @ shift,
    )
