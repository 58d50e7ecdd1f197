"""The wrapper `integer`: a problem whose variables, all or some, are whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.checks import as_floats, as_whole
from nnbo_mip.core.errors import InputError
from nnbo_mip.problems.problem import Function, Problem
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.dimensions import Integer, Real
from nnbo_mip.space.space import Space

MAX_ENUMERATED = 200_000
"""Number of points up to which the best one is found by looking at all of them."""

TIE = 1e-12
"""Values this close, relative to 1 + |value|, are equal up to rounding."""


def integer(problem: object, dimensions: object = None, levels: int | None = None) -> Problem:
    """Return a problem with integer variables; its x are dicts.

    Where all variables are whole and their grid has at most 200 000 points, optimum and
    worst value are found by looking at all of them. Else the known optimizers that are on
    the grid stay optimal, and where none is, the optimum is unknown.

    Parameters
    ----------
    problem : Problem, str or mapping
        What `create` takes, of real variables.
    dimensions : sequence of str or int, optional
        Names or positions of the variables that become integer; all of them if left out.
    levels : int, optional
        If given, each takes the values 0, …, levels - 1, spread evenly over its range from
        end to end. If not, the whole numbers within its range.
    """
    from nnbo_mip.problems.catalogue import registry

    inner = registry.create(problem)
    if inner.noise is not None:
        raise InputError(
            f"noise comes after integers; {inner.name!r} has {inner.noise}; make the problem "
            "integer first and noisy then."
        )
    columns = _columns(inner, dimensions)
    if levels is not None:
        levels = as_whole(levels, "levels")
        if levels < 2:
            raise InputError(f"levels must be >= 2; got {levels}; raise it.")
        if inner.space.constraints:
            raise InputError(
                f"levels change what the constraints of {inner.name!r} mean; got both; "
                "make the problem integer first and constrain it then."
            )
    kept = list(inner.space.dimensions)
    for column in columns:
        kept[column] = _whole(kept[column], levels)
    space = Space(kept, inner.space.constraints)
    grid = _grid_map(inner, columns, levels)
    names = "" if len(columns) == len(kept) else " " + " ".join(kept[j].name for j in columns)
    bare = replace(
        inner,
        name=f"{inner.name}, integer{names}" + ("" if levels is None else f" of {levels}"),
        space=space,
        function=grid,
        optimum=None,
        optimizers=None,
        worst=None,
    )
    if all(isinstance(dimension, Integer) for dimension in kept):
        count = math.prod(int(d.upper - d.lower) + 1 for d in kept if isinstance(d, Integer))
        if count <= MAX_ENUMERATED:
            return _enumerated(bare)
    return _inherited(bare, inner, grid)


@dataclass(frozen=True, eq=False)
class GridMap:
    """A function of whole numbers: column j of its argument is moved to ``start + step k``.

    Parameters
    ----------
    function : callable
        Of raw coordinates (n, d).
    columns : (c,) array
        Which of them are whole numbers.
    start, step : (c,) arrays
        Where 0 lies, and how far neighbours are apart.
    """

    function: Function
    columns: IntArray
    start: FloatArray
    step: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the values (n,) at raw coordinates (n, d)."""
        moved = X.copy()
        moved[:, self.columns] = self.start + self.step * X[:, self.columns]
        return as_floats(self.function(moved), "values")

    def inverse(self, X: FloatArray) -> FloatArray:
        """Return arguments (n, d) for points (n, d) of the function; whole where on the grid."""
        moved = X.copy()
        whole = (X[:, self.columns] - self.start) / self.step
        near = np.rint(whole)
        on_grid = np.abs(whole - near) <= TIE * np.maximum(1.0, np.abs(near))
        moved[:, self.columns] = np.where(on_grid, near, whole)
        return moved


def _columns(problem: Problem, given: object) -> list[int]:
    names = problem.space.dim_names
    wanted = range(len(names)) if given is None else given
    if not isinstance(wanted, Sequence) or isinstance(wanted, str) or not wanted:
        raise InputError(
            f"dimensions must be a sequence of names or positions, at least one; got {given!r}; "
            f"choose from {', '.join(names)}."
        )
    columns = set()
    for entry in wanted:
        named = names.index(entry) if entry in names else entry
        if isinstance(named, bool) or not isinstance(named, int) or not 0 <= named < len(names):
            raise InputError(
                f"a dimension of {problem.name!r} must be one of {', '.join(names)} or a position "
                f"below {len(names)}; got {entry!r}; choose one."
            )
        if not _is_plain(problem.space.dimensions[named]):
            raise InputError(
                "only real dimensions without step or logarithm become integer; got "
                f"{problem.space.dimensions[named]!r}; leave it out of dimensions."
            )
        columns.add(named)
    return sorted(columns)


def _is_plain(dimension: Dimension) -> bool:
    return isinstance(dimension, Real) and not dimension.log and dimension.step is None


def _whole(dimension: Any, levels: int | None) -> Integer:
    if levels is not None:
        return Integer(dimension.name, 0, levels - 1)
    lower, upper = math.ceil(dimension.lower), math.floor(dimension.upper)
    if lower > upper:
        raise InputError(
            f"{dimension.name!r} must have a whole number in its range; got "
            f"[{dimension.lower}, {dimension.upper}]; pass levels=."
        )
    return Integer(dimension.name, lower, upper)


def _grid_map(problem: Problem, columns: list[int], levels: int | None) -> GridMap:
    """Return the function of the problem with the dimensions of these positions whole."""
    starts = np.cumsum([0, *(dimension.width for dimension in problem.space.dimensions)])
    index = starts[columns].astype(np.int64)  # a categorical before it has a column a level
    if levels is None:
        return GridMap(problem.function, index, np.zeros(index.size), np.ones(index.size))
    box = problem.space.numeric()
    step = (box.upper - box.lower)[index] / (levels - 1)
    return GridMap(problem.function, index, box.lower[index], step)


def _enumerated(bare: Problem) -> Problem:
    box = bare.space.numeric()
    axes = [np.arange(low, high + 1.0) for low, high in zip(box.lower, box.upper, strict=True)]
    raw = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    raw = raw[box.admissible(raw)]
    if not len(raw):
        raise InputError(
            f"no whole numbers satisfy the constraints of {bare.name!r}; loosen them, or leave a "
            "dimension real."
        )
    cost = bare.sign * as_floats(bare.function(raw), "values")
    least, most = float(cost.min()), float(cost.max())
    best = raw[cost <= least + TIE * (1.0 + abs(least))]
    return replace(
        bare,
        optimum=bare.sign * least,
        optimizers=bare.space.from_numeric(best),
        worst=bare.sign * most if most > least else None,
    )


def _inherited(bare: Problem, inner: Problem, grid: GridMap) -> Problem:
    if inner.optimizers is None:
        return bare
    raw = grid.inverse(inner.optimizers)
    kept = raw[bare.space.numeric().admissible(raw)]
    if not len(kept):
        return bare
    return replace(
        bare,
        optimum=inner.optimum,
        optimizers=bare.space.from_numeric(kept),
        worst=inner.worst,
    )
