"""NOMU: a network for the mean and one for its uncertainty, trained together.

The uncertainty is learned from where there are no data: pinned near zero at observations,
pushed up everywhere else, and as stiff in between as the networks are. The loss is in
`training`, the bounding of the uncertainty in `bounding`.

References
----------
Heiss et al. (2022), NOMU [Heiss2022].
Högger (2021), NOMU in Bayesian optimization [Hogger2021].
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import numpy.typing as npt

from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_widths
from nnbo_mip.surrogates.base.abstract import Surrogate
from nnbo_mip.surrogates.base.observations import Observations, Standardization, check_y_range
from nnbo_mip.surrogates.ensembles.certifiable import (
    OFF,
    StabilityPenalty,
    penalty_of,
    residual_scale,
    train_certifiable,
)
from nnbo_mip.surrogates.ensembles.torch_stack import INITIALIZATIONS
from nnbo_mip.surrogates.ensembles.training import Schedule, train
from nnbo_mip.surrogates.nomu.belief import CAPABILITIES, Bounding, NomuBelief
from nnbo_mip.surrogates.nomu.training import NomuLoss, NomuTraining, TwinNets

if TYPE_CHECKING:
    import torch

PENALTIES: Mapping[str, StabilityPenalty | None] = MappingProxyType(
    {
        OFF: None,
        "light": StabilityPenalty(group_penalty=0.0075, penalized_share=0.6),
        "strong": StabilityPenalty(group_penalty=0.015, penalized_share=0.6),
    }
)
"""About half of what ensembles take: one net has no other members to lean on."""


@dataclass(frozen=True)
class Nomu(Surrogate):
    """Neural optimization-based model uncertainty.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the main net's hidden layers.
    side_hidden : tuple of int, optional
        Those of the side net; the same when left out.
    bounding : str
        ``clip``, which compiles to an output ``std``, or ``smooth``.
    l_min, l_max : float
        Limits of the bounding, in standardized units of y.
    pi_sqr, pi_exp, c_exp : float
        Factors of the loss: how strongly uncertainty is pinned at the data, pushed up
        elsewhere, and how soon it is large enough (about 1 / c_exp).
    n_augmented : int
        Points of the box at which it is pushed up, drawn anew every epoch.
    epochs, learning_rate, decay, warmup : int, float, str, float
        Steps of Adam on all observations, their largest size, ``cosine`` decay or ``constant``,
        and the part of the steps in which the size grows from zero.
    weight_penalty : float
        lambda in ``loss + lambda sum w^2``, biases included.
    initialization : str
        ``he`` or ``uniform``; see `TwinNets`.
    restore_best : bool
        Whether the weights of the epoch with the lowest loss are kept instead of the last.
    stop_gradient : bool
        Whether the raw uncertainty leaves the main net's hidden layers alone. Without it they
        learn from both.
    certifiable : str or StabilityPenalty
        ``off``, ``light`` or ``strong``: train for few unstable ReLUs; see `StabilityPenalty`.
    y_range : (low, high), optional
        A known range of y, mapped to [-1, 1] instead of standardizing y.
    seed : int
        Seed of the first weights and of the augmented points.
    """

    name: ClassVar[str] = "nomu"
    belief_type: ClassVar[type[NomuBelief]] = NomuBelief
    capabilities = CAPABILITIES

    hidden: tuple[int, ...] = (32, 32)
    side_hidden: tuple[int, ...] | None = None
    bounding: str = "clip"
    l_min: float = 1e-3
    l_max: float = 2.0
    pi_sqr: float = 1.0
    pi_exp: float = 0.01
    c_exp: float = 30.0
    n_augmented: int = 200
    epochs: int = 512
    learning_rate: float = 0.01
    decay: str = "cosine"
    warmup: float = 0.1
    weight_penalty: float = 1e-8
    initialization: str = "he"
    restore_best: bool = False
    stop_gradient: bool = False
    certifiable: str | StabilityPenalty = "off"
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", check_widths("hidden", self.hidden))
        if self.side_hidden is not None:
            widths = check_widths("side_hidden", self.side_hidden)
            object.__setattr__(self, "side_hidden", widths)
        check_choice("initialization", self.initialization, INITIALIZATIONS)
        check_flag("restore_best", self.restore_best)
        check_flag("stop_gradient", self.stop_gradient)
        self._stability_penalty()
        check_y_range(self.y_range)
        check_count("seed", self.seed, least=0)
        for checked in (self._bounding, self._loss, self._schedule):
            checked()

    def count_parameters(self, n_inputs: int) -> int:
        """Return how many weights and biases both nets have."""
        nets = (self.hidden, self._side_hidden)
        pairs = [pair for widths in nets for pair in itertools.pairwise((n_inputs, *widths, 1))]
        return sum((n_in + 1) * n_out for n_in, n_out in pairs) + self.hidden[-1]

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> NomuBelief:
        """Train from scratch; see `Surrogate.fit`."""
        penalty = self._stability_penalty()
        data = Observations.of(X, y)
        units = Standardization.of(data, inputs=False, outputs=True, y_range=self.y_range)

        def make(generator: torch.Generator) -> NomuTraining:
            return self.untrained(data, units, generator)

        how = self._schedule(), self.seed, self.name
        model = train(make, *how) if penalty is None else train_certifiable(make, *how, penalty)
        main, side = (stack.without_dead_units() for stack in model.nets.frozen())
        belief = NomuBelief(main, side, units, self._bounding())
        return belief if penalty is None else belief.scaled(residual_scale(belief, data))

    def _stability_penalty(self) -> StabilityPenalty | None:
        return None if self.certifiable == OFF else penalty_of(self.certifiable, PENALTIES)

    def untrained(
        self, data: Observations, units: Standardization, generator: torch.Generator
    ) -> NomuTraining:
        """Return both nets at their first weights, and their loss on these data."""
        nets = TwinNets(
            data.n_inputs,
            self.hidden,
            self._side_hidden,
            generator,
            self.initialization,
            self.stop_gradient,
        )
        u, v = units.inward(data.X), units.values_inward(data.y)
        return NomuTraining(nets, u, v, self._loss(), generator)

    @property
    def _side_hidden(self) -> tuple[int, ...]:
        return self.hidden if self.side_hidden is None else self.side_hidden

    def _bounding(self) -> Bounding:
        return Bounding(self.bounding, self.l_min, self.l_max)

    def _loss(self) -> NomuLoss:
        return NomuLoss(self.pi_sqr, self.pi_exp, self.c_exp, self.n_augmented)

    def _schedule(self) -> Schedule:
        return Schedule(
            self.epochs,
            self.learning_rate,
            self.decay,
            self.weight_penalty,
            self.restore_best,
            self.warmup,
        )


def thesis(
    hidden: tuple[int, ...] = (1024, 1024, 1024),
    bounding: str = "smooth",
    pi_sqr: float = 1.0,
    n_augmented: int = 500,
    epochs: int = 1024,
    y_range: tuple[float, float] | None = None,
    seed: int = 0,
) -> Nomu:
    """Return the sizes and the training of the first study of NOMU in Bayesian optimization.

    It scaled y by its known range: give `y_range` to do so too.
    """
    return Nomu(
        hidden=hidden,
        bounding=bounding,
        l_min=1e-6,
        pi_sqr=pi_sqr,
        n_augmented=n_augmented,
        epochs=epochs,
        learning_rate=1e-3,
        decay="constant",
        warmup=0.0,
        initialization="uniform",
        restore_best=True,
        y_range=y_range,
        seed=seed,
    )
