r"""Log-odds of trees: a sum (boosting), or those of the trees' mean probability (a forest).

sum           u = constant + sum_t v_t(x)
probability   u = constant + odds((1/T) sum_t v_t(x)),   odds as in `labels.odds_of_probability`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.network.affine import FloatArray
from nnbo_mip.surrogates.abstract import Capability
from nnbo_mip.surrogates.ratios.classifier_trees import ClassifierTrees
from nnbo_mip.surrogates.ratios.labels import odds_of_probability
from nnbo_mip.surrogates.ratios.odds import Odds

Array = npt.NDArray[Any]

LINKS = ("sum", "probability")

BATCH = 4096
"""Points that go down all trees at once."""

TREE_ODDS = frozenset({Capability.MEAN})
"""They are flat between jumps, so there is no gradient."""


@dataclass(frozen=True, eq=False)
class TreeOdds(Odds):
    """Trees, or a constant where there are none.

    Parameters
    ----------
    d : int
        Number of inputs.
    trees : ClassifierTrees or None
    link : str
        ``sum`` or ``probability``.
    constant : float
    family : str
        Name of the surrogate that made it.
    """

    kind: ClassVar[str] = "trees"

    d: int
    trees: ClassifierTrees | None
    link: str = "sum"
    constant: float = 0.0
    family: str = "bore"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.d

    @property
    def capabilities(self) -> frozenset[Capability]:
        """A mean."""
        return TREE_ODDS

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the log-odds (n,)."""
        points = self.check_points(X)
        if self.trees is None:
            return np.full(len(points), self.constant)
        parts = [self._of(points[i : i + BATCH]) for i in range(0, max(1, len(points)), BATCH)]
        return np.concatenate(parts)

    def _of(self, points: FloatArray) -> FloatArray:
        assert self.trees is not None
        answers = self.trees.evaluate(points)
        if self.link == "sum":
            return np.asarray(self.constant + answers.sum(axis=1))
        return self.constant + odds_of_probability(answers.mean(axis=1))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            **({} if self.trees is None else self.trees.to_arrays()),
            "d": np.array(self.d),
            "link": np.array(self.link),
            "constant": np.array(self.constant),
            "family": np.array(self.family),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> TreeOdds:
        """Make the log-odds that `to_arrays` described."""
        d, link = int(arrays["d"]), str(arrays["link"])
        trees = ClassifierTrees.from_arrays(arrays, d) if "feature" in arrays else None
        if link not in LINKS:
            raise ValueError("a link of trees that is none")
        return cls(d, trees, link, float(arrays["constant"]), str(arrays["family"]))
