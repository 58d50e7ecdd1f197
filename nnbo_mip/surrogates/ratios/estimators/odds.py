"""Log-odds as a belief of their own, and the belief in a density ratio that is made of them.

Every estimator of a ratio hands over an `Odds`, a function of points whose mean is the log-odds
that a point is good; `RatioBelief` does the rest, for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient, check_scale
from nnbo_mip.surrogates.ratios.estimators.labels import ratio_of_odds


class Odds(Belief):
    """Log-odds: a mean without a std; a frozen dataclass of arrays.

    Notes
    -----
    An implementation gives `n_inputs`, `family`, `capabilities`, `mean`, `to_arrays` and
    `from_arrays`, and what it declares beyond a mean.
    """

    kind: ClassVar[str]
    """Its name in a file; a key of `nnbo_mip.surrogates.ratios.estimators.odds_kinds.KINDS`."""

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Return the log-odds and their gradients; the std is zero."""
        if Capability.GRADIENT not in self.capabilities:
            raise self._lacks(Capability.GRADIENT)
        points = self.check_points(X)
        zeros = np.zeros(len(points))
        gradient = self.gradient(points)
        return ValueGradient(self.mean(points), zeros, gradient, np.zeros_like(gradient))

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the gradients (n, d) of the log-odds at checked points."""
        raise self._lacks(Capability.GRADIENT)

    def ratio_for(self, X: npt.ArrayLike, share: float) -> FloatArray:
        """Return the ratio (n,) of the density of good points to that of all, at most 1 / share."""
        return ratio_of_odds(self.mean(X), share)

    def network(self) -> Network:
        """Refuse; log-odds that compile override it."""
        raise UnsupportedError(
            "log-odds must be a network of ReLUs to be maximized with a proof; those of this "
            f'{self.family} belief are none; take the surrogate "bore" with estimator="net", or a '
            'heuristic maximizer such as "lbfgs" or "random".'
        )

    def scaled(self, factor: float) -> Odds:
        """Return the same, as there is no uncertainty."""
        check_scale(factor)
        return self


SHARED = frozenset(
    {Capability.GRADIENT, Capability.NETWORK, Capability.TREES, Capability.CANDIDATES}
)
"""What a ratio belief offers where its log-odds do."""


@dataclass(frozen=True, eq=False)
class RatioBelief(Belief):
    """The relative density ratio ``logistic(log-odds) / share`` of good points.

    Parameters
    ----------
    family : str
        Name of the surrogate that made it.
    odds : Odds
        Log-odds that a point is good.
    share : float
        Of good observations: the gamma of the relative ratio.
    """

    family: str
    odds: Odds
    share: float

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.odds.n_inputs

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this belief offers."""
        return ratio_capabilities(self.odds.capabilities)

    def ratio(self, X: npt.ArrayLike) -> FloatArray:
        """Return the ratio (n,) of the density of good points to that of all, at most 1 / share."""
        return self.odds.ratio_for(self.check_points(X), self.share)

    def latent(self) -> Odds:
        """Return the log-odds."""
        return self.odds

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Return the log-odds and their gradients."""
        return self.odds.differentiate(self.check_points(X))

    def candidates(self, n: int, seed: int) -> FloatArray:
        """Draw points (n, d) that are likely to be good."""
        return self.odds.candidates(n, seed)

    def network(self) -> Network:
        """Return the network of the log-odds, ``mean``."""
        return self.odds.network()

    def scaled(self, factor: float) -> RatioBelief:
        """Return the same, as the estimate has no uncertainty of its own."""
        return replace(self, odds=self.odds.scaled(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            **{f"odds_{name}": array for name, array in self.odds.to_arrays().items()},
            "kind": np.array(self.odds.kind),
            "family": np.array(self.family),
            "share": np.array(self.share),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> RatioBelief:
        """Make the belief that `to_arrays` described."""
        from nnbo_mip.surrogates.ratios.estimators.odds_kinds import odds_of

        parts = {name[5:]: array for name, array in arrays.items() if name.startswith("odds_")}
        family, share = str(arrays["family"]), float(arrays["share"])
        if not 0.0 < share < 1.0:
            raise ValueError("a share of good points that is none")
        return cls(family, odds_of(str(arrays["kind"]), parts), share)


def ratio_capabilities(of_odds: frozenset[Capability]) -> frozenset[Capability]:
    """Return what a ratio belief offers, from what its log-odds offer."""
    return frozenset({Capability.RATIO}) | (of_odds & SHARED)
