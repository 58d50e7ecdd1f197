r"""What the probability of a Bayesian classifier rises with, as a belief that can be maximized.

probit   mean f and std sqrt(v + 8 / pi): the probability rises with mean / std
others   the log-odds of the predicted probability, without a std
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.posteriors.compiled import QuadraticPosterior
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient
from nnbo_mip.surrogates.ratios.boggn_belief import BoggnBelief
from nnbo_mip.surrogates.ratios.estimators.class_probability import WIDENING
from nnbo_mip.surrogates.ratios.estimators.labels import odds_of_probability
from nnbo_mip.surrogates.ratios.estimators.odds import Odds

NOISE = float(np.sqrt(WIDENING))
"""Standard deviation that turns a normal distribution function into a logistic one."""


@dataclass(frozen=True, eq=False)
class ProbitLatent(Belief):
    """Log-odds with the standard deviation of their posterior and of the class.

    Parameters
    ----------
    of : BoggnBelief
    """

    of: BoggnBelief

    family = "boggn"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.of.n_inputs

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Mean and std, which compile with an uncertain last layer."""
        offered = {Capability.MEAN, Capability.STD, Capability.GRADIENT}
        return frozenset(offered | (self.of.capabilities & {Capability.NETWORK}))

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return f (n,)."""
        return self.of.moments(X)[0]

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return sqrt(v + 8 / pi) (n,)."""
        return np.sqrt(self.of.moments(X)[1] + WIDENING)

    def predict(
        self, X: npt.ArrayLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Mean, or mean and std from one evaluation."""
        f, v = self.of.moments(X)
        return (f, np.sqrt(v + WIDENING)) if return_std else f

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean, std and their gradients."""
        f, v, f_gradient, v_gradient = self.of.differentiate_moments(X)
        std = np.sqrt(v + WIDENING)
        return ValueGradient(f, std, f_gradient, v_gradient / (2.0 * std[:, None]))

    def network(self) -> Network:
        """Return ``mean`` and ``feature0…``."""
        return self.of.network()

    def posterior(self, members: bool = False) -> QuadraticPosterior:
        """Return a linear model on the features, with the standard deviation of the class."""
        return QuadraticPosterior(self.network(), self.root, NOISE)

    @property
    def root(self) -> FloatArray:
        """The matrix (k, k) whose product with the features is v long, squared."""
        k = len(self.of.weights.mean)
        return np.asarray(self.of.scale * self.of.weights.whiten(np.eye(k)).T)

    def scaled(self, factor: float) -> ProbitLatent:
        """Return it with the posterior's standard deviation multiplied."""
        return replace(self, of=self.of.scaled(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return the arrays of the belief it belongs to."""
        return self.of.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> ProbitLatent:
        """Make it of the arrays of the belief it belongs to."""
        return cls(BoggnBelief.from_arrays(arrays))


@dataclass(frozen=True, eq=False)
class PredictedOdds(Odds):
    """Log-odds of a probability that was integrated.

    Parameters
    ----------
    of : BoggnBelief
    """

    kind: ClassVar[str] = "boggn"
    capabilities = frozenset({Capability.MEAN, Capability.GRADIENT})

    of: BoggnBelief

    family = "boggn"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.of.n_inputs

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the log-odds (n,)."""
        return odds_of_probability(self.of.probability(X))

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the gradients (n, d)."""
        return self.of.predicted_odds(points)[1]

    def network(self) -> Network:
        """Refuse, with what does compile."""
        return self.of.network()

    def to_arrays(self) -> dict[str, Array]:
        """Return the arrays of the belief it belongs to."""
        return self.of.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> PredictedOdds:
        """Make it of the arrays of the belief it belongs to."""
        return cls(BoggnBelief.from_arrays(arrays))
