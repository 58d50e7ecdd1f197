r"""Regression trees as one plain array, evaluated in float64.

A row of `nodes` is a node,

    feature   threshold   left   right   value   variance

with feature -1 for a leaf. A point goes to the left where ``x[feature] <= threshold`` and to the
right elsewhere; the comparison is that of two float64 numbers. In a leaf it gets the value, the
mean of what was learned there, and the variance, that of what was learned about this mean.

scikit-learn compares float32 numbers: it rounds a point before it asks. Between its threshold and
the next float32 number the two may answer differently, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray, blocks
from nnbo_mip.core.errors import InputError

LEAF = -1
"""The feature of a leaf."""

COLUMNS = ("feature", "threshold", "left", "right", "value", "variance")


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """Trees over the same inputs.

    Parameters
    ----------
    nodes : (N, 6) array
        See the module. Children come after their parents.
    roots : (T,) array
        Rows at which the trees begin, ascending; a tree ends where the next one begins.
    n_inputs : int
        d.
    """

    nodes: FloatArray
    roots: FloatArray
    n_inputs: int

    def __post_init__(self) -> None:
        wrong = self._what_is_wrong()
        if wrong:
            raise InputError(
                f"trees must be rows of {', '.join(COLUMNS)} in which children follow their "
                f"parents; {wrong}; mend the arrays."
            )

    @staticmethod
    def of_sklearn(estimators: Sequence[Any], center: float, scale: float) -> TreeArrays:
        """Take the trees of a fitted forest, with values ``center + scale * value``.

        Parameters
        ----------
        estimators : sequence
            Fitted ``DecisionTreeRegressor`` objects with squared errors and one output.
        center, scale : float
            From the forest's values to those of the arrays.
        """
        trees = [estimator.tree_ for estimator in estimators]
        values = [center + scale * tree.value[:, 0, 0] for tree in trees]
        return TreeArrays.of_trees(
            trees, values, [scale**2 * np.maximum(tree.impurity, 0.0) for tree in trees]
        )

    @staticmethod
    def of_trees(
        trees: Sequence[Any],
        values: Sequence[FloatArray],
        variances: Sequence[FloatArray] | None = None,
    ) -> TreeArrays:
        """Take over fitted trees with values of one's own.

        Parameters
        ----------
        trees : sequence
            ``tree_`` of fitted estimators of scikit-learn.
        values, variances : sequences of (nodes,) arrays
            Of each tree's nodes; without variances they are zero.
        """
        parts, roots, first = [], [], 0
        for number, tree in enumerate(trees):
            leaf = tree.children_left == tree.children_right
            part = np.zeros((tree.node_count, len(COLUMNS)))
            part[:, 0] = np.where(leaf, LEAF, tree.feature)
            part[:, 1] = np.where(leaf, 0.0, tree.threshold)
            part[:, 2] = np.where(leaf, LEAF, tree.children_left + first)
            part[:, 3] = np.where(leaf, LEAF, tree.children_right + first)
            part[:, 4] = values[number]
            if variances is not None:
                part[:, 5] = variances[number]
            parts.append(part)
            roots.append(first)
            first += tree.node_count
        inputs = int(trees[0].n_features)
        return TreeArrays(np.concatenate(parts), np.array(roots, dtype=np.float64), inputs)

    @staticmethod
    def constant(value: float, n_inputs: int) -> TreeArrays:
        """Return one tree that is a leaf."""
        leaf = np.array([[LEAF, 0.0, LEAF, LEAF, value, 0.0]])
        return TreeArrays(leaf, np.zeros(1), n_inputs)

    @property
    def n_trees(self) -> int:
        """T, the number of trees."""
        return len(self.roots)

    @cached_property
    def first(self) -> IntArray:
        """Roots (T,) as integers."""
        return np.asarray(self.roots, dtype=np.int64)

    @cached_property
    def feature(self) -> IntArray:
        """Feature (N,) that each node asks for, -1 at leaves."""
        return np.asarray(self.nodes[:, 0], dtype=np.int64)

    @cached_property
    def children(self) -> tuple[IntArray, IntArray]:
        """Left and right child (N,) of each node, -1 at leaves."""
        return np.asarray(self.nodes[:, 2], np.int64), np.asarray(self.nodes[:, 3], np.int64)

    @cached_property
    def threshold(self) -> FloatArray:
        """Threshold (N,) of each node."""
        return np.ascontiguousarray(self.nodes[:, 1])

    @cached_property
    def value(self) -> FloatArray:
        """Value (N,) of each node."""
        return np.ascontiguousarray(self.nodes[:, 4])

    @cached_property
    def variance(self) -> FloatArray:
        """Variance (N,) of each node."""
        return np.ascontiguousarray(self.nodes[:, 5])

    def tree(self, index: int) -> TreeArrays:
        """Return one tree alone."""
        ends = [*self.first.tolist(), len(self.nodes)]
        part = self.nodes[ends[index] : ends[index + 1]].copy()
        inner = part[:, 0] != LEAF
        part[inner, 2:4] -= ends[index]
        return TreeArrays(part, np.zeros(1), self.n_inputs)

    def leaves(self, points: FloatArray) -> IntArray:
        """Return the leaves (n, T) in which points (n, d) end."""
        return np.concatenate([self._leaves(block) for block in self._blocks(points)])

    def members(self, points: FloatArray) -> FloatArray:
        """Return the values (n, T) of the trees at points (n, d)."""
        return np.asarray(self.value[self.leaves(points)])

    def moments(self, points: FloatArray, total: bool) -> tuple[FloatArray, FloatArray]:
        r"""Return the mean (n,) of the trees and the root (n,) of their variance.

        By the law of total variance that of a tree drawn at random is

            mean_t variance_t + mean_t (value_t - mean)^2,

        of which the first term is left out unless `total`.
        """
        leaves = self.leaves(points)
        values = self.value[leaves]
        mean = values.mean(axis=1)
        variance = np.square(values - mean[:, None]).mean(axis=1)
        if total:
            variance = variance + self.variance[leaves].mean(axis=1)
        return mean, np.sqrt(variance)

    def _blocks(self, points: FloatArray) -> Iterator[FloatArray]:
        for rows in blocks(len(points), 4 * self.n_trees):
            yield points[rows]

    def _leaves(self, points: FloatArray) -> IntArray:
        at = np.broadcast_to(self.first, (len(points), self.n_trees)).copy()
        rows = np.arange(len(points))[:, None]
        left, right = self.children
        while True:
            feature = self.feature[at]
            inner = feature != LEAF
            if not inner.any():
                return at
            goes_left = points[rows, np.where(inner, feature, 0)] <= self.threshold[at]
            at = np.where(inner, np.where(goes_left, left[at], right[at]), at)

    def _what_is_wrong(self) -> str:
        nodes, roots = self.nodes, self.roots
        if nodes.ndim != 2 or nodes.shape[1] != len(COLUMNS) or roots.ndim != 1:
            return f"got shapes {nodes.shape} and {roots.shape}"
        if not len(roots) or not (np.isfinite(nodes).all() and np.isfinite(roots).all()):
            return "got no tree, or numbers that are not finite"
        whole = nodes[:, [0, 2, 3]]
        if (whole != np.floor(whole)).any() or (roots != np.floor(roots)).any():
            return "got features, children or roots that are no whole numbers"
        ends = np.append(roots, len(nodes))
        if ends[0] != 0.0 or (np.diff(ends) < 1.0).any():
            return "the roots must ascend from 0 and leave every tree a node"
        if not ((whole[:, 0] >= LEAF) & (whole[:, 0] < self.n_inputs)).all():
            return f"features must be {LEAF} or below {self.n_inputs}"
        inner = np.flatnonzero(whole[:, 0] != LEAF)
        last = ends[np.searchsorted(ends, inner, side="right")]
        children = whole[inner, 1:]
        if not ((children > inner[:, None]) & (children < last[:, None])).all():
            return "got a child outside of its tree or before its parent"
        others = np.setdiff1d(np.arange(len(nodes)), roots)
        if not np.array_equal(np.sort(children, axis=None), others):
            return "every node but the roots must be the child of one other"
        return "" if (nodes[:, 5] >= 0.0).all() else "got a negative variance"
