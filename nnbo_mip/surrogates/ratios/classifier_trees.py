"""Trees of scikit-learn as arrays, evaluated in NumPy: what a file holds and a proof could read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nnbo_mip.network.affine import FloatArray

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]

LEAF = -1
"""Feature of a node without children."""


@dataclass(frozen=True, eq=False)
class ClassifierTrees:
    """T binary trees; a point goes to the left where its feature is at most the threshold.

    Parameters
    ----------
    feature, left, right : (T, nodes) int arrays
        Node 0 is the root; at a leaf `feature` is -1 and both children are the leaf itself.
    threshold, value : (T, nodes) arrays
        What is compared with, and what a leaf answers.
    depth : int
        Largest number of comparisons.
    """

    feature: IntArray
    left: IntArray
    right: IntArray
    threshold: FloatArray
    value: FloatArray
    depth: int

    @staticmethod
    def of(trees: Sequence[Any], values: Sequence[FloatArray]) -> ClassifierTrees:
        """Take over fitted trees (``tree_`` of scikit-learn) with the values (nodes,) of each."""
        shape = (len(trees), max(tree.node_count for tree in trees))
        feature, left, right = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        threshold, value = np.zeros(shape), np.zeros(shape)
        feature[:] = LEAF
        for row, (tree, answers) in enumerate(zip(trees, values, strict=True)):
            n = tree.node_count
            leaf = tree.children_left < 0
            own = np.arange(n)
            feature[row, :n] = np.where(leaf, LEAF, tree.feature)
            left[row, :n] = np.where(leaf, own, tree.children_left)
            right[row, :n] = np.where(leaf, own, tree.children_right)
            threshold[row, :n] = np.where(leaf, 0.0, tree.threshold)
            value[row, :n] = answers
        depth = max(int(tree.max_depth) for tree in trees)
        return ClassifierTrees(feature, left, right, threshold, value, depth)

    def evaluate(self, points: FloatArray) -> FloatArray:
        """Return the answers (n, T) at points (n, d)."""
        rows, trees = np.arange(len(points))[:, None], np.arange(len(self.feature))[None, :]
        node = np.zeros((len(points), len(self.feature)), dtype=np.int64)
        for _ in range(self.depth):
            left = points[rows, self.feature[trees, node]] <= self.threshold[trees, node]
            node = np.where(left, self.left[trees, node], self.right[trees, node])
        return np.asarray(self.value[trees, node])

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        names = ("feature", "left", "right", "threshold", "value", "depth")
        return {name: np.asarray(getattr(self, name)) for name in names}

    @staticmethod
    def from_arrays(arrays: Mapping[str, Array], n_inputs: int) -> ClassifierTrees:
        """Make the trees that `to_arrays` described."""
        feature, left, right = (arrays[name] for name in ("feature", "left", "right"))
        threshold, value = arrays["threshold"], arrays["value"]
        nodes = feature.shape[1]
        sound = all(part.shape == feature.shape for part in (left, right, threshold, value))
        sound &= bool(((feature >= LEAF) & (feature < n_inputs)).all())
        sound &= all(bool(((child >= 0) & (child < nodes)).all()) for child in (left, right))
        sound &= 0 <= int(arrays["depth"]) <= nodes
        if not sound:
            raise ValueError("nodes of trees that do not fit together")
        return ClassifierTrees(feature, left, right, threshold, value, int(arrays["depth"]))
