"""How a run stands, for stop rules; models and bounds are computed when a rule asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from nnbo_mip.core.terms import Direction
from nnbo_mip.loop.judging.improvement import asks_for_it, is_own, of_step, searched
from nnbo_mip.loop.judging.model import Model
from nnbo_mip.loop.judging.regret import regret_bound
from nnbo_mip.loop.record.events import Observation
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.step.recommending import recommended
from nnbo_mip.loop.stopping.bounds import ImprovementBound, RegretBound


@dataclass(frozen=True, eq=False)
class RunStanding:
    """What a `StopRule` may ask of a run.

    Parameters
    ----------
    settings : Settings
    observations : tuple of Observation
        Everything that was told.
    best : Observation or None
        The one with the best value.
    step : Suggestion or None
        What a model chose with all of that and nothing else pending; None where there is no such.
    seconds : float
        Wall seconds of the run.
    is_begun : bool
        Whether the initial points were evaluated: before, a model knows too little to end a run.
    asks_next : bool
        Whether a step is asked next and judged before it is evaluated, so that its bound can wait.
    """

    settings: Settings
    observations: tuple[Observation, ...]
    best: Observation | None
    step: Suggestion | None
    seconds: float
    is_begun: bool = True
    asks_next: bool = False

    @property
    def direction(self) -> Direction:
        """``minimize`` or ``maximize``."""
        return self.settings.direction

    @property
    def evaluations(self) -> int:
        """That were made of what was asked."""
        return sum(told.suggestion is not None for told in self.observations)

    @property
    def values(self) -> tuple[float | None, ...]:
        """All values that were told, in order; None for failures."""
        return tuple(told.y for told in self.observations)

    @property
    def chosen(self) -> tuple[bool, ...]:
        """Of all that was told, whether a model chose it."""
        asked = (told.suggestion for told in self.observations)
        return tuple(one is not None and not one.is_initial for one in asked)

    def best_value(self) -> float | None:
        """Return the best value, or the best mean where values are noisy."""
        found = recommended(self.settings, self.observations, self.best)
        return None if found is None else found.y

    @cached_property
    def model(self) -> Model | None:
        """What steps learn of all that was told; None before the initial points are known."""
        return Model.of(self.settings, self.observations) if self.is_begun else None

    @cached_property
    def careful(self) -> Model | None:
        """What is learned by one who is to say what cannot be; None as before."""
        return Model.of(self.settings, self.observations, True) if self.is_begun else None

    def regret_bound(
        self, delta: float, nu: float, calibrate: bool, enough: float | None = None
    ) -> RegretBound | None:
        """Return between what the optimum lies; None before there is a model."""
        model = self.careful if calibrate else self.model
        if model is None:
            return None
        return regret_bound(model, delta, nu, calibrate, enough)

    def improvement_bound(self, enough: float | None = None) -> ImprovementBound | None:
        """Return what no point's expected improvement exceeds; None before there is a model."""
        if self.asks_next and asks_for_it(self.settings):
            return None
        if self.model is None:
            return None
        if self.step is not None and is_own(self.settings, self.step):
            return of_step(self.model, self.step)
        return searched(self.model, enough)
