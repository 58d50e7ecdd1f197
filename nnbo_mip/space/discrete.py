"""Grids and one-hot groups of a domain, checked, and its ends moved onto them."""

from __future__ import annotations

from collections.abc import Sequence

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.grid import Grid

BINARY = Grid.uniform(0.0, 1.0, 2)


def discrete(
    grids: Sequence[object] | None,
    one_hot: Sequence[Sequence[int]],
    lower: FloatArray,
    upper: FloatArray,
) -> tuple[tuple[tuple[int, ...], ...], tuple[Grid | None, ...], FloatArray, FloatArray]:
    """Check groups and grids of a box; return them, and its ends (d,) moved onto the grids."""
    groups = _checked_groups(one_hot, lower.size)
    all_grids = _checked_grids(grids, groups, lower.size)
    return groups, all_grids, *_ends_on_grids(lower, upper, all_grids)


def _checked_groups(
    one_hot: Sequence[Sequence[int]], dimension: int
) -> tuple[tuple[int, ...], ...]:
    groups = tuple(tuple(int(index) for index in group) for group in one_hot)
    members = [index for group in groups for index in group]
    if any(not group for group in groups) or len(set(members)) != len(members):
        raise InputError(
            f"one-hot groups must be non-empty and disjoint; got {groups}; "
            "name every coordinate in at most one group."
        )
    if any(not 0 <= index < dimension for index in members):
        raise InputError(
            f"one-hot groups must name coordinates 0..{dimension - 1}; got {groups}; "
            "correct the indices."
        )
    return groups


def _checked_grids(
    grids: Sequence[object] | None, groups: tuple[tuple[int, ...], ...], dimension: int
) -> tuple[Grid | None, ...]:
    entries = [None] * dimension if grids is None else list(grids)
    if len(entries) != dimension:
        raise InputError(
            f"grids must have one entry a dimension, {dimension}; got {len(entries)}; "
            "put None where a coordinate is continuous."
        )
    all_grids: list[Grid | None] = []
    for entry in entries:
        if entry is not None and not isinstance(entry, Grid):
            raise InputError(
                f"grids must hold Grid objects or None; got {entry!r}; "
                "make one with Grid.uniform or Grid.listed."
            )
        all_grids.append(entry)
    for index in (index for group in groups for index in group):
        grid = all_grids[index]
        if grid is not None and not (grid.count == 2 and grid.first == 0.0 and grid.last == 1.0):
            raise InputError(
                f"a coordinate of a one-hot group takes the values 0 and 1; got {grid!r} for "
                f"coordinate {index}; leave its grid None."
            )
        all_grids[index] = BINARY
    return tuple(all_grids)


def _ends_on_grids(
    lower: FloatArray, upper: FloatArray, grids: tuple[Grid | None, ...]
) -> tuple[FloatArray, FloatArray]:
    lower, upper = lower.copy(), upper.copy()
    for j, grid in enumerate(grids):
        if grid is None:
            continue
        above, below = int(grid.index_above(lower[j])), int(grid.index_below(upper[j]))
        if above > below:
            raise InputError(
                f"[lower, upper] must hold a value of the grid in every dimension; got "
                f"[{lower[j]}, {upper[j]}] and {grid!r} in dimension {j}; widen the bounds."
            )
        lower[j], upper[j] = grid.value(above), grid.value(below)
    return lower, upper
