r"""Trees as a readout, in float64: constant between their thresholds.

mean      mean_t value_t
std       reach sqrt(mean_t (value_t - mean)^2),  with mean_t variance_t under the root
where the variance is total
members   mean + reach (value_t - mean)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.tree_arrays import TreeArrays
from nnbo_mip.scores.posteriors.readouts import Readout

VARIANCES = ("total", "between")


@dataclass(frozen=True, eq=False)
class TreeReadout(Readout):
    """Mean and std of trees, of which each is a member.

    Parameters
    ----------
    nodes : (N, 6) array
        As in `TreeArrays`.
    roots : (T,) array
    dimension : float
        d.
    variance : {"total", "between"}
        Whether the variances of the leaves count.
    reach : float
        Multiplier of the std, at least zero.
    """

    nodes: FloatArray
    roots: FloatArray
    dimension: float
    variance: str = "total"
    reach: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("variance", self.variance, VARIANCES)
        self.trees  # noqa: B018 - refuses arrays that are no trees

    @cached_property
    def trees(self) -> TreeArrays:
        """The trees."""
        if not 1.0 <= self.dimension < 2**31 or self.dimension != int(self.dimension):
            raise InputError(
                f"trees must read a whole number of inputs; got {self.dimension!r}; mend it."
            )
        return TreeArrays(self.nodes, self.roots, int(self.dimension))

    @property
    def forest(self) -> TreeArrays:
        """The trees."""
        return self.trees

    @property
    def is_total(self) -> bool:
        """Whether the variances of the leaves count."""
        return self.variance == "total"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.dimension)

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the mean (n,)."""
        return self.moments(X)[0]

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the std (n,)."""
        return self.moments(X)[1]

    def moments(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and std (n,)."""
        mean, root = self.trees.moments(self._points(X), self.is_total)
        return mean, self.reach * root

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Return the members' predictions (n, T)."""
        values = self.trees.members(self._points(X))
        if self.reach == 1.0:
            return values
        center = values.mean(axis=1, keepdims=True)
        return np.asarray(center + self.reach * (values - center))

    def _points(self, X: npt.ArrayLike) -> FloatArray:
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.n_inputs:
            raise InputError(
                f"X must have shape (n, {self.n_inputs}), one row a point; got shape "
                f"{points.shape}; reshape it."
            )
        return points
