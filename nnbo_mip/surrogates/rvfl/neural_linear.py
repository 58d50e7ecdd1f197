r"""A network whose last layer is Bayesian: trained features, exact posterior of what reads them.

A network of ReLUs is trained on the mean squared error as a deep ensemble of one would be
(`deep_ensemble`). Its last layer is then thrown away, and the weights on the last hidden values and
on a constant get the exact posterior of Bayesian linear regression (`bayesian_linear`), with a
given prior precision or the one of largest evidence (`evidence`).

References
----------
Snoek et al. (2015), DNGO, a Bayesian last layer [Snoek2015].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy.typing as npt

from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_number, check_widths
from nnbo_mip.surrogates.base.abstract import Belief, Surrogate
from nnbo_mip.surrogates.base.observations import Observations, Standardization, check_y_range
from nnbo_mip.surrogates.ensembles.deep_ensemble import EnsembleTraining
from nnbo_mip.surrogates.ensembles.torch_stack import INITIALIZATIONS, TorchStack
from nnbo_mip.surrogates.ensembles.trained_stack import as_tensors
from nnbo_mip.surrogates.ensembles.training import Schedule, train
from nnbo_mip.surrogates.rvfl.bayesian_linear import SpectralPosterior, Spectrum
from nnbo_mip.surrogates.rvfl.brvfl_belief import BrvflBelief, brvfl_capabilities
from nnbo_mip.surrogates.rvfl.evidence import check_alpha, learn_alpha
from nnbo_mip.surrogates.rvfl.trained_features import TrainedFeatures

if TYPE_CHECKING:
    import torch

TOLERANCE, MAX_ITERATIONS = 1e-6, 10_000
"""Of the evidence iteration."""


@dataclass(frozen=True)
class NeuralLinear(Surrogate):
    """Options of a network with a Bayesian last layer.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the hidden layers; the last one gives the features.
    alpha : float or "evidence"
        Precision of the last weights' prior, or the one of largest evidence.
    beta : float
        Precision of the noise on standardized outputs.
    include_noise : bool
        Whether `std` is that of an observation instead of the function's.
    epochs, learning_rate, decay, restore_best
        As in `Schedule`.
    weight_penalty : float
        lambda in ``sum of squared errors + lambda sum w^2``.
    initialization : str
        As in `TorchStack`.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    seed : int
        Source of the first weights.
    """

    name: ClassVar[str] = "neural_linear"
    belief_type: ClassVar[type[Belief]] = BrvflBelief
    capabilities = brvfl_capabilities("relu")

    hidden: tuple[int, ...] = (32, 50)
    alpha: float | str = "evidence"
    beta: float = 1000.0
    include_noise: bool = False
    epochs: int = 512
    learning_rate: float = 0.01
    decay: str = "cosine"
    weight_penalty: float = 1e-3
    initialization: str = "he"
    restore_best: bool = False
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        object.__setattr__(self, "hidden", check_widths("hidden", self.hidden))
        check_alpha(self.alpha)
        check_number("beta", self.beta, above=0.0)
        check_flag("include_noise", self.include_noise)
        check_flag("restore_best", self.restore_best)
        check_choice("initialization", self.initialization, INITIALIZATIONS)
        check_y_range(self.y_range)
        check_count("seed", self.seed, least=0)
        self._schedule(n=1)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> BrvflBelief:
        """Train the network, then condition its last weights on all observations."""
        data = Observations.of(X, y)
        units = Standardization.of(data, inputs=False, outputs=True, y_range=self.y_range)
        features = self._trained(data, units)
        psi, values = features.evaluate(units.inward(data.X)), units.values_inward(data.y)
        spectrum, alpha = Spectrum.of(psi, values), self.alpha
        if isinstance(alpha, str):
            alpha = learn_alpha(spectrum, self.beta, TOLERANCE, MAX_ITERATIONS)
        return BrvflBelief(
            features,
            SpectralPosterior.of(spectrum, float(alpha), float(self.beta)),
            float(alpha),
            float(self.beta),
            units,
            include_noise=bool(self.include_noise),
            family=self.name,
        )

    def _trained(self, data: Observations, units: Standardization) -> TrainedFeatures:
        """Return the hidden layers of a network that was trained on the data."""
        u, v = as_tensors(data, units)

        def untrained(generator: torch.Generator) -> EnsembleTraining:
            widths = (data.n_inputs, *self.hidden, 1)
            return EnsembleTraining(TorchStack(widths, 1, generator, self.initialization), u, v)

        model = train(untrained, self._schedule(len(data.y)), self.seed, self.name)
        return TrainedFeatures.of_stack(model.stack.frozen())

    def _schedule(self, n: int) -> Schedule:
        return Schedule(
            self.epochs,
            self.learning_rate,
            self.decay,
            check_number("weight_penalty", self.weight_penalty, least=0.0) / n,
            self.restore_best,
        )
