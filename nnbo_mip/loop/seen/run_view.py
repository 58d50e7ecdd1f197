"""`RunView`: a run as it stands, to be looked at; nothing is asked and nothing is written.

Its model is that of all that was told, as stop rules see it: learned when a picture needs it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import FileFormatError, NnboError
from nnbo_mip.loop.judging.model import Model
from nnbo_mip.loop.judging.standing import RunStanding
from nnbo_mip.loop.record.events import Observation
from nnbo_mip.loop.record.journal import Journal
from nnbo_mip.loop.record.state import State
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.seen.side import Side, sides_of
from nnbo_mip.loop.settings.settings import Purpose, Settings, seed_for
from nnbo_mip.loop.settings.stored import settings_of
from nnbo_mip.loop.step.recommending import Recommendation, recommended
from nnbo_mip.loop.step.training_set import seeded
from nnbo_mip.loop.stopping.bounds import RegretBound
from nnbo_mip.loop.stopping.rule import Verdict
from nnbo_mip.surrogates.base.abstract import Belief, Capability

DELTA, NU = 0.1, 0.2
"""Of the band of a regret bound, as `BayesianOptimizer.regret_bound` has them."""


@dataclass(frozen=True, eq=False)
class RunView:
    """A run.

    Parameters
    ----------
    settings : Settings
    state : State
    name : str
        Of the page.
    about : mapping
        What the journal says of the run as a whole: when it began, with which versions.
    """

    settings: Settings
    state: State
    name: str
    about: Mapping[str, Any]

    @staticmethod
    def of_journal(path: str | Path, **objects: object) -> RunView:
        """Read a journal, which others may write meanwhile; it is not changed."""
        journal = Journal(path)
        meta = journal.meta()
        stored = meta.get("settings")
        if not isinstance(stored, Mapping):
            raise FileFormatError(f"the journal {str(path)!r} must hold settings; it has none.")
        settings = settings_of(stored, objects)
        events, _ = journal.read()
        state = State(settings.space, settings.embedded).after(events)
        return RunView(settings, state, Path(path).name, meta)

    # -- what was recorded ----------------------------------------------------------------

    @property
    def told(self) -> tuple[Observation, ...]:
        """Everything that was told, in order."""
        return self.state.observations

    @property
    def steps(self) -> list[Suggestion]:
        """What models chose, in order."""
        return [one for one in self.state.suggestions.values() if not one.is_initial]

    @property
    def values(self) -> FloatArray:
        """All values (n,), NaN for failures."""
        return np.array([math.nan if one.y is None else one.y for one in self.told])

    @cached_property
    def best(self) -> Recommendation | None:
        """The point to take; None without a value."""
        settings, state = self.settings, self.state
        return recommended(settings, state.observations, state.best(settings.sign))

    @property
    def verdict(self) -> Verdict | None:
        """Why a stop rule ended the run; None where none did."""
        kept = self.state.stop
        return None if kept is None else Verdict.from_dict(kept["verdict"])

    @cached_property
    def sides(self) -> list[Side]:
        """The inputs that move."""
        return sides_of(self.settings.search)

    # -- what the model says --------------------------------------------------------------

    @cached_property
    def model(self) -> Model | None:
        """The model of all that was told; None where there is none to be drawn."""
        try:
            made = Model.of(self.settings, self.told)
            if made is not None and Capability.MEAN in made.belief.capabilities:
                return made
        except (NnboError, np.linalg.LinAlgError, ArithmeticError):
            pass
        return None

    @cached_property
    def belief(self) -> Belief | None:
        """What it learned, at the scale of the uncertainty of the next step."""
        if self.model is None:
            return None
        c = self.state.c
        return self.model.belief if c in (None, 1.0) else self.model.belief.scaled(c or 1.0)

    def expected(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return middle and ends (n,) of the band of one deviation at points (n, k).

        They are in the user's units and direction; ends are NaN where the model has no deviation.
        """
        model, belief = self.model, self.belief
        if model is None or belief is None:
            return None
        mean, sign = belief.mean(points), self.settings.sign
        std = np.full(len(mean), math.nan)
        if Capability.STD in belief.capabilities:
            std = belief.std(points)
        outward = model.sample.outward
        ends = [sign * outward(mean + side * std) for side in (-1.0, 1.0)]
        return sign * outward(mean), np.minimum(*ends), np.maximum(*ends)

    @cached_property
    def scorer(self) -> Scorer | None:
        """The acquisition of the next step; None where it chooses a point by itself."""
        model, belief, settings = self.model, self.belief, self.settings
        if model is None or belief is None or settings.acquisition.proposes:
            return None
        seed = seed_for(settings.seed, self.state.steps, Purpose.ACQUISITION)
        sample = model.sample
        acquisition = seeded(settings.acquisition, seed).converted(
            lambda value: sample.value_inward(value, settings.sign)
        )
        try:
            return acquisition.scorer(
                belief, sample.X, sample.y, sample.deviations, self.state.steps
            )
        except NnboError:
            return None

    @cached_property
    def regret(self) -> RegretBound | str:
        """Between what the optimum lies, or why nothing is said of it."""
        offered = self.settings.surrogate.capabilities
        if not {Capability.MEAN, Capability.STD} <= offered:
            return f"{self.settings.surrogate.name} has no deviations of which a bound is made"
        state = self.state
        standing = RunStanding(
            self.settings, state.observations, state.best(self.settings.sign), None, 0.0
        )
        try:
            found = standing.regret_bound(DELTA, NU, True)
        except (NnboError, np.linalg.LinAlgError, ArithmeticError) as error:
            return str(error)
        return found or "no value was told yet"
