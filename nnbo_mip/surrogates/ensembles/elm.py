r"""Ensembles of extreme learning machines: random hidden layers, least-squares outputs.

A member has hidden values H (n, h) with weights and biases uniform in [-range, range], and
the output weights of minimum norm among those of least squares,

    w = H^+ v,   H^+ the Moore-Penrose inverse by SVD.

Where the rows of H are independent (n <= h, and no two units saturated alike) a member
interpolates; where all do, the spread at the data is zero. The spread depends on the
distribution of the hidden weights alone and is not calibrated.

References
----------
Huang et al. (2006), extreme learning machines [Huang2006b].
Aryan (2020), ensembles of them [Aryan2020].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.checks import check_choice, check_count, check_number, check_size
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.observations import Observations, Standardization, check_y_range
from nnbo_mip.surrogates.ensembles.members import SPREADS, MemberBelief, member_capabilities
from nnbo_mip.surrogates.ensembles.stack import ACTIVATIONS, Stack


@dataclass(frozen=True)
class Elm(Surrogate):
    """Options of an ensemble of extreme learning machines.

    Parameters
    ----------
    n_members : int
        Number of networks.
    n_hidden : int
        Number of random hidden units of each.
    activation : str
        ``tanh`` or ``relu``; only relu compiles to a network.
    weight_range : float
        Hidden weights and biases are uniform between minus this and this.
    rcond : float
        Singular values of H below this part of the largest count as zero. The default lets
        members interpolate wherever float64 can; when n is near `n_hidden` H is close to
        singular, and members then grow far beyond the size of the data between them. A
        coarse 1e-2 keeps them within that size and gives up interpolation.
    spread : str
        ``std``, ``variance`` or ``mad`` of the members.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    seed : int
        Of the hidden layers.
    """

    name: ClassVar[str] = "elm"
    belief_type: ClassVar[type[Belief]] = MemberBelief

    n_members: int = 500
    n_hidden: int = 10
    activation: str = "tanh"
    weight_range: float = 10.0
    rcond: float = 1e-10
    spread: str = "std"
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_size("n_members", self.n_members)
        check_size("n_hidden", self.n_hidden)
        check_choice("activation", self.activation, ACTIVATIONS)
        check_number("weight_range", self.weight_range, above=0.0)
        check_number("rcond", self.rcond, least=0.0, below=1.0)
        check_choice("spread", self.spread, SPREADS)
        check_y_range(self.y_range)
        check_count("seed", self.seed, least=0)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return member_capabilities(self.activation, noisy=False)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> MemberBelief:
        """Draw the hidden layers and solve every member's least squares."""
        data = Observations.of(X, y)
        units = Standardization.of(data, inputs=True, outputs=True, y_range=self.y_range)
        rng, reach = np.random.default_rng(self.seed), self.weight_range
        weights = rng.uniform(-reach, reach, (self.n_members, self.n_hidden, data.n_inputs))
        biases = rng.uniform(-reach, reach, (self.n_members, self.n_hidden))
        no_bias = np.zeros((self.n_members, 1))
        outputs = np.zeros((self.n_members, 1, self.n_hidden))
        stack = Stack((weights, outputs), (biases, no_bias), self.activation)
        inverses = np.linalg.pinv(stack.hidden(units.inward(data.X)), rcond=self.rcond)
        outputs = (inverses @ units.values_inward(data.y))[:, None, :]
        stack = Stack((weights, outputs), (biases, no_bias), self.activation)
        return MemberBelief(self.name, stack, units, self.spread)
