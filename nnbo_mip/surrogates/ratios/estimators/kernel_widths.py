"""Widths of kernels: multiples of the median distance, compared by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number
from nnbo_mip.surrogates.ratios.estimators.labels import Labels

MULTIPLES = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5)
"""Of the median distance."""

FOLDS = 5


def check_width(width: float | None) -> None:
    """Refuse a multiple that is none; None is a choice by cross-validation."""
    if width is not None:
        check_number("width", width, above=0.0)


def median_distance(X: FloatArray) -> float:
    """Return the median distance of points that differ; 1 where there are none."""
    distances = pdist(X)
    apart = distances[distances > 0.0]
    return float(np.median(apart)) if len(apart) else 1.0


@dataclass(frozen=True, eq=False)
class Split:
    """Good and bad points to learn from and to be judged by.

    Parameters
    ----------
    good, bad, held_good, held_bad : (·, d) arrays
    """

    good: FloatArray
    bad: FloatArray
    held_good: FloatArray
    held_bad: FloatArray


def splits(X: FloatArray, labels: Labels, seed: int) -> Iterator[Split]:
    """Yield folds, none where a class has fewer than two members."""
    rng = np.random.default_rng(seed)
    good, bad = (X[mask][rng.permutation(int(mask.sum()))] for mask in (labels.good, ~labels.good))
    folds = min(FOLDS, len(good), len(bad))
    for fold in range(folds if folds >= 2 else 0):
        held = [np.arange(len(part)) % folds == fold for part in (good, bad)]
        yield Split(good[~held[0]], bad[~held[1]], good[held[0]], bad[held[1]])
