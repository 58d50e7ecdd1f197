r"""What rounding errors inside a network can do to its output.

A pass over a batch computes, layer after layer, vectors that approximate their real
counterparts. Split the difference at the output by where it arose: if an evaluation of
the map ``z_l = b_l + sum_k W_{l,k} h_k`` from the *computed* ``h_k`` is off by at most
``local_l`` (n_l,), the output is off by at most

    E = local_f + sum_l G_l . local_l,        G_k = sum_{l > k} |W_{l,k}|^T G_l,  G_f = 1,

because a ReLU never enlarges a difference. With summands bounded by ``A_k >= |h_k|``,
``local_l = gamma_l (|b_l| + sum_k |W_{l,k}| A_k)``, so E is affine in the A_k:

    E = e + sum_k q_k . A_k,      e = sum_l gamma_l G_l . |b_l|,
                                  q_k = sum_{l > k} gamma_l |W_{l,k}|^T G_l.

One scalar product a layer and point: cheap, and far sharper than a constant for the
whole box because the A_k are those of the point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.rounding import SMALLEST_SUBNORMAL, gamma
from nnbo_mip.network.graph.affine import Affine

OPERATIONS = 8
"""Rounded operations a summand meets beside its product and its sum."""

OUTWARD = 1.0 + 1e-6
"""Covers the rounding of the constants and of the scalar products themselves, whose
relative error is below 1e-6 for sums of up to 2**32 positive terms."""


@dataclass(frozen=True, eq=False)
class ErrorGains:
    """The constants e and q_k, and the gains of the input.

    Parameters
    ----------
    constant : float
        e, with what underflow can add.
    sources : tuple of (n_k,) arrays
        q_0 (input), q_1, …, q_L.
    inputs : (d,) array
        G_0: a change of the input by delta moves the output by at most ``G_0 . |delta|``.
    """

    constant: float
    sources: tuple[FloatArray, ...]
    inputs: FloatArray

    def is_finite(self) -> bool:
        """Whether float64 can hold the constants at all."""
        vectors = (self.inputs, *self.sources)
        return math.isfinite(self.constant) and all(bool(np.isfinite(v).all()) for v in vectors)


def error_gains(problem: Problem) -> ErrorGains:
    """Compute the constants by one backward pass of absolute weights."""
    network = problem.network
    affines = (*network.layers, network.head)
    widths = [network.source_width(k) for k in range(len(affines))]
    # Products of subnormal numbers vanish; a subnormal a row stands in for them.
    gains = [np.full(width, SMALLEST_SUBNORMAL) for width in widths] + [np.ones(1)]
    charges = [np.full(width, SMALLEST_SUBNORMAL) for width in widths]
    constant = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for position in range(len(affines), 0, -1):
            affine, gain = affines[position - 1], gains[position]
            summands = _summands(affine)
            factor = gamma(summands + OPERATIONS)
            underflow = 4.0 * (summands + OPERATIONS) * SMALLEST_SUBNORMAL
            constant += factor * float(gain @ np.abs(affine.bias)) + underflow * (
                1.0 + float(gain.sum())
            )
            for source, matrix in affine.terms.items():
                passed = abs(matrix).T @ gain * OUTWARD + affine.width * SMALLEST_SUBNORMAL
                gains[source] += passed
                charges[source] += factor * passed
    return ErrorGains(constant * OUTWARD, tuple(q * OUTWARD for q in charges), gains[0])


def _summands(affine: Affine) -> int:
    return 1 + sum(int(matrix.shape[1]) + 1 for matrix in affine.terms.values())
