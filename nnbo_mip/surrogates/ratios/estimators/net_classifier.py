r"""Class probability by a network of ReLUs, whose largest log-odds can be proven.

The network is trained as `classifier_training` says, with one precision delta of the prior:
maximum a posteriori of a Bayesian network, or weight decay. With delta = 0 the likelihood alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_flag, check_number, check_widths
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ensembles.training import Schedule
from nnbo_mip.surrogates.ratios.estimators.catalogue import RatioEstimator
from nnbo_mip.surrogates.ratios.estimators.classifier_training import trained_stack
from nnbo_mip.surrogates.ratios.estimators.labels import Labels
from nnbo_mip.surrogates.ratios.estimators.stack_odds import STACK_ODDS, StackOdds


@dataclass(frozen=True)
class NetClassifier(RatioEstimator):
    """A multi-layer perceptron.

    Parameters
    ----------
    hidden : tuple of int
        Widths.
    prior_precision : float
        delta, at least zero.
    balanced : bool
        Whether both classes count alike in training; the log-odds are corrected for it.
    epochs : int
        Steps on all observations at once.
    learning_rate : float
        Adam's step size at the start.
    decay : str
        ``cosine`` or ``constant``.
    """

    name: ClassVar[str] = "net"
    capabilities: ClassVar[frozenset[Capability]] = STACK_ODDS

    hidden: tuple[int, ...] = (32, 32)
    prior_precision: float = 0.01
    balanced: bool = False
    epochs: int = 600
    learning_rate: float = 0.005
    decay: str = "cosine"

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        object.__setattr__(self, "hidden", check_widths("hidden", self.hidden))
        check_number("prior_precision", self.prior_precision, least=0.0)
        check_flag("balanced", self.balanced)
        self._schedule()

    def estimate(self, X: FloatArray, labels: Labels, seed: int) -> StackOdds:
        """Return the log-odds of the trained network."""
        stack = trained_stack(
            X,
            labels,
            self.hidden,
            [self.prior_precision],
            self._schedule(),
            seed,
            self.balanced,
            "bore",
        )
        odds = StackOdds(stack)
        corrected = self.balanced and not labels.are_all_good
        return odds.shifted(labels.prior_odds) if corrected else odds

    def _schedule(self) -> Schedule:
        return Schedule(self.epochs, self.learning_rate, self.decay)
