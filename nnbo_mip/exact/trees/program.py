r"""Sums of trees as mixed-integer linear programs (Misic's, which ENTMOOT has too).

Every used edge e of a coordinate gets a binary z, every leaf l of every tree a column y_l,

    z = 1  means  x_j <= e,      z = 0  means  x_j > e,      z_1 <= z_2 <= … for rising edges,
    sum over the leaves of a tree of y_l = 1,                                  0 <= y_l <= 1,
    sum over the leaves left of a node of y_l <= z,   right of it  <= 1 - z,

and the objective is the average over trees of sum_l score_l y_l. Where z is whole, one leaf a tree
is left, so the y need not be. The inputs are those of every program (`formulation.inputs`), with

    x_j <= e + (upper_j - e)(1 - z),      x_j >= e' - (e' - lower_j) z,

e' the next value of the grid above e, or e itself for a real coordinate: the program then also
allows x_j = e with z = 0, so that its bound holds and may be a little too large.

References
----------
Mišić (2020), the formulation [Misic2020].
Thebelt et al. (2021), ENTMOOT, which has it too [Thebelt2021].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.exact.formulation.builder import ModelBuilder
from nnbo_mip.exact.formulation.expression import Expressions, scale_rows
from nnbo_mip.exact.formulation.inputs import InputColumns, add_inputs, input_values
from nnbo_mip.exact.formulation.model import MilpModel
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF
from nnbo_mip.exact.trees.cells import TreeCells
from nnbo_mip.network.graph.tree_arrays import LEAF


@dataclass(frozen=True, eq=False)
class TreeProgram:
    """The program of one average over trees.

    Parameters
    ----------
    model : MilpModel
    cells : TreeCells
    inputs : InputColumns
    edges : tuple of (after, columns) int arrays
        Of each coordinate the cells after which its edges lie, and their binaries.
    leaves : mapping of int to int
        Columns of the leaves.
    error : float
        By how much the objective may miss the average of the scores, at columns of a point.
    """

    model: MilpModel
    cells: TreeCells
    inputs: InputColumns
    edges: tuple[tuple[IntArray, IntArray], ...]
    leaves: dict[int, int]
    error: float

    def complete(self, point: FloatArray) -> FloatArray:
        """Return the columns (n,) of an admissible point (d,)."""
        columns = input_values(self.inputs, point, self.model.n_columns)
        cells = self.cells.cells_of(point[None, :])[0]
        for cell, (after, z) in zip(cells, self.edges, strict=True):
            columns[z] = cell <= after
        for leaf in self.cells.trees.leaves(point[None, :])[0]:
            columns[self.leaves[int(leaf)]] = 1.0
        columns = np.clip(columns, self.model.column_lower, self.model.column_upper)
        return np.where(self.model.integer, np.round(columns), columns)

    def box_of(self, columns: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the cells (1, d) that columns (n,) stand for."""
        a, b = self.cells.root()
        for j, (after, z) in enumerate(self.edges):
            below = columns[z] > 0.5
            a[0, j] = max([0, *(after[~below] + 1)])
            b[0, j] = min([b[0, j], *after[below]])
        return a, np.maximum(a, b)


def tree_program(cells: TreeCells, scores: FloatArray) -> TreeProgram:
    """Write the average over trees of what their leaves score as a program.

    Parameters
    ----------
    cells : TreeCells
    scores : (N,) array
        One a node; those of leaves count.
    """
    return _Writer(cells, scores).write()


class _Writer:
    """Collects columns and rows."""

    def __init__(self, cells: TreeCells, scores: FloatArray) -> None:
        self.cells, self.scores = cells, scores
        self.builder = ModelBuilder()
        self.inputs = add_inputs(self.builder, cells.domain)
        self.edges: list[tuple[IntArray, IntArray]] = []
        self.leaves: dict[int, int] = {}

    def write(self) -> TreeProgram:
        for j in range(self.cells.domain.dimension):
            self._add_edges(j)
        constant, error = 0.0, 0.0
        entries: list[tuple[int, float]] = []
        trees = self.cells.trees
        for number, root in enumerate(trees.first.tolist()):
            leaves = self._add_tree(number, root)
            values = self.scores[leaves]
            base = float(0.5 * values.min() + 0.5 * values.max())
            constant += base
            error += float(np.abs(values).max()) + abs(base)
            off = (values - base) / trees.n_trees
            entries += [(self.leaves[leaf], v) for leaf, v in zip(leaves, off, strict=True)]
        error = 4.0 * (trees.n_trees + 8) * UNIT_ROUNDOFF * error / trees.n_trees
        columns, data = (np.array(part) for part in zip(*entries, strict=True))
        width = self.builder.n_columns
        row = csr_array((data, (np.zeros(len(data), dtype=int), columns)), shape=(1, width))
        constants = np.array([constant / trees.n_trees])
        scaled = scale_rows(row, constants, np.array([error]), self.builder.magnitudes)
        objective = Expressions(constants, scaled.matrix * scaled.scales[0], np.array([error]))
        return TreeProgram(
            self.builder.build(objective, self.inputs.expressions),
            self.cells,
            self.inputs,
            tuple(self.edges),
            self.leaves,
            float(scaled.errors[0] * scaled.scales[0]),
        )

    def _add_edges(self, j: int) -> None:
        """Add the binaries of a coordinate, their order, and what they say of the input."""
        cells, builder = self.cells, self.builder
        cuts = cells.cut[cells.trees.feature == j]
        after = np.unique(cuts[(cuts >= 0) & (cuts < cells.last[j])])
        names = [f"below{j}_{k}" for k in after]
        if not len(after):
            self.edges.append((after, np.empty(0, dtype=np.intp)))
            return
        z = builder.add_columns(names, 0.0, 1.0, integer=True)
        self.edges.append((after, z))
        if len(after) > 1:
            rows = builder.rows_of((z[:-1], 1.0), (z[1:], -1.0))
            builder.add_rows([f"order_{name}" for name in names[1:]], rows, -np.inf, 0.0)
        if not cells.domain.is_box:
            self._link(j, after, names, z)

    def _link(self, j: int, after: IntArray, names: list[str], z: IntArray) -> None:
        cells, builder = self.cells, self.builder
        low, high = cells.domain.lower[j], cells.domain.upper[j]
        below = cells.edge_above(j, after)
        above = below
        grid = cells.domain.grids[j]
        if grid is not None:
            index = grid.index_below(below)
            below, above = grid.value(index), grid.value(np.minimum(index + 1, grid.count - 1))
        inputs, count = self.inputs.expressions, len(after)
        x = csr_array(inputs.widened(builder.n_columns)[np.full(count, j)])
        shift = inputs.constants[j]
        sizes = np.abs(below) + np.abs(above) + abs(low) + abs(high) + abs(shift)
        errors = inputs.errors[j] + 8.0 * UNIT_ROUNDOFF * sizes
        rows = csr_array(x + builder.rows_of((z, high - below)))
        nothing = np.full(count, -np.inf)
        builder.add_rows(
            [f"at_most_{name}" for name in names],
            rows,
            nothing,
            high - shift + 0.0 * below,
            errors=errors,
        )
        rows = csr_array(x + builder.rows_of((z, above - low)))
        builder.add_rows(
            [f"at_least_{name}" for name in names], rows, above - shift, -nothing, errors=errors
        )

    def _add_tree(self, number: int, root: int) -> list[int]:
        """Add the columns of the leaves that some cell reaches, and the rows of the nodes."""
        cells, builder = self.cells, self.builder
        trees = cells.trees
        below: dict[int, list[int]] = {}
        left, right = trees.children
        splits: list[int] = []

        def collect(node: int) -> list[int]:
            j = trees.feature[node]
            if j == LEAF:
                below[node] = [node]
                return below[node]
            found: list[int] = []
            if cells.cut[node] >= 0:
                found += collect(int(left[node]))
            if cells.cut[node] < cells.last[j]:
                found += collect(int(right[node]))
            if 0 <= cells.cut[node] < cells.last[j]:
                splits.append(node)
            below[node] = found
            return found

        leaves = collect(root)
        columns = builder.add_columns([f"tree{number}_leaf{leaf}" for leaf in leaves], 0.0, 1.0)
        self.leaves |= {leaf: int(c) for leaf, c in zip(leaves, columns, strict=True)}
        self._add_sum(f"tree{number}", leaves, None, 0.0, 1.0, 1.0)
        for node in splits:
            after, z = self.edges[trees.feature[node]]
            binary = int(z[np.searchsorted(after, cells.cut[node])])
            name = f"node{node}"
            self._add_sum(f"{name}_left", below[int(left[node])], binary, -1.0, -1.0, 0.0)
            self._add_sum(f"{name}_right", below[int(right[node])], binary, 1.0, 0.0, 1.0)
        return leaves

    def _add_sum(
        self,
        name: str,
        leaves: list[int],
        binary: int | None,
        factor: float,
        low: float,
        high: float,
    ) -> None:
        """Add the row ``low <= sum of leaves + factor * binary <= high``."""
        columns = [self.leaves[leaf] for leaf in leaves]
        data = [1.0] * len(leaves)
        if binary is not None:
            columns.append(binary)
            data.append(factor)
        starts, width = np.array([0, len(columns)]), self.builder.n_columns
        row = csr_array((np.array(data), np.array(columns), starts), shape=(1, width))
        self.builder.add_rows([name], row, low, high)
