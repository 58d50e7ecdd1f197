"""What is asked next: an initial point, the choice of a model, or a fresh start.

The answer is a function of settings and state. What is kept here between asks, designs and a
belief, would be computed again to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.control import ProgressCallback
from nnbo_mip.core.errors import SolverError, TrainingError
from nnbo_mip.loop.designs.points import completed
from nnbo_mip.loop.designs.spread import Maximin
from nnbo_mip.loop.policies.escape import NoEscape
from nnbo_mip.loop.record.events import Event, asked
from nnbo_mip.loop.record.state import Stage, State
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.regions.regions import Extent
from nnbo_mip.loop.settings.settings import Purpose, Settings, seed_for
from nnbo_mip.loop.step.doubts import N_CORNERS, corners_said
from nnbo_mip.loop.step.explaining import Reasons
from nnbo_mip.loop.step.limits import seconds_of_ask
from nnbo_mip.loop.step.step import Step
from nnbo_mip.loop.step.step_data import StepInput
from nnbo_mip.loop.step.training_set import TrainingSet, as_models_see, learned, seeded
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace
from nnbo_mip.surrogates.base.abstract import Belief

Asked = tuple[Event, Suggestion | None]


class AskPolicy:
    """Makes the next ask of a run.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._search = settings.search
        self._design: tuple[Stage, FloatArray] | None = None
        self._belief: tuple[int, TrainingSet, Belief] | None = None

    def next(self, state: State, callback: ProgressCallback | None = None) -> Asked:
        """Return the event of the next ask, and the suggestion with its model if there is one.

        Parameters
        ----------
        state : State
        callback : callable, optional
            Receives a `Progress` while a model learns and its acquisition is maximized.
        """
        stage = state.stage or Stage(known=len(state.observations))
        design = self._points(stage, state)
        if state.initial < len(design):
            return self._initial(design[state.initial], stage), None
        sample = self._sample(state, stage)
        if not sample.can_be_fitted:
            said = "no value has been told that a model could learn from."
            return self._extra(state, stage, said), None
        extent = self._extent(state, stage)
        if extent is not None and extent.is_over:
            over = "the trust region shrank below its smallest side, so the run restarts."
            restarted = self._restart(state, stage, self._settings.region.keep, over)
            if restarted is not None:
                return restarted, None
            extent = None  # there is nothing fresh: the whole space is searched
        try:
            given = self._given(state, stage, sample, len(design), extent)
            result = Step.fit(self._settings, given, callback).run()
        except (TrainingError, SolverError, np.linalg.LinAlgError, ArithmeticError) as error:
            return self._extra(state, stage, f"no model chose this point: {error}"), None
        place = self._place(result.suggestion)
        if self._repeats(state, place, result.wanted):
            repeated = "the model repeated a point, so the run restarts."
            restarted = self._restart(state, stage, self._settings.restart.keep, repeated)
            if restarted is not None:
                return restarted, None
        suggestion = result.suggestion
        chosen = [key for key, one in state.suggestions.items() if not one.is_initial]
        corners = ""
        if len(chosen) + 1 >= N_CORNERS:
            places = [*(state.places[key] for key in chosen), place]
            asked_in = *(state.suggestions[key].region for key in chosen), suggestion.region
            # Slices limit proofs and not the search.
            regions = (None,) * len(asked_in) if self._settings.region.slices else asked_in
            corners = corners_said(np.array(places), regions, self._search.model())
        if corners:
            said = " ".join(part for part in (suggestion.message, corners) if part)
            suggestion = replace(suggestion, found=replace(suggestion.found, message=said))
        used = result.learned
        why = Reasons(self._settings, state.observations, used.sample, used.X, used.belief)
        made = replace(suggestion, why=why)
        return asked(suggestion.to_dict(), stage.to_dict(), result.next_c), made

    def _repeats(self, state: State, place: FloatArray, wanted: FloatArray | None) -> bool:
        """Whether the choice of a model, or what it wanted before that, calls for a restart."""
        restart = self._settings.restart
        if not restart.restarts:
            return False
        if restart.is_due(place, state.seen()):
            return True
        return wanted is not None and restart.is_due(wanted, state.told())

    def starts(self, state: State) -> int:
        """Return how many initial points the run asks for before there is a model."""
        return len(self._points(state.stage or Stage(known=len(state.observations)), state))

    def is_begun(self, state: State) -> bool:
        """Whether a model chooses the next point, and no initial one is still to be told."""
        asked = (state.suggestions[key] for key in state.pending)
        return state.initial >= self.starts(state) and not any(one.is_initial for one in asked)

    def is_exhausted(self, state: State) -> bool:
        """Whether every point of a finite space is told or pending, and none is wanted again.

        One is where initial points are left, where values are noisy, and without a rule of escape.
        """
        domain = self._search.model()
        moves = domain.lower < domain.upper
        is_finite = all(domain.grids[j] is not None for j in np.flatnonzero(moves))
        repeats = isinstance(self._settings.escape, NoEscape)
        if not is_finite or repeats or any(told.noise for told in state.observations):
            return False
        if state.initial < self.starts(state):
            return False
        rng = np.random.default_rng(len(state.suggestions))
        return not len(completed(domain, np.empty((0, domain.dimension)), 1, state.seen(), rng))

    # -- points that no model chooses ---------------------------------------------------

    def _points(self, stage: Stage, state: State) -> FloatArray:
        """Return the initial points (n, k) of a stage."""
        if self._design is None or self._design[0] != stage:
            self._design = stage, self._drawn(stage, state)
        return self._design[1]

    def _drawn(self, stage: Stage, state: State) -> FloatArray:
        settings = self._settings
        observed = state.observations[: stage.known]
        seed = seed_for(settings.seed, stage.index, Purpose.DESIGN)
        rows = [told.z for told in observed] + [state.places[key] for key in stage.pending]
        known = np.array(rows).reshape(len(rows), self._search.model().dimension)
        if stage.index:
            return settings.restart.fresh_points(settings.initial, self._search, seed, known)
        valued = np.array([not told.failed for told in observed], dtype=np.bool_)
        valued = np.append(valued, np.zeros(len(stage.pending), dtype=np.bool_))
        return settings.initial.remaining(self._search, seed, known, valued)

    def _restart(self, state: State, stage: Stage, keep: bool, message: str) -> Event | None:
        """Return the first point of a new stage, None where there is no fresh point."""
        fresh = Stage(
            index=stage.index + 1,
            known=len(state.observations),
            pending=state.pending,
            learns_from=stage.learns_from if keep else len(state.observations),
        )
        points = self._points(fresh, state)
        if not len(points):
            return None
        return self._initial(points[0], fresh, message)

    def _place(self, suggestion: Suggestion) -> FloatArray:
        """Return where models see a suggestion."""
        return self._search.encode(suggestion.x)[0] if suggestion.z is None else suggestion.z

    def _initial(self, z: FloatArray, stage: Stage, message: str = "") -> Event:
        x = self._search.decode(z)
        embedded = z if isinstance(self._search, EmbeddedSpace) else None
        suggestion = Suggestion.initial(x, embedded, message)
        return asked(suggestion.to_dict(), stage.to_dict())

    def _extra(self, state: State, stage: Stage, message: str) -> Event:
        """Return one more point far from all others."""
        seed = seed_for(self._settings.seed, len(state.suggestions), Purpose.EXTRA)
        far = Maximin(n=1).points(self._search, seed, state.seen())
        if not len(far):  # every point is known
            far = self._search.model().sample(1, np.random.default_rng(seed))
        return self._initial(far[0], stage, message)

    # -- points that a model chooses ----------------------------------------------------

    def _sample(self, state: State, stage: Stage) -> TrainingSet:
        told = state.observations[stage.learns_from :]
        return TrainingSet.of(told, self._search.model().dimension, self._settings.sign)

    def _extent(self, state: State, stage: Stage) -> Extent | None:
        """Return the region of a stage, of which points asked for before it are no part."""
        if not self._settings.region.limits:
            return None
        told = state.observations[stage.known if stage.index else 0 :]
        told = tuple(
            one for one in told if one.suggestion is None or one.suggestion.key not in stage.pending
        )
        signs = self._settings.sign
        values = [np.nan if one.y is None else signs * one.y for one in told]
        chosen = [one.suggestion is not None and not one.suggestion.is_initial for one in told]
        domain = self._search.model()
        Z = np.array([one.z for one in told]).reshape(len(told), domain.dimension)
        rule = self._settings.region.for_parameters(domain.n_parameters)
        return rule.extent(Z, np.array(values), np.array(chosen, dtype=np.bool_))

    def _given(
        self, state: State, stage: Stage, sample: TrainingSet, starts: int, extent: Extent | None
    ) -> StepInput:
        learned = state.pending
        if stage.forgets:
            learned = tuple(key for key in state.pending if key not in stage.pending)
        places = [state.places[key] for key in learned]
        seed = seed_for(self._settings.seed, len(state.observations), Purpose.NOISE)
        limit = self._settings.time_limit
        return StepInput(
            sample=as_models_see(sample, self._settings, seed),
            pending=np.array(places).reshape(len(places), sample.X.shape[1]),
            seen=state.seen(),
            step=state.steps,
            starts=max(starts, 1),
            c=state.c,
            extent=extent,
            fit_before=self._fit_before(state),
            time_limit=limit
            if isinstance(limit, float)
            else seconds_of_ask(limit, state.evaluation_seconds),
            believed=self._believed(len(state.observations)),
        )

    def _fit_before(self, state: State) -> float:
        """Return how many seconds the last model learned; 0 before the first one."""
        fits = [one.fit_seconds for one in state.suggestions.values() if not one.is_initial]
        return fits[-1] if fits else 0.0

    def _believed(self, told: int) -> Callable[[TrainingSet], Belief]:
        """Return what fits a belief to a sample alone; all asks between two tells share it."""

        def fit(sample: TrainingSet) -> Belief:
            kept = self._belief
            if kept is not None and kept[0] == told and kept[1].equals(sample):
                return kept[2]
            seed = seed_for(self._settings.seed, told, Purpose.BELIEVE)
            surrogate = seeded(self._settings.learner, seed).converted(
                lambda value: sample.value_inward(value, self._settings.sign)
            )
            belief = learned(surrogate, sample.X, sample.y, sample.noise)
            self._belief = told, sample, belief
            return belief

        return fit
