"""Bayesian random vector functional link networks: random features, exact posterior.

Inputs and outputs are standardized, the hidden layer is drawn (`features`), and the output
weights have the exact posterior of Bayesian linear regression (`bayesian_linear`), with a
given prior precision or the one of largest evidence (`evidence`).

References
----------
Scardapane et al. (2018), Bayesian RVFL networks [Scardapane2018].
Aryan (2020), as a surrogate [Aryan2020].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice
from nnbo_mip.surrogates.base.abstract import Belief, Capability
from nnbo_mip.surrogates.base.observations import Observations, Standardization
from nnbo_mip.surrogates.rvfl.bayesian_linear import (
    CholeskyPosterior,
    SpectralPosterior,
    Spectrum,
    WeightPosterior,
)
from nnbo_mip.surrogates.rvfl.brvfl_belief import BrvflBelief, brvfl_capabilities
from nnbo_mip.surrogates.rvfl.options import RandomFeatureSurrogate

__all__ = ["Brvfl", "BrvflBelief"]

SOLVERS = ("svd", "cholesky")


@dataclass(frozen=True)
class Brvfl(RandomFeatureSurrogate):
    """Options of a Bayesian RVFL network.

    Parameters
    ----------
    n_hidden : int
        Number of random hidden units.
    activation : str
        ``relu`` or ``tanh``; only relu compiles to a network.
    direct_link : bool
        Whether the inputs are features beside the hidden units.
    alpha : float or "evidence"
        Precision of the weights' prior, or the one of largest evidence.
    beta : float
        Precision of the noise on standardized outputs.
    solver : str
        ``svd`` or ``cholesky``, which agree. With n values and k features the first keeps
        k min(n, k) numbers and takes any alpha; the second keeps k^2 numbers and fits
        faster from about a hundred values on.
    tolerance : float
        Relative change of alpha at which the evidence iteration ends.
    max_iterations : int
        More evidence iterations than so many are an error.
    include_noise : bool
        Whether `std` is that of an observation instead of the function's.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    seed : int
        Of the hidden layer.

    Notes
    -----
    A column of X that is constant, as every column of a single observation is, is centered
    and keeps its scale; a constant y likewise.

    The default beta is for functions without noise. Noise that is much larger is explained by
    ever larger weights, most in one or two dimensions: give its precision, that of y's variance
    over the noise's.
    """

    name: ClassVar[str] = "brvfl"
    belief_type: ClassVar[type[Belief]] = BrvflBelief

    n_hidden: int = 300
    activation: str = "relu"
    direct_link: bool = False
    alpha: float | str = "evidence"
    beta: float = 1000.0
    solver: str = "svd"
    tolerance: float = 1e-6
    max_iterations: int = 1000
    include_noise: bool = False
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_choice("solver", self.solver, SOLVERS)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return brvfl_capabilities(self.activation)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> BrvflBelief:
        """Draw the hidden layer and condition the output weights on all observations."""
        data = Observations.of(X, y)
        units = Standardization.of(data, inputs=True, outputs=True, y_range=self.y_range)
        rng = np.random.default_rng(self.seed)
        features = self._layer(data.n_inputs, rng)
        psi, values = features.evaluate(units.inward(data.X)), units.values_inward(data.y)
        alpha, posterior = self._posterior(psi, values)
        return BrvflBelief(
            features,
            posterior,
            alpha,
            float(self.beta),
            units,
            include_noise=bool(self.include_noise),
        )

    def _posterior(self, psi: FloatArray, values: FloatArray) -> tuple[float, WeightPosterior]:
        """Return the prior precision and the weights' posterior."""
        alpha, beta = self._given, float(self.beta)
        if self.solver == "svd":
            spectrum = Spectrum.of(psi, values)
            alpha = self._learned(spectrum) if alpha is None else alpha
            return alpha, SpectralPosterior.of(spectrum, alpha, beta)
        alpha = self._learned(Spectrum.of(psi, values)) if alpha is None else alpha
        return alpha, CholeskyPosterior.of(psi, values, alpha, beta)
