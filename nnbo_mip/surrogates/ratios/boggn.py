r"""BOGGN: a density ratio by a Bayesian classifier, a network with a Laplace posterior.

1. the best share gamma of the observations is good (`labels`);
2. a network of ReLUs is trained to a maximum a posteriori theta* (`classifier_training`);
3. the posterior is N(theta*, H^-1) with the Gauss-Newton curvature H (`laplace`);
4. log-odds are linear in the weights about theta*, hence normal, and the probability of a good
   point is their expectation (`boggn_belief`);
5. the precision delta of the prior has the largest evidence of a few (`laplace_evidence`).

The source trains on a loss without labels, whose minimizer below gamma = 1/2 is the probability
zero everywhere; what stands here is the Bernoulli likelihood that it means.

References
----------
Hassen and Rish (2021), BOGGN [HassenRish2021].
Immer et al. (2021), predictions by the linearized network [Immer2021].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_size,
    check_widths,
)
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.observations import Observations
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.ensembles.training import Schedule
from nnbo_mip.surrogates.ratios.boggn_belief import PREDICTIONS, BoggnBelief, boggn_capabilities
from nnbo_mip.surrogates.ratios.estimators.classifier_training import trained_stack, weights_of
from nnbo_mip.surrogates.ratios.estimators.jacobian import Linearization
from nnbo_mip.surrogates.ratios.estimators.labels import Labels, check_gamma
from nnbo_mip.surrogates.ratios.estimators.laplace import FORMS, Curvature
from nnbo_mip.surrogates.ratios.estimators.laplace_evidence import (
    evidence_by_points,
    log_likelihood,
)
from nnbo_mip.surrogates.ratios.estimators.stack_odds import StackOdds

GRID = (1.0, 0.3, 0.1, 0.03, 0.01)
"""Precisions of the prior that are compared by their evidence."""


@dataclass(frozen=True)
class Boggn(Surrogate):
    """A Laplace-approximated Bayesian classifier.

    Experimental: a method of research, which may change or go.

    Parameters
    ----------
    gamma : float
        Share of the observations that count as good.
    annealing : float
        How it shrinks with their number (see `labels`), from 0 (not) to 1.
    hidden : tuple of int
        Widths.
    prior_precision : float or "evidence"
        delta; ``evidence`` chooses among `GRID`.
    weights : {"all", "last"}
        Which weights are uncertain. With the last layer alone the log-odds are continuous, and
        their maximum, and that of a draw, is proven.
    form : {"function", "weight", "diagonal", "kfac"}
        Of the posterior; the first two are the same.
    prediction : {"probit", "quadrature", "monte_carlo"}
        How the probability is integrated.
    n_samples : int
        Of the weights, for Monte Carlo.
    balanced : bool
        Whether both classes count alike in training; the log-odds are corrected for it.
    epochs, learning_rate, decay
        As in `NetClassifier`.
    seed : int
    """

    name: ClassVar[str] = "boggn"
    belief_type: ClassVar[type[Belief]] = BoggnBelief
    scalable = False

    gamma: float = 1.0 / 3.0
    annealing: float = 0.0
    hidden: tuple[int, ...] = (32, 32)
    prior_precision: float | str = "evidence"
    weights: str = "all"
    form: str = "function"
    prediction: str = "probit"
    n_samples: int = 100
    balanced: bool = False
    epochs: int = 600
    learning_rate: float = 0.005
    decay: str = "cosine"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_gamma(self.gamma, self.annealing)
        object.__setattr__(self, "hidden", check_widths("hidden", self.hidden))
        if isinstance(self.prior_precision, str):
            if self.prior_precision != "evidence":
                raise InputError(
                    'prior_precision must be a number > 0 or "evidence"; got '
                    f"{self.prior_precision!r}; choose one."
                )
        else:
            check_number("prior_precision", self.prior_precision, above=0.0)
        check_choice("weights", self.weights, ("all", "last"))
        check_choice("form", self.form, FORMS)
        check_choice("prediction", self.prediction, PREDICTIONS)
        check_size("n_samples", self.n_samples)
        check_flag("balanced", self.balanced)
        check_count("seed", self.seed, least=0)
        self._schedule()

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return boggn_capabilities(self.weights == "last", self.prediction)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> BoggnBelief:
        """Train, linearize and choose; see `Surrogate.fit`."""
        data = Observations.of(X, y)
        labels = Labels.of(data.y, self.gamma, self.annealing)
        given = isinstance(self.prior_precision, str)
        precisions = GRID if isinstance(self.prior_precision, str) else (self.prior_precision,)
        stack = trained_stack(
            data.X,
            labels,
            self.hidden,
            precisions,
            self._schedule(),
            self.seed,
            self.balanced,
            self.name,
        )
        found = [
            self._judged(stack.member(m), delta, data.X, labels)
            for m, delta in enumerate(precisions)
        ]
        _, network, curvature, delta = max(found, key=lambda one: one[0]) if given else found[0]
        return self._belief(network, curvature, delta, labels)

    def _judged(
        self, stack: Stack, delta: float, X: FloatArray, labels: Labels
    ) -> tuple[float, Linearization, Curvature, float]:
        """Return the evidence of one precision, and what it is made of."""
        network = Linearization(stack, len(self.hidden) if self.weights == "last" else 0)
        weights = weights_of(labels, self.balanced)
        curvature = Curvature.of(network, X, weights)
        odds = stack.evaluate(X)[0, :, 0]
        likelihood = log_likelihood(odds, labels.good.astype(np.float64), weights)
        evidence = evidence_by_points(likelihood, network.parameters, curvature, delta)
        return evidence, network, curvature, delta

    def _belief(
        self, network: Linearization, curvature: Curvature, delta: float, labels: Labels
    ) -> BoggnBelief:
        posterior = curvature.posterior(self.form, delta)
        if self.balanced and not labels.are_all_good:
            # The derivative by the weights does not depend on the last bias.
            corrected = StackOdds(network.stack).shifted(labels.prior_odds).stack
            network = Linearization(corrected, network.first)
        samples = np.zeros((0, len(posterior.mean)))
        if self.prediction == "monte_carlo":
            rng = np.random.default_rng([self.seed, 1])
            white = rng.standard_normal((self.n_samples, len(posterior.mean)))
            samples = posterior.spread(white)
        return BoggnBelief(network, posterior, delta, labels.share, self.prediction, samples)

    def _schedule(self) -> Schedule:
        return Schedule(self.epochs, self.learning_rate, self.decay)
