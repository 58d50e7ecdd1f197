"""`GridMemory`: mean and std of the last belief on the last grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.base.abstract import Belief

PROBES = 64
"""Points at which a scaled belief is compared with the remembered one."""

SAME = 1e-9
"""Relative differences that count as none: the order of summation depends on the batch."""


@dataclass(frozen=True, eq=False)
class _Moments:
    belief: Belief
    points: FloatArray
    mean: FloatArray
    std: FloatArray


class GridMemory:
    """What a grid has computed, so that a new threshold, or a new scale of the std, is cheap.

    Notes
    -----
    Holds one belief. Another one is that belief with its uncertainty scaled if both are made of the
    same arrays, their scale aside; by which factor, a few points of the grid tell. Only which point
    of the grid is chosen rests on it: the value of a proposal is always computed.
    """

    def __init__(self) -> None:
        self._kept: _Moments | None = None

    def keep(self, belief: Belief, points: FloatArray, mean: FloatArray, std: FloatArray) -> None:
        """Remember the means and stds (n,) of a belief at points (n, d)."""
        self._kept = _Moments(belief, points, mean, std)

    def recall(self, belief: Belief, points: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the means and stds (n,) of a belief at points (n, d) if they are known."""
        kept = self._kept
        if kept is None or not np.array_equal(kept.points, points):
            return None
        if kept.belief is belief:
            return kept.mean, kept.std
        if not _differ_in_scale_only(kept.belief, belief):
            return None
        probes = np.unique(np.linspace(0, len(points) - 1, PROBES).astype(np.int64))
        mean, std = belief.predict(points[probes], return_std=True)
        before, spread = kept.mean[probes], kept.std[probes]
        factor = float(std.max() / spread.max()) if spread.max() > 0.0 else 0.0
        same_mean = np.abs(mean - before) <= SAME * np.abs(before).max()
        same_shape = np.abs(std - factor * spread) <= SAME * std.max()
        if factor > 0.0 and same_mean.all() and same_shape.all():
            return kept.mean, factor * kept.std
        return None


def _differ_in_scale_only(one: Belief, other: Belief) -> bool:
    """Whether two beliefs are made of the same arrays, `scale` aside."""
    if type(one) is not type(other):
        return False
    first, second = one.to_arrays(), other.to_arrays()
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name]) for name in first if name != "scale"
    )
