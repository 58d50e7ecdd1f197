"""What the families share that draw the weights of one network from a posterior."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar

import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_size, check_widths
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.observations import check_y_range
from nnbo_mip.surrogates.bnn.data import NetworkData
from nnbo_mip.surrogates.bnn.layout import NETWORK_ACTIVATIONS
from nnbo_mip.surrogates.ensembles.members import SPREADS, MemberBelief, member_capabilities


@dataclass(frozen=True)
class SampledNetwork(Surrogate):
    """Chains whose draws become the members of a belief.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the hidden layers.
    activation : str
        ``tanh``, ``relu`` or ``sigmoid``; only relu compiles to a network.
    standardize : bool
        Whether inputs are standardized too, or stay in [-1, 1].
    chains : int
        How many chains are run.
    kept : int
        How many of the draws become members, equally spaced.
    spread : str
        ``std``, ``variance`` or ``mad`` of the members.
    include_noise : bool
        Whether `std` is that of an observation instead of the function's.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    seed : int
        Of the chains.
    """

    belief_type: ClassVar[type[Belief]] = MemberBelief

    hidden: tuple[int, ...] = (50,)
    activation: str = "tanh"
    standardize: bool = False
    chains: int = 4
    kept: int = 20
    spread: str = "std"
    include_noise: bool = False
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        object.__setattr__(self, "hidden", check_widths("hidden", self.hidden))
        check_choice("activation", self.activation, NETWORK_ACTIVATIONS)
        check_size("chains", self.chains)
        check_size("kept", self.kept)
        check_flag("standardize", self.standardize)
        check_choice("spread", self.spread, SPREADS)
        check_flag("include_noise", self.include_noise)
        check_y_range(self.y_range)
        check_count("seed", self.seed, least=0)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return member_capabilities(self.activation, noisy=True)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> MemberBelief:
        """Sample the posterior; see `Surrogate.fit`."""
        data = NetworkData.of(X, y, self.hidden, self.activation, self.standardize, self.y_range)
        theta, noise = self._sampled(data)
        return data.belief(self.name, theta, noise, self.kept, self.spread, self.include_noise)

    @abc.abstractmethod
    def _sampled(self, data: NetworkData) -> tuple[FloatArray, FloatArray]:
        """Return draws (N, C, P) of the weights and noise standard deviations (N, C)."""
