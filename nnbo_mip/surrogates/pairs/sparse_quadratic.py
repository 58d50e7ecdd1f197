"""Main effects and interactions of two, most of them zero: a model of binaries and categories.

A Bayesian linear model over inputs and their products (`terms`), as in BOCS, with a prior under
which most weights are exactly zero (`gibbs`) rather than small. A draw then has few interactions,
and its maximum over binaries, integers and categories is found by elimination (`exact.pairs`), with
a proof.

References
----------
Baptista and Poloczek (2018), Bayesian optimization of combinatorial structures [Baptista2018].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count, check_flag
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.observations import Observations, Standardization, check_y_range
from nnbo_mip.surrogates.gp.gp import varies
from nnbo_mip.surrogates.pairs.belief import OFFERED, PairwiseBelief
from nnbo_mip.surrogates.pairs.gibbs import Chain, sampled
from nnbo_mip.surrogates.pairs.terms import Terms


@dataclass(frozen=True)
class SparseQuadratic(Surrogate):
    """Options of a sparse quadratic model.

    Parameters
    ----------
    n_draws : int
        Functions that are kept of the chain; mean and std are theirs.
    normalize : bool
        Whether y is standardized.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    seed : int
    """

    name: ClassVar[str] = "sparse_quadratic"
    belief_type: ClassVar[type[Belief]] = PairwiseBelief

    n_draws: int = 50
    normalize: bool = True
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        if isinstance(self.y_range, list):  # as JSON and TOML have it
            object.__setattr__(self, "y_range", tuple(self.y_range))
        check_count("n_draws", self.n_draws, least=2)
        check_flag("normalize", self.normalize)
        check_count("seed", self.seed, least=0)
        check_y_range(self.y_range)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return OFFERED

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> PairwiseBelief:
        """Draw functions given all observations."""
        data = Observations.of(X, y)
        units = Standardization.of(data, False, self.normalize, self.y_range)
        values = units.values_inward(data.y)
        middle = float(values.mean())
        terms = Terms.of(data.X, values - middle)
        if not varies(data.y):
            chain = Chain(np.zeros((1, len(terms.pairs))), np.zeros(1))
        else:
            chain = sampled(terms, values - middle, self.n_draws, self.seed)
        return _belief(terms, chain, middle, units, data)


def _belief(
    terms: Terms, chain: Chain, middle: float, units: Standardization, data: Observations
) -> PairwiseBelief:
    """Return the functions of a chain in the user's units, without terms that none of them has."""
    used = chain.weights.any(axis=0)
    weights: FloatArray = chain.weights[:, used] / terms.scale[used]
    # The chain has centered values: the level of each function has a spread of its own.
    levels = middle - weights @ terms.center[used]
    return PairwiseBelief(
        data.n_inputs,
        terms.pairs[used].astype(np.float64),
        units.y_scale * weights,
        units.y_center + units.y_scale * levels,
        float(np.sqrt(chain.noise.mean())) * units.y_scale,
    )
