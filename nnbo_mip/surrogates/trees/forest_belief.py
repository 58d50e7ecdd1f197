"""The belief of a random forest: trees of which each is a member."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.network.graph.tree_arrays import TreeArrays
from nnbo_mip.scores.posteriors.trees import TreePosterior
from nnbo_mip.surrogates.base.abstract import Belief, Capability, check_scale

SPREADS = ("total", "std")

FOREST_CAPABILITIES = frozenset(
    {
        *(Capability.MEAN, Capability.STD, Capability.MEMBERS),
        *(Capability.DRAWS, Capability.TREES),
    }
)


@dataclass(frozen=True, eq=False)
class ForestBelief(Belief):
    """The mean and the spread of trees, in the user's units.

    Parameters
    ----------
    trees : TreeArrays
        Their values are those of y.
    spread : str
        ``std``: the standard deviation of the trees' values about their mean; ``total``: that of a
        value that a random tree learned in its leaf.
    scale : float
        Multiplier of the uncertainty; it moves the members apart as well.
    family : str
        Name of the surrogate that made it.
    """

    capabilities = FOREST_CAPABILITIES

    trees: TreeArrays
    spread: str = "total"
    scale: float = 1.0
    family: str = "random_forest"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.trees.n_inputs

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Mean (n,) of the trees."""
        return self._moments(X)[0]

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Spread (n,) of the trees, times the scale."""
        return self._moments(X)[1]

    def predict(
        self, X: npt.ArrayLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Mean, or mean and std from one evaluation of the trees."""
        mean, std = self._moments(X)
        return (mean, std) if return_std else mean

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Values (n, T) of the trees, moved apart by the scale."""
        values = self.trees.members(self.check_points(X))
        if self.scale == 1.0:
            return values
        center = values.mean(axis=1, keepdims=True)
        return np.asarray(center + self.scale * (values - center))

    def draw(self, seed: int) -> ForestBelief:
        """Return one tree, chosen by the seed; its std is zero, and no scale is applied."""
        index = int(np.random.default_rng(seed).integers(self.trees.n_trees))
        return replace(self, trees=self.trees.tree(index), spread="std", scale=1.0)

    def posterior(self, members: bool = False) -> TreePosterior:
        """Return the trees, with the variances of their leaves where the spread is total."""
        variance = "total" if self.spread == "total" else "between"
        trees = self.trees
        return TreePosterior(trees.nodes, trees.roots, trees.n_inputs, variance, self.scale)

    def scaled(self, factor: float) -> ForestBelief:
        """Return this belief with its uncertainty multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            "nodes": self.trees.nodes,
            "roots": self.trees.roots,
            "n_inputs": np.array(self.n_inputs),
            "spread": np.array(self.spread),
            "scale": np.array(self.scale),
            "family": np.array(self.family),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> ForestBelief:
        """Make the belief that `to_arrays` described."""
        trees = TreeArrays(arrays["nodes"], arrays["roots"], int(arrays["n_inputs"]))
        spread = str(arrays["spread"])
        if spread not in SPREADS:
            raise ValueError(f"a spread that is none: {spread:.20}")
        return cls(trees, spread, float(arrays["scale"]), str(arrays["family"]))

    def _moments(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        mean, root = self.trees.moments(self.check_points(X), self.spread == "total")
        return mean, self.scale * root
