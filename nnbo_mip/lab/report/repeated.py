"""What models believed: steps of a unit of one variable, taken again from its settings.

A run is determined by its settings and what it observed, so that the same steps ask for the same
points. Where one does not, versions, machine or time differ, and nothing is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.lab.pictures.belief import BeliefLine
from nnbo_mip.lab.plan.environment import check_same, versions_here
from nnbo_mip.lab.plan.starts import problem_of
from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.run.methods import Modelled, task_of
from nnbo_mip.lab.store.results import Results
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.warps.warping import exponent_of_unit
from nnbo_mip.maximizers.base.abstract import Maximizer, Proposal, Request
from nnbo_mip.maximizers.base.catalogue import registry as maximizers
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.space.space import Space
from nnbo_mip.surrogates.base.abstract import Capability

POINTS = 401

SAME = 1e-9
"""How far a point may be from the one in the store, in model coordinates."""


@dataclass(frozen=True, eq=False)
class Seen:
    """One maximization: what was scored, and the point that was proposed."""

    target: Target
    proposal: Proposal


def repeated_beliefs(results: Results, unit: int, steps: int) -> list[BeliefLine]:
    """Return what the model of a unit believed at each of its first steps.

    Parameters
    ----------
    results : Results
    unit : int
        Finished, of one real variable, and not of a baseline.
    steps : int
        How many steps are taken again; a unit with fewer has all of its steps taken.

    Raises
    ------
    UnsupportedError
        If packages have other versions than then, or the same steps lead elsewhere.
    """
    made = Unit(**results.settings(unit))
    check_same(made.versions, versions_here(made.versions), "packages")
    problem = problem_of(made.problem, made.instance)
    task = task_of(made, problem)
    seen: list[Seen] = []
    options = made.method["options"]
    recording = _recorder(maximizers.create(options["maximizer"]), seen)
    watched = replace(made, method={"options": {**options, "maximizer": recording}})
    method = Modelled(watched, task)
    points = results.points(unit)
    values = results.observations["y"][results.observations["unit"] == unit]
    sign = 1.0 if task.direction == "maximize" else -1.0
    lines = []
    for number in range(min(made.n_starts + steps, len(points))):
        x, suggestion = method.ask()
        _check_same_point(problem.space, x, points[number], number)
        if suggestion is not None and seen:
            told = _batch(points[:number])
            line = _line(problem.space, seen[-1], suggestion, told)
            # Under a warp, or in a unit, the model saw other values than were told; dots lie on
            # its mean then.
            is_warped = options["warp"]["name"] != "none" or exponent_of_unit(values[:number])
            lines.append(line if is_warped else replace(line, observed_y=sign * values[:number]))
        method.tell(points[number], float(values[number]))
    return lines


def _recorder(inner: Maximizer, seen: list[Seen]) -> Maximizer:
    """Return a maximizer that does what another one does, and keeps what it saw."""

    class Recorder(Maximizer):
        name = inner.name
        abilities = inner.abilities
        time_limit = inner.time_limit

        def _maximize(self, target: Target, request: Request) -> Proposal:
            proposal = inner.maximize(target, request)
            seen.append(Seen(target, proposal))
            return proposal

    return Recorder()


def _check_same_point(space: Space, x: Any, stored: Any, number: int) -> None:
    here, there = space.encode(x), space.encode(stored)
    if np.abs(here - there).max() > SAME:
        raise UnsupportedError(
            f"a step that is repeated must lead to the same point; evaluation {number + 1} was at "
            f"{stored}, and is now at {x}; repeat it on the machine and with the time limit of the "
            "run."
        )


def _line(space: Space, seen: Seen, suggestion: Suggestion, told: Any) -> BeliefLine:
    model = np.linspace(seen.target.domain.lower[0], seen.target.domain.upper[0], POINTS)[:, None]
    belief = seen.target.scorer.belief
    if Capability.STD in belief.capabilities:
        mean, std = belief.predict(model, return_std=True)
    else:  # log-odds behind a ratio
        mean, std = belief.mean(model), np.zeros(POINTS)
    return BeliefLine(
        x=space.to_numeric(space.decode(model))[:, 0],
        mean=mean,
        std=std,
        score=seen.target.score(model),
        observed_x=space.to_numeric(told)[:, 0],
        observed_y=belief.mean(space.encode(told)),
        chosen=float(space.to_numeric(suggestion.x)[0, 0]),
        value=float(suggestion.value),
        bound=float(suggestion.bound),
        head=suggestion.head,
    )


def _batch(points: list[Any]) -> Any:
    return np.array(points) if isinstance(points[0], np.ndarray) else points
