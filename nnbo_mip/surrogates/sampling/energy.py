"""What the samplers know of a distribution."""

from __future__ import annotations

from collections.abc import Callable

from nnbo_mip.core.arrays import FloatArray

Energy = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Positions (C, P) to energies (C,), minus the log density, and their gradients (C, P)."""


def thinned(draws: FloatArray, kept: int) -> FloatArray:
    """Return at most `kept` of the draws (N, …), equally spaced, the last one among them."""
    count = min(kept, len(draws))
    rows = [(index + 1) * len(draws) // count - 1 for index in range(count)]
    return draws[rows]
