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

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_number
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.observations import Observations, Standardization, check_y_range
from nnbo_mip.surrogates.ensembles.stack import ACTIVATIONS
from nnbo_mip.surrogates.rvfl.bayesian_linear import (
    CholeskyPosterior,
    SpectralPosterior,
    Spectrum,
    WeightPosterior,
)
from nnbo_mip.surrogates.rvfl.brvfl_belief import BrvflBelief, brvfl_capabilities
from nnbo_mip.surrogates.rvfl.evidence import check_alpha, learn_alpha
from nnbo_mip.surrogates.rvfl.features import RandomFeatures

__all__ = ["Brvfl", "BrvflBelief"]

SOLVERS = ("svd", "cholesky")


@dataclass(frozen=True)
class Brvfl(Surrogate):
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
        check_count("n_hidden", self.n_hidden)
        check_choice("activation", self.activation, ACTIVATIONS)
        check_flag("direct_link", self.direct_link)
        check_alpha(self.alpha)
        check_number("beta", self.beta, above=0.0)
        check_choice("solver", self.solver, SOLVERS)
        check_number("tolerance", self.tolerance, above=0.0, below=1.0)
        check_count("max_iterations", self.max_iterations)
        check_flag("include_noise", self.include_noise)
        check_y_range(self.y_range)
        check_count("seed", self.seed, least=0)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return brvfl_capabilities(self.activation)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> BrvflBelief:
        """Draw the hidden layer and condition the output weights on all observations."""
        data = Observations.of(X, y)
        units = Standardization.of(data, inputs=True, outputs=True, y_range=self.y_range)
        rng = np.random.default_rng(self.seed)
        features = RandomFeatures.draw(
            self.n_hidden, data.n_inputs, self.activation, self.direct_link, rng
        )
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
        beta = float(self.beta)
        if self.solver == "svd":
            spectrum = Spectrum.of(psi, values)
            alpha = self._alpha(lambda: spectrum)
            return alpha, SpectralPosterior.of(spectrum, alpha, beta)
        alpha = self._alpha(lambda: Spectrum.of(psi, values))
        return alpha, CholeskyPosterior.of(psi, values, alpha, beta)

    def _alpha(self, spectrum: Callable[[], Spectrum]) -> float:
        if isinstance(self.alpha, str):
            return learn_alpha(spectrum(), self.beta, self.tolerance, self.max_iterations)
        return float(self.alpha)
