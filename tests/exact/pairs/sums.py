"""Random sums of terms, and small domains of binaries, categories, integers and reals for them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.scores.posteriors.pairs import PairwisePosterior
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid

KINDS = ("binaries", "categories", "integers", "mixed", "rows", "equality", "holes")


def domain_of(kind: str, rng: np.random.Generator) -> Domain:
    """Return a domain of at most some hundred points, reals aside."""
    binary, few = Grid.uniform(-1.0, 2.0, 2), Grid.uniform(-1.0, 0.5, 5)
    parts: dict[str, list[Any]] = {
        "binaries": [binary] * 7,
        "categories": ["levels", "levels", "levels", binary],
        "integers": [few, few, binary, Grid.listed([-1.0, 0.0, 0.75])],
        "mixed": ["levels", binary, binary, few, None],
        "rows": ["levels", binary, binary, binary, few],
        "equality": [binary] * 6,
        "holes": [binary] * 5,
    }
    grids: list[Grid | None] = []
    groups, low = [], []
    for part in parts[kind]:
        if part == "levels":
            count = int(rng.integers(2, 6))
            groups.append(tuple(range(len(grids), len(grids) + count)))
            grids += [None] * count
            low += [0.0] * count
        else:
            grids.append(part)
            low.append(-1.0)
    d, high = len(grids), [1.0] * len(grids)
    if kind == "integers":
        high[-1] = 0.75
    rows: dict[str, Any] = {}
    if kind == "rows":
        rows = {"A": rng.standard_normal((2, d)), "b": rng.uniform(0.0, 1.0, 2)}
    if kind == "equality":
        rows = {"A": [[1.0] * d, [-1.0] * d], "b": [-2.0, 2.0]}
    domain = Domain(low, high, grids, groups, **rows)
    if kind == "holes":
        return domain.away_from(rng.choice([-1.0, 1.0], (6, d)), 1e-4)
    return domain


def random_sum(
    domain: Domain, rng: np.random.Generator, share: float = 0.6, count: int = 1
) -> PairwisePosterior:
    """Return members with a share of all terms that are allowed."""
    d = domain.dimension
    many = [
        j
        for j, grid in enumerate(domain.grids)
        if j not in domain.one_hot_members and (grid is None or grid.count > 2)
    ]
    squared = {j for j in many if rng.random() < 0.7}
    terms = [(j, -1) for j in range(d)] + [(j, j) for j in sorted(squared)]
    terms += [
        pair
        for pair in itertools.combinations(range(d), 2)
        if rng.random() < share and not squared.issuperset(pair)
    ]
    return PairwisePosterior(
        d,
        np.array(terms, dtype=np.float64),
        rng.standard_normal((count, len(terms))),
        rng.standard_normal(count),
    )


def every_point(domain: Domain, places: int = 61) -> FloatArray:
    """Return all admissible points (n, d), with so many values of each continuous coordinate."""
    free = [j for j in range(domain.dimension) if j not in domain.one_hot_members]
    axes = [
        np.linspace(domain.lower[j], domain.upper[j], places)
        if (grid := domain.grids[j]) is None
        else grid.value(np.arange(grid.count))
        for j in free
    ]
    rest = np.array(list(itertools.product(*axes))).reshape(-1, len(free))
    parts = []
    for levels in itertools.product(*domain.one_hot):
        points = np.zeros((len(rest), domain.dimension))
        points[:, free] = rest
        points[:, list(levels)] = 1.0
        parts.append(points)
    points = np.concatenate(parts)
    return points[domain.admissible(points)]
