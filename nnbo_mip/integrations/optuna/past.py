"""The trials of a study as the events of a run, of which everything else is computed.

A sampler keeps nothing between trials: any process, thread or storage has all that is known.

    COMPLETE            a value; infinities and NaN count as failures
    FAIL                a failure, which counts as the worst value that was told
    RUNNING, WAITING    pending, where its parameters are known
    PRUNED              left out: its last value is of another kind
    infeasible          a failure, once a trial is feasible; before that trials are told how far
                        they are from it
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.core.terms import Direction
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.integrations.optuna.attributes import PARAMS, STATUS, stage_of, whole
from nnbo_mip.integrations.optuna.spaces import Axes
from nnbo_mip.loop.record.events import Event, asked, told
from nnbo_mip.loop.record.state import Stage, State
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.space.space import Space

STATES = (TrialState.COMPLETE, TrialState.FAIL, TrialState.RUNNING)


@dataclass(frozen=True, eq=False)
class Past:
    """What is known of a study.

    Parameters
    ----------
    axes : Axes
    trials : tuple of FrozenTrial
        Finished ones in the order of their ends, then running ones.
    direction : {"minimize", "maximize"}
        Of what is told.
    values : mapping of int to float or None
        What is told of finished trials, by their numbers; None for failures.
    seeks_feasibility : bool
        Whether no trial is feasible yet, and values are sums of violated constraints.
    """

    axes: Axes
    trials: tuple[FrozenTrial, ...]
    direction: Direction
    values: Mapping[int, float | None]
    seeks_feasibility: bool

    @staticmethod
    def of(study: Study, space: Mapping[str, BaseDistribution], apart: int | None = None) -> Past:
        """Read a study, one of its trials apart: the one that is being chosen."""
        check_single_objective(study)
        trials = study.get_trials(deepcopy=False, states=STATES)
        axes = Axes.of(space)
        finished = [one for one in trials if one.state is not TrialState.RUNNING]
        finished.sort(key=lambda one: (one.datetime_complete or one.datetime_start, one.number))
        running = [one for one in trials if one.state is TrialState.RUNNING]
        running = [one for one in running if one.number != apart]
        complete = [one for one in finished if one.state is TrialState.COMPLETE]
        violations = _violations(complete)
        is_lost = bool(violations) and all(violations.values())
        values: dict[int, float | None] = dict.fromkeys(one.number for one in finished)
        for one in complete:
            violated = violations.get(one.number, 0.0)
            value = violated if is_lost else one.value
            is_one = value is not None and math.isfinite(value) and (is_lost or not violated)
            values[one.number] = value if is_one else None
        maximizes = study.direction == StudyDirection.MAXIMIZE and not is_lost
        direction: Direction = "maximize" if maximizes else "minimize"
        return Past(axes, (*finished, *running), direction, values, is_lost)

    def state(self, space: Space) -> State:
        """Return the run that these trials are."""
        events: list[Event] = []
        known = 0
        for trial in self.trials:
            point = self.axes.inward(_params(trial))
            if point is None:
                continue
            stage = stage_of(trial) or Stage(known=known)
            key = str(trial.number)
            content = _suggestion(trial, point).to_dict()
            events.append(Event("ask", asked(content, stage.to_dict()).content, key))
            if trial.number in self.values:
                value = self.values[trial.number]
                why = "" if value is not None else f"trial {trial.number} has no value"
                events.append(told(point, value, why, None, key))
                known += 1
        return State(space).after(events)

    @property
    def complete(self) -> int:
        """How many trials have ended with a value of their own."""
        return sum(one.state is TrialState.COMPLETE for one in self.trials)


def check_single_objective(study: Study) -> None:
    """Refuse a study of several objectives."""
    if len(study.directions) != 1:
        raise UnsupportedError(
            f"a study must have one objective to be searched with a proof; got "
            f"{len(study.directions)} directions; take optuna.samplers.NSGAIISampler or GPSampler."
        )


def _params(trial: FrozenTrial) -> Mapping[str, Any]:
    """Return the parameters of a trial, also those that a running one did not ask for yet."""
    chosen: dict[str, Any] | None = whole(trial.system_attrs, PARAMS)
    known: dict[str, Any] = dict(trial.params)
    if chosen is None or trial.state.is_finished():
        return known
    return {**chosen, **known}


def _suggestion(trial: FrozenTrial, point: Mapping[str, Any]) -> Suggestion:
    """Return what chose a trial: a model, where its status says so, or nobody that we know."""
    status = trial.user_attrs.get(STATUS, "initial")
    if status == "initial" or stage_of(trial) is None:
        return Suggestion.initial(point)
    return Suggestion(x=point, found=SearchResult(status=status, value=math.nan))


def _violations(trials: Sequence[FrozenTrial]) -> dict[int, float]:
    """Return by how much trials violate their constraints, by number; empty without constraints.

    Each constraint counts in units of the largest violation of it, so that none drowns the others.
    """
    given = {one.number: one.constraints for one in trials}
    named = sorted({name for constraints in given.values() for name in constraints})
    if not named:
        return {}
    for number, constraints in given.items():
        missing = [name for name in named if name not in constraints]
        if missing:
            raise InputError(
                f"every trial must have all constraints, {', '.join(named)}; trial {number} has "
                f"no {missing[0]!r}; set it by trial.set_constraint, or fail the trial."
            )
    largest = {
        name: max(min(constraints[name], 1e300) for constraints in given.values()) for name in named
    }
    return {
        number: sum(
            max(min(constraints[name], 1e300), 0.0) / largest[name]
            for name in named
            if largest[name] > 0.0
        )
        for number, constraints in given.items()
    }
