r"""Ensembles of random vector functional link networks by anchored MAP sampling.

Member m draws its own hidden layer, features Psi (n, k), and solves the MAP problem of
Bayesian linear regression with its prior moved to an anchor mu_0:

    w = (alpha I + beta Psi^T Psi)^-1 (alpha mu_0 + beta Psi^T y),
    mu_0 ~ N(0, lam I + lam^2 beta Psi^T Psi),   lam = 1 / alpha,

under which w has exactly the mean and covariance of the posterior given these features.
With z ~ N(0, I_k) and e ~ N(0, I_n) the right side is that of a plain prior draw as the
anchor and noise on the values, which is how it is computed,

    alpha mu_0 + beta Psi^T y = alpha a + beta Psi^T (y + e / sqrt(beta)),  a = z / sqrt(alpha).

``anchors="prior"`` leaves the noise away: coarser, and narrower than the posterior.

References
----------
Pearce et al. (2020), anchored MAP sampling [Pearce2020].
Aryan (2020), ensembles of RVFL networks [Aryan2020].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_size
from nnbo_mip.surrogates.base.abstract import Belief, Capability
from nnbo_mip.surrogates.base.observations import Observations, Standardization
from nnbo_mip.surrogates.ensembles.members import SPREADS, MemberBelief, member_capabilities
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.rvfl.bayesian_linear import Spectrum
from nnbo_mip.surrogates.rvfl.features import RandomFeatures
from nnbo_mip.surrogates.rvfl.options import RandomFeatureSurrogate

ANCHORS = ("posterior", "prior")


@dataclass(frozen=True)
class Ervfl(RandomFeatureSurrogate):
    """Options of an ensemble of RVFL networks.

    Parameters
    ----------
    n_members : int
        Number of networks, each with a hidden layer of its own.
    n_hidden : int
        Number of random hidden units of each.
    activation : str
        ``relu`` or ``tanh``; only relu compiles to a network.
    direct_link : bool
        Whether the inputs are features beside the hidden units.
    alpha : float or "evidence"
        Precision of the weights' prior, or the one of largest evidence for the first
        member, which all share.
    beta : float
        Precision of the noise on standardized outputs.
    anchors : str
        ``posterior`` or ``prior``: what the anchors are distributed like.
    spread : str
        ``std``, ``variance`` or ``mad`` of the members.
    tolerance : float
        Relative change of alpha at which the evidence iteration ends.
    max_iterations : int
        More evidence iterations than so many are an error.
    include_noise : bool
        Whether `std` is that of an observation instead of the function's.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    seed : int
        Of hidden layers and anchors. A member is the same however many there are.
    """

    name: ClassVar[str] = "ervfl"
    belief_type: ClassVar[type[Belief]] = MemberBelief

    n_members: int = 50
    n_hidden: int = 300
    activation: str = "relu"
    direct_link: bool = False
    alpha: float | str = "evidence"
    beta: float = 1000.0
    anchors: str = "posterior"
    spread: str = "std"
    tolerance: float = 1e-6
    max_iterations: int = 1000
    include_noise: bool = False
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_size("n_members", self.n_members)
        check_choice("anchors", self.anchors, ANCHORS)
        check_choice("spread", self.spread, SPREADS)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return member_capabilities(self.activation, noisy=True)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> MemberBelief:
        """Draw the hidden layers and solve every member's MAP problem."""
        data = Observations.of(X, y)
        units = Standardization.of(data, inputs=True, outputs=True, y_range=self.y_range)
        u, values = units.inward(data.X), units.values_inward(data.y)
        alpha = self._given
        layers, weights = [], []
        for rng in np.random.default_rng(self.seed).spawn(self.n_members):
            features = self._layer(data.n_inputs, rng)
            psi = features.evaluate(u)
            spectrum = Spectrum.of(psi, values)
            alpha = self._learned(spectrum) if alpha is None else alpha
            layers.append(features)
            weights.append(
                anchored_weights(psi, values, spectrum, alpha, self.beta, self.anchors, rng)
            )
        noise = float(units.y_scale / np.sqrt(self.beta))
        stack = stack_of(layers, np.array(weights))
        return MemberBelief(
            self.name, stack, units, self.spread, noise=noise, include_noise=self.include_noise
        )


def anchored_weights(
    psi: FloatArray,
    values: FloatArray,
    spectrum: Spectrum,
    alpha: float,
    beta: float,
    anchors: str,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the MAP weights (k,) round a random anchor.

    Parameters
    ----------
    psi : (n, k) array
        Features.
    values : (n,) array
        Standardized values.
    spectrum : Spectrum
        Decomposition of the features.
    alpha, beta : float
        Precisions of the prior and of the noise.
    anchors : str
        ``posterior`` or ``prior``.
    rng : numpy.random.Generator
        Source of the anchor, and of the noise on the values.
    """
    anchor = rng.standard_normal(psi.shape[1]) / np.sqrt(alpha)
    if anchors == "posterior":
        values = values + rng.standard_normal(len(values)) / np.sqrt(beta)
    pull = spectrum.weights(spectrum.left.T @ (values - psi @ anchor), alpha, beta)
    return np.asarray(anchor + pull)


def stack_of(layers: list[RandomFeatures], weights: FloatArray) -> Stack:
    """Return M networks of random hidden layers and output weights (M, k)."""
    n_hidden = layers[0].n_hidden
    return Stack(
        (np.array([layer.directions for layer in layers]), weights[:, None, :n_hidden]),
        (np.array([layer.biases for layer in layers]), np.zeros((len(layers), 1))),
        layers[0].activation,
        skip=weights[:, None, n_hidden:] if layers[0].direct_link else None,
    )
