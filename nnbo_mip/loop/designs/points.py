"""Points from which initial designs are made: uniform ones, spread ones, distinct ones.

All are in model coordinates, where a logarithmic side is linear. The values of a linear grid, and
the levels of a category, are equally likely; those of a logarithmic grid have the share of the
side that is nearest to them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.maximizers.heuristics.unit_cube import UnitCube
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid

SAME = 1e-7
"""Points that differ by less in every coordinate count as one."""

ROUNDS = 8
"""Draws for points that repeat none, before what is left of the domain is looked for."""


def uniform_points(domain: Domain, n: int, rng: np.random.Generator) -> FloatArray:
    """Return n admissible points (n, d), independent and uniform."""
    points = domain.sample(n, rng)
    for j, grid in _logarithmic_grids(domain):
        drawn = rng.uniform(domain.lower[j], domain.upper[j], size=n)
        points[:, j] = grid.value(grid.nearest(drawn))
    return domain.held(points)


def cube_of(domain: Domain) -> UnitCube | None:
    """Return the unit cube of the smallest box around a domain, None for an empty one."""
    lower, upper, feasible = domain.tighten(domain.lower, domain.upper)
    if not feasible:
        return None
    is_smaller = np.any(lower > domain.lower) or np.any(upper < domain.upper)
    return UnitCube(domain.restrict(lower, upper) if is_smaller else domain)


def admissible_points(cube: UnitCube, shares: FloatArray) -> FloatArray:
    """Return the admissible ones of the points that `shares` (n, n_variables) stand for."""
    points = cube.decode(shares)
    domain = cube.domain
    for j, grid in _logarithmic_grids(domain):
        low, high = domain.lower[j], domain.upper[j]
        share = shares[:, cube.coordinates.index(j)]
        points[:, j] = grid.value(grid.nearest(low + (high - low) * share))
    points = domain.held(points)
    return np.asarray(points[domain.admissible(points)])


def completed(
    domain: Domain, points: FloatArray, n: int, known: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return n points that repeat neither each other nor a known one, fewer if there are none.

    Parameters
    ----------
    domain : Domain
    points : (m, d) array
        Admissible points that come first.
    n : int
    known : (k, d) array
    rng : numpy.random.Generator
        From which uniform points are drawn for those that are missing.
    """
    kept = distinct(points, known)[:n]
    for _ in range(ROUNDS):
        if len(kept) == n:
            break
        drawn = uniform_points(domain, n - len(kept), rng)
        kept = np.concatenate([kept, distinct(drawn, np.concatenate([known, kept]))])
    while len(kept) < n:
        others = np.concatenate([known, kept])
        try:
            drawn = domain.away_from(others, SAME).sample(n - len(kept), rng)
        except InputError:  # which says that nothing is left
            break
        kept = np.concatenate([kept, distinct(drawn, others)])
    return kept


def distinct(points: FloatArray, known: FloatArray) -> FloatArray:
    """Return the points (m, d) that repeat neither a known nor an earlier one."""
    others = np.concatenate([known, points])
    fresh = np.zeros(len(others), dtype=np.bool_)
    fresh[: len(known)] = True
    for place, point in enumerate(points, start=len(known)):
        earlier = others[:place][fresh[:place]]
        fresh[place] = not (np.abs(earlier - point) < SAME).all(axis=1).any()
    return np.asarray(points[fresh[len(known) :]])


def _logarithmic_grids(domain: Domain) -> Iterator[tuple[int, Grid]]:
    """Yield the coordinates with a listed grid that may be drawn apart, as those of a log scale.

    Rows never touch these; they may touch a table of values.
    """
    in_rows = np.any(domain.own_rows[0] != 0.0, axis=0)
    for j, grid in enumerate(domain.grids):
        is_listed = grid is not None and grid.uniform_step is None
        if grid is not None and is_listed and domain.lower[j] < domain.upper[j] and not in_rows[j]:
            yield j, grid
