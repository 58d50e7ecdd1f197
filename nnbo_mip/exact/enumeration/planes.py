r"""One affine upper bound of the output over each simplex, by a backward pass.

The forward forms add up absolute weights in every layer; going backwards from the
output, contributions of opposite sign cancel before they are bounded. With

    f <= K(x) + sum_k a_k . h_k

(K an affine form, at first the head's), the layers are replaced from last to first. A
ReLU with pre-activation in [l, u], l < 0 < u, is replaced, where its coefficient a is

    negative:  by its lower line s z, s in {0, 1},
    positive:  by its upper line  r z + o,  r = u / (u - l),  o >= max(-r l, u - r u),
               or, where z is (nearly) affine on the simplex, by its upper form
               itself, which lies below that line,

and z by the affine map of earlier layers. What remains is an affine form of x, largest at
a vertex.

Rounding. [l, u] is widened by the constants of `exact.rounding`, so the lines are true;
the pass itself is a chain of products that those constants cover too. They are coarser
than those of `gains`, but this bound serves to discard simplices, while the last digits
are decided by the forward forms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.enumeration.forms import LayerForms
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF

NEARLY_AFFINE = 1e-3
"""Radius of a pre-activation, as a share of the offset of its upper line, up to which the
upper form replaces the line."""


@dataclass(frozen=True, eq=False)
class UpperPlane:
    """Bounds of the output on B simplices, and where their slack comes from.

    Parameters
    ----------
    upper : (B,) array
        Proven upper bound of the output.
    impact : tuple of (B, n_l) arrays
        For every ReLU the height of its relaxation times the size of its coefficient:
        roughly what the bound would gain if the ReLU kept its sign.
    """

    upper: FloatArray
    impact: tuple[FloatArray, ...]


def upper_plane(
    problem: Problem, vertices: FloatArray, layers: tuple[LayerForms, ...]
) -> UpperPlane:
    """Bound the output over simplices with vertices (V, B, d) from the forms of its layers."""
    network, rounding = problem.network, problem.rounding
    batch = vertices.shape[1]
    coefficients = [
        np.zeros((batch, network.source_width(k))) for k in range(len(network.layers) + 1)
    ]
    for source in network.head.terms:
        coefficients[source] += network.head.pull_back(np.ones((1, 1)), source)
    plane = np.full(vertices.shape[:2], network.head.bias[0])
    impact: list[FloatArray] = []
    for position in range(len(network.layers), 0, -1):
        layer, affine = layers[position - 1], network.layers[position - 1]
        error = rounding.layers[position - 1]
        weight = coefficients[position]
        low, high = layer.low - error, layer.high + error
        crossing = (low < 0.0) & (high > 0.0)
        positive = weight > 0.0
        width = np.where(crossing, high - low, 1.0)
        slope = np.where(crossing, high / width, high > 0.0)
        offset = np.maximum(-slope * low, high - slope * high) + 4.0 * UNIT_ROUNDOFF * width
        offset = np.where(crossing, offset, 0.0)
        impact.append(np.abs(weight) * offset)

        by_form = positive & crossing
        if layer.radius is not None:
            by_form &= layer.radius.max(axis=0) <= NEARLY_AFFINE * offset
        share = np.where(by_form, weight, 0.0)
        plane += (layer.above * share).sum(axis=2) + share @ error
        by_line = positive & ~by_form
        lower_slope = np.where(crossing, layer.rising, slope)
        passed = weight * np.where(by_form, 0.0, np.where(positive, slope, lower_slope))
        plane += (np.where(by_line, weight * offset, 0.0) + passed * affine.bias).sum(axis=1)
        for source in affine.terms:
            coefficients[source] += affine.pull_back(passed, source)
    plane += (vertices * coefficients[0]).sum(axis=2)
    return UpperPlane(plane.max(axis=0) + rounding.output, tuple(reversed(impact)))
