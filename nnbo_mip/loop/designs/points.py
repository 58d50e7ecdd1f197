"""Points from which initial designs are made: uniform ones, spread ones, distinct ones.

All are in model coordinates, where a logarithmic side is linear. The values of a linear grid, and
the levels of a category, are equally likely; those of a logarithmic grid have the share of the
side that is nearest to them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.maximizers.heuristics.unit_cube import UnitCube
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid

SAME = 1e-7
"""Points that differ by less in every coordinate count as one."""

MOST_POINTS = 100_000
"""Of a design."""

MOST_NUMBERS = 1 << 24
"""Coordinates of all points of a design together."""

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
    fresh = np.ones(len(others), dtype=np.bool_)
    for place in np.flatnonzero(_has_neighbour(others)[len(known) :]) + len(known):
        point = others[place]
        earlier = others[:place][fresh[:place]]
        fresh[place] = not (np.abs(earlier - point) < SAME).all(axis=1).any()
    return np.asarray(points[fresh[len(known) :]])


def _has_neighbour(points: FloatArray) -> BoolArray:
    """Return which points (n,) may be the same as another one.

    Along a random direction they lie close together then; so few pairs are ever compared.
    """
    n, d = points.shape
    if not n or not d:
        return np.ones(n, dtype=np.bool_)
    direction: FloatArray = np.random.default_rng(0).uniform(1.0, 2.0, (d,))
    along: FloatArray = points @ direction
    total = float(np.sum(direction))
    reach = SAME * total + 1e-12 * np.abs(points).max(initial=1.0) * total
    order = np.argsort(along)
    close = np.diff(along[order]) <= reach
    found = np.zeros(n, dtype=np.bool_)
    found[order] = np.append(close, False) | np.insert(close, 0, False)
    return found


def _logarithmic_grids(domain: Domain) -> Iterator[tuple[int, Grid]]:
    """Yield the coordinates with a listed grid that may be drawn apart, as those of a log scale.

    Rows never touch these; they may touch a table of values.
    """
    in_rows = np.any(domain.own_rows[0] != 0.0, axis=0)
    for j, grid in enumerate(domain.grids):
        is_listed = grid is not None and grid.uniform_step is None
        if grid is not None and is_listed and domain.lower[j] < domain.upper[j] and not in_rows[j]:
            yield j, grid
