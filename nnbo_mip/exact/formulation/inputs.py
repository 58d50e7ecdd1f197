r"""The columns and rows of a domain: how a program says ``x is admissible``.

Every input is an affine expression of columns that are of order 1:

    fixed            x = value
    continuous       x = shift + 2^k t,                  t in [(l - shift) / 2^k, (u - shift) / 2^k]
    uniform grid     x = first + step n,                 n whole
    listed grid      x = sum_v v y_v,  sum_v y_v = 1,    y binary
    one-hot member   x = y,            sum of group = 1, y binary

with shift 0 unless the box lies far from 0 for its width. The rows ``A x <= b`` are
relaxed by the slack that admissible points have and, as all rows but the sums of binaries
are, by `MARGIN`. Exclusions are left out by further binaries (`formulation.exclusions`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.formulation.builder import ModelBuilder
from nnbo_mip.exact.formulation.exclusions import ExclusionColumns, add_exclusions
from nnbo_mip.exact.formulation.expression import Expressions, apply_affine
from nnbo_mip.exact.formulation.model import power_of_two_above
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF
from nnbo_mip.network.graph.affine import Affine

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain
    from nnbo_mip.space.grid import Grid

LONGEST_LIST = 4096
"""Largest number of listed values of one coordinate, each of which takes a binary."""

LARGEST_WHOLE = 2**20
"""Uniform grids with more values become continuous: solvers cannot tell such whole numbers
from others, and the relaxed set contains the grid, so that bounds stay true."""

FAR = 16.0
"""A box whose centre is this many half widths from 0 is shifted."""

VALUE_ERROR_IN_ULPS = 16.0
"""Values of a uniform grid are rounded (2 units in the last place, as is the one counted
from) and the last one may be pinned (4, see `_is_regular`)."""


@dataclass(frozen=True, eq=False)
class InputColumns:
    """The expressions of the inputs, and the way from a point to its columns.

    Parameters
    ----------
    expressions : Expressions
        One a coordinate.
    direct : tuple of (coordinate, column)
        Coordinates written as ``shift + scale * column``.
    listed : tuple of (coordinate, columns)
        Coordinates written as a choice between the values of a grid.
    shifts, scales : (d,) arrays
        Of the direct coordinates.
    exclusions : ExclusionColumns or None
        The binaries of faces, where the domain has exclusions.
    """

    expressions: Expressions
    direct: tuple[tuple[int, int], ...]
    listed: tuple[tuple[int, IntArray], ...]
    shifts: FloatArray
    scales: FloatArray
    exclusions: ExclusionColumns | None = None


def add_inputs(builder: ModelBuilder, domain: Domain) -> InputColumns:
    """Append the columns and rows of a domain; return how inputs read in them."""
    writer = _InputWriter(builder, domain)
    for j in range(domain.dimension):
        writer.add_coordinate(j)
    inputs = writer.finish()
    _add_one_hot(builder, domain, dict(inputs.direct))
    _add_domain_rows(builder, domain, inputs.expressions)
    if not len(domain.exclusions):
        return inputs
    return replace(inputs, exclusions=add_exclusions(builder, domain, inputs.expressions))


class _InputWriter:
    """Collects one coordinate after another."""

    def __init__(self, builder: ModelBuilder, domain: Domain) -> None:
        self.builder, self.domain = builder, domain
        self.shifts = domain.lower.copy()
        self.scales = np.ones(domain.dimension)
        self.errors = np.zeros(domain.dimension)
        self.direct: list[tuple[int, int]] = []
        self.listed: list[tuple[int, IntArray]] = []
        self.entries: list[tuple[int, int, float]] = []

    def add_coordinate(self, j: int) -> None:
        lower, upper = float(self.domain.lower[j]), float(self.domain.upper[j])
        grid = self.domain.grids[j]
        if lower == upper:
            return
        if grid is None:
            self._add_continuous(j, lower, upper)
        elif grid.uniform_step is not None and _is_regular(grid):
            self._add_uniform(j, grid, lower, upper)
        else:
            self._add_listed(j, grid, lower, upper)

    def _add_continuous(self, j: int, lower: float, upper: float) -> None:
        middle, radius = 0.5 * lower + 0.5 * upper, 0.5 * upper - 0.5 * lower
        shift = middle if abs(middle) > FAR * radius else 0.0
        scale = float(power_of_two_above(max(abs(lower - shift), abs(upper - shift))))
        # Differences are rounded, so the ends move outwards by one unit in the last place.
        low, high = (lower - shift) / scale, (upper - shift) / scale
        if shift:
            low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
        self._add_direct(j, f"x{j}", shift, scale, low, high, integer=False)

    def _add_uniform(self, j: int, grid: Grid, lower: float, upper: float) -> None:
        step = float(grid.uniform_step or 1.0)
        first = int(grid.index_above(lower))
        count = int(grid.index_below(upper)) - first
        largest = max(abs(grid.first), abs(grid.last), step * grid.count)
        self.errors[j] = VALUE_ERROR_IN_ULPS * np.spacing(largest)
        if count < LARGEST_WHOLE:
            self._add_direct(j, f"n{j}", lower, step, 0.0, float(count), integer=True)
        else:
            scale = float(power_of_two_above(upper - lower))
            high = np.nextafter((upper - lower) / scale, np.inf)
            self._add_direct(j, f"x{j}", lower, scale, 0.0, high, integer=False)

    def _add_direct(
        self,
        j: int,
        name: str,
        shift: float,
        scale: float,
        low: float,
        high: float,
        *,
        integer: bool,
    ) -> None:
        column = int(self.builder.add_columns([name], low, high, integer=integer)[0])
        self.shifts[j], self.scales[j] = shift, scale
        self.direct.append((j, column))
        self.entries.append((j, column, scale))

    def _add_listed(self, j: int, grid: Grid, lower: float, upper: float) -> None:
        first, last = int(grid.index_above(lower)), int(grid.index_below(upper))
        count = last - first + 1
        if count > LONGEST_LIST:
            raise UnsupportedError(
                f"the integer programs take one binary a listed value, at most {LONGEST_LIST} a "
                f"coordinate; got {count} values for coordinate {j}; use the method 'bab'."
            )
        values = grid.value(np.arange(first, last + 1))
        columns = self.builder.add_columns(
            [f"x{j}v{v}" for v in range(count)], 0.0, 1.0, integer=True
        )
        self.shifts[j] = 0.0
        self.listed.append((j, columns))
        self.entries.extend((j, int(c), float(v)) for c, v in zip(columns, values, strict=True))
        self.builder.add_rows([f"one_value{j}"], _ones(self.builder, columns), 1.0, 1.0, margin=0.0)

    def finish(self) -> InputColumns:
        rows = np.array([row for row, _, _ in self.entries], dtype=np.intp)
        columns = np.array([column for _, column, _ in self.entries], dtype=np.intp)
        data = np.array([value for _, _, value in self.entries])
        shape = (self.domain.dimension, self.builder.n_columns)
        matrix = csr_array((data, (rows, columns)), shape=shape)
        expressions = Expressions(self.shifts, matrix, self.errors)
        return InputColumns(
            expressions, tuple(self.direct), tuple(self.listed), self.shifts, self.scales
        )


def input_values(inputs: InputColumns, point: FloatArray, n_columns: int) -> FloatArray:
    """Return the columns (n_columns,) of an admissible point (d,); others are 0."""
    columns = np.zeros(n_columns)
    for j, column in inputs.direct:
        columns[column] = (point[j] - inputs.shifts[j]) / inputs.scales[j]
    for j, choice in inputs.listed:
        values = inputs.expressions.matrix[[j]].toarray()[0, choice]
        columns[choice[np.argmin(np.abs(values - point[j]))]] = 1.0
    if inputs.exclusions is not None:
        inputs.exclusions.complete(columns, point)
    return columns


def _is_regular(grid: Grid) -> bool:
    """Whether the pinned last value is ``first + (count - 1) step`` up to rounding."""
    natural = grid.first + (grid.count - 1) * float(grid.uniform_step or 0.0)
    nearby = 4.0 * float(np.spacing(max(abs(grid.first), abs(grid.last))))
    return abs(grid.last - natural) <= nearby


def _ones(builder: ModelBuilder, columns: IntArray) -> csr_array:
    starts = np.array([0, columns.size])
    return csr_array((np.ones(columns.size), columns, starts), shape=(1, builder.n_columns))


def _add_one_hot(builder: ModelBuilder, domain: Domain, column_of: dict[int, int]) -> None:
    for number, group in enumerate(domain.one_hot):
        free = np.array([column_of[j] for j in group if j in column_of], dtype=np.intp)
        switched_on = sum(domain.lower[j] == domain.upper[j] == 1.0 for j in group)
        rest = 1.0 - float(switched_on)
        builder.add_rows([f"one_hot{number}"], _ones(builder, free), rest, rest, margin=0.0)


def _add_domain_rows(builder: ModelBuilder, domain: Domain, inputs: Expressions) -> None:
    if not domain.b.size:
        return
    activity = apply_affine(
        Affine(np.zeros(domain.b.size), {0: domain.A}), [inputs], builder.magnitudes
    )
    rounding = 4.0 * UNIT_ROUNDOFF * np.abs(domain.row_limit)
    builder.add_rows(
        [f"row{i}" for i in range(domain.b.size)],
        activity.matrix,
        np.full(domain.b.size, -np.inf),
        domain.row_limit - activity.constants,
        errors=activity.errors + rounding,
    )
