"""Which coordinates are listed value by value, which are swept by simplices, and the cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain, Grid
from nnbo_mip.space.exclusion_free import exclusion_free_boxes

MAX_FREE = 2
"""Largest number of continuous coordinates: beyond it the pieces are too many."""

BOXES_A_EXCLUSION = 4
"""Boxes into which an exclusion cuts a slice at most, where it overlaps no other one."""

LONG_GRID = 64
"""Values beyond which the longest grid is swept rather than listed."""


@dataclass(frozen=True)
class EnumerateOptions:
    """Budgets of the enumeration.

    Parameters
    ----------
    max_slices : int
        Largest number of combinations of the discrete coordinates.
    max_simplices : int
        Simplices bounded before the search stops with what it has.
    """

    max_slices: int = 1_000_000
    max_simplices: int = 4_000_000

    def __post_init__(self) -> None:
        if self.max_slices < 1 or self.max_simplices < 1:
            raise InputError(
                "max_slices and max_simplices must be at least 1; got "
                f"{self.max_slices} and {self.max_simplices}; raise them."
            )


@dataclass(frozen=True, eq=False)
class Axis:
    """Coordinates that are listed together: one on a grid, or a one-hot group.

    Parameters
    ----------
    columns : tuple of int
        The coordinates.
    values : (n, len(columns)) array
        What they can be.
    """

    columns: tuple[int, ...]
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Plan:
    """A domain as slices in which at most two coordinates move.

    Parameters
    ----------
    domain : Domain
    axes : tuple of Axis
        The listed coordinates; every combination is a slice.
    free : tuple of int
        The coordinates that move within a slice.
    swept_grid : Grid or None
        The grid of the only free coordinate, if it has one.
    """

    domain: Domain
    axes: tuple[Axis, ...]
    free: tuple[int, ...]
    swept_grid: Grid | None

    @property
    def slices(self) -> int:
        """Number of combinations of the listed coordinates."""
        return math.prod(len(axis.values) for axis in self.axes)

    def blocks(self, size: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the boxes (n, d) of `size` slices at a time, without those proven empty.

        ExclusionBoxes cut a slice into several boxes; fewer slices are then taken at a time.
        """
        exclusions = len(self.domain.exclusions) if self.free else 0
        size = max(1, size // (1 + BOXES_A_EXCLUSION * exclusions))
        shape = [len(axis.values) for axis in self.axes]
        for start in range(0, self.slices, size):
            index = np.arange(start, min(start + size, self.slices))
            lower = np.tile(self.domain.lower, (index.size, 1))
            upper = np.tile(self.domain.upper, (index.size, 1))
            positions = np.unravel_index(index, shape) if shape else ()
            for axis, position in zip(self.axes, positions, strict=True):
                lower[:, axis.columns] = axis.values[position]
                upper[:, axis.columns] = axis.values[position]
            inside = ((lower >= self.domain.lower) & (upper <= self.domain.upper)).all(axis=1)
            if exclusions:
                lower, upper, _ = exclusion_free_boxes(self.domain, lower[inside], upper[inside])
                yield lower, upper
                continue
            lower, upper, feasible = self.domain.tighten(lower[inside], upper[inside])
            yield lower[feasible], upper[feasible]


def make_plan(domain: Domain, max_slices: int) -> Plan:
    """Decide what is listed and what is swept.

    Grids and one-hot groups are listed and continuous coordinates swept; where there are
    none of these, the longest grid is swept if it is long.

    Raises
    ------
    InputError
        When more than `MAX_FREE` coordinates are continuous or the slices are too many.
    """
    listed: dict[int, tuple[Grid, int, int]] = {}
    free: list[int] = []
    for j, grid in enumerate(domain.grids):
        if j in domain.one_hot_members:
            continue
        if grid is not None:
            ends = domain.lower[j], domain.upper[j]
            listed[j] = (grid, int(grid.index_above(ends[0])), int(grid.index_below(ends[1])))
        elif domain.lower[j] < domain.upper[j]:
            free.append(j)
    if len(free) > MAX_FREE:
        raise InputError(
            f"enumeration needs at most {MAX_FREE} continuous coordinates; got {len(free)} "
            f'({", ".join(map(str, free))}); use the method "auto" or "bab".'
        )
    counts = {j: last - first + 1 for j, (_, first, last) in listed.items()}
    swept_grid = None
    longest = max(counts, key=lambda j: counts[j], default=-1)
    if not free and counts.get(longest, 0) > LONG_GRID:
        del counts[longest]
        free, swept_grid = [longest], listed.pop(longest)[0]
    slices = math.prod(counts.values()) * math.prod(map(len, domain.one_hot))
    if slices > max_slices:
        raise InputError(
            f"enumeration lists at most max_slices={max_slices} combinations of discrete "
            f'coordinates; got {slices}; use the method "auto" or "bab".'
        )
    axes = [
        Axis((j,), grid.value(np.arange(first, last + 1))[:, None])
        for j, (grid, first, last) in listed.items()
    ]
    axes += [Axis(group, np.eye(len(group))) for group in domain.one_hot]
    return Plan(domain, tuple(axes), tuple(free), swept_grid)


def plan_of(problem: Problem, options: EnumerateOptions) -> Plan | None:
    """Return the plan for the tightened domain; None if that is empty."""
    domain = problem.domain
    lower, upper, feasible = domain.tighten(domain.lower, domain.upper)
    if not feasible:
        return None
    return make_plan(domain.restrict(lower, upper), options.max_slices)


def estimate_cost(problem: Problem) -> float:
    """Estimate the floating-point operations of `solve`; infinite where it refuses.

    A bound of a simplex with V vertices costs about 2 V + 2 passes through the network.
    Every combination of the discrete coordinates needs a few bounds and the best of them
    some hundred more; in polygons as many as there are ReLUs, and twice as many for every
    further layer, because forms widen with depth. Measured within a factor of ten.
    """
    try:
        plan = plan_of(problem, EnumerateOptions())
    except InputError:
        return np.inf
    if plan is None:
        return 0.0
    network = problem.network
    weights = sum(
        affine.width * network.source_width(source)
        for affine in (*network.layers, network.head)
        for source in affine.terms
    )
    simplices = float(plan.slices)
    boxes = plan.slices * (1.0 + len(plan.domain.exclusions))
    if len(plan.free) == 1:
        simplices = 3.0 * boxes + 100.0
    elif len(plan.free) == 2:
        simplices = 8.0 * boxes + (100.0 + network.n_relus) * 2.0 ** (_depth(network) - 2)
    return 2.0 * weights * (2 * len(plan.free) + 4) * simplices


def _depth(network: Network) -> int:
    """Return the number of ReLU layers on the longest path."""
    depths = [0]
    for layer in network.layers:
        depths.append(1 + max((depths[source] for source in layer.terms), default=0))
    return max(depths)
