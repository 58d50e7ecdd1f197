"""Uniform samples of a domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.errors import InputError
from nnbo_mip.space.arrays import FloatArray

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain

REJECTION_BUDGET = 1 << 18


def sample(domain: Domain, n: int, rng: np.random.Generator) -> FloatArray:
    """Return n admissible points (n, d), uniform on the domain."""
    lower, upper, feasible = domain.tighten(domain.lower, domain.upper)
    if not feasible:
        raise InputError("no point satisfies the constraints, so none can be sampled.")
    if not domain.b.size:
        return product_sample(domain, lower, upper, n, rng)
    found: list[FloatArray] = []
    missing, drawn = n, 0
    while missing > 0 and drawn < REJECTION_BUDGET:
        batch = product_sample(domain, lower, upper, 4096, rng)
        batch = batch[domain.admissible(batch)][:missing]
        found.append(batch)
        missing -= len(batch)
        drawn += 4096
    if missing > 0:
        raise InputError("no admissible point was found by rejection.")
    return np.concatenate([np.empty((0, domain.dimension)), *found])


def product_sample(
    domain: Domain, lower: FloatArray, upper: FloatArray, n: int, rng: np.random.Generator
) -> FloatArray:
    """Sample the box [lower, upper] with its grids and groups, ignoring rows: (n, d).

    The box must be one that `Domain.tighten` found feasible.
    """
    X = np.empty((n, domain.dimension))
    for j, grid in enumerate(domain.grids):
        if j in domain.one_hot_members:
            continue
        if grid is None:
            draws = rng.uniform(lower[j], upper[j], size=n)
            X[:, j] = np.clip(draws, lower[j], upper[j])
        else:
            first, last = int(grid.index_above(lower[j])), int(grid.index_below(upper[j]))
            X[:, j] = grid.value(rng.integers(first, last, size=n, endpoint=True))
    for group in domain.one_hot:
        members = np.array(group)
        possible = members[upper[members] == 1.0]
        X[:, members] = 0.0
        X[np.arange(n), rng.choice(possible, size=n)] = 1.0
    return X
