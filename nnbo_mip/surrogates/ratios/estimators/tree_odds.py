r"""Trees as what a density ratio rises with: constant between thresholds, and certified as such.

With the values v_t of T trees, the latent function is their mean, which is

odds          the log-odds; boosting has v_t = start + T step_t
probability   the probability of a good point itself, of a forest; its log-odds would be no sum
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.network.graph.tree_arrays import TreeArrays
from nnbo_mip.scores.posteriors.trees import TreePosterior
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ratios.estimators.odds import Odds

UNITS = ("odds", "probability")

TREE_ODDS = frozenset({Capability.MEAN, Capability.TREES})
"""They are flat between jumps, so there is no gradient."""


@dataclass(frozen=True, eq=False)
class TreeOdds(Odds):
    """The mean of trees.

    Parameters
    ----------
    trees : TreeArrays
    unit : {"odds", "probability"}
        What the mean is.
    family : str
        Name of the surrogate that made it.
    """

    kind: ClassVar[str] = "trees"
    capabilities = TREE_ODDS

    trees: TreeArrays
    unit: str = "odds"
    family: str = "bore"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.trees.n_inputs

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the mean (n,) of the trees."""
        return self.trees.moments(self.check_points(X), total=False)[0]

    def ratio_for(self, X: npt.ArrayLike, share: float) -> FloatArray:
        """Return the ratio (n,)."""
        if self.unit == "odds":
            return super().ratio_for(X, share)
        return self.mean(X) / share

    def posterior(self, members: bool = False) -> TreePosterior:
        """Return the trees, of which the mean is read."""
        return TreePosterior(self.trees.nodes, self.trees.roots, self.trees.n_inputs, "between")

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            "nodes": self.trees.nodes,
            "roots": self.trees.roots,
            "n_inputs": np.array(self.n_inputs),
            "unit": np.array(self.unit),
            "family": np.array(self.family),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> TreeOdds:
        """Make the log-odds that `to_arrays` described."""
        unit = str(arrays["unit"])
        if unit not in UNITS:
            raise ValueError("a unit of trees that is none")
        trees = TreeArrays(arrays["nodes"], arrays["roots"], int(arrays["n_inputs"]))
        return cls(trees, unit, str(arrays["family"]))
