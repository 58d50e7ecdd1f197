"""What a unit runs: a model of ours, a design, or a method that is not ours."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from nnbo_mip.lab.peers.base import MethodTask
from nnbo_mip.lab.plan.starts import design_for, shared_starts
from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.loop.designs.designs import design_of
from nnbo_mip.loop.record.serialization import limit_in
from nnbo_mip.loop.settings.settings import Purpose, seed_for
from nnbo_mip.loop.stopping.rule import NoStop
from nnbo_mip.problems.noise import GaussianNoise
from nnbo_mip.problems.problem import Direction, Problem
from nnbo_mip.space.space import Space

if TYPE_CHECKING:
    from nnbo_mip.loop.record.suggestion import Suggestion


class Method(Protocol):
    """What chooses points; x is the user's, an array or a dict."""

    def ask(self) -> tuple[Any, Suggestion | None]:
        """Return the next x, and what was proven of it where a model chose it."""

    def tell(self, x: Any, y: float) -> None:
        """Take the value, NaN for a failure, at the x that was asked last."""

    def report(self) -> Any | None:
        """Return the x that it takes to be the best; None for the one with the best value."""

    def stops(self) -> bool:
        """Return whether it has found enough, so that nothing more is evaluated."""


class Modelled:
    """`BayesianOptimizer`, which begins with the shared starts, or as `optimize` does without.

    Parameters
    ----------
    unit : Unit
    task : MethodTask
    """

    def __init__(self, unit: Unit, task: MethodTask) -> None:
        from nnbo_mip.loop.optimizer import BayesianOptimizer  # a baseline needs none of it
        from nnbo_mip.loop.settings.settings import Settings

        options = dict(unit.method["options"])
        # The image of an embedding does not hold the shared starts: it draws its own.
        self._draws = options["embedding"]["name"] != "none"
        self._starts, self._noise = task.starts, task.noise
        if unit.n_starts:
            drawn = self._draws
            options["initial"] = design_for(unit.starts, unit.instance) if drawn else task.starts
            options["steps"] = unit.steps
        settings = Settings.planned(
            task.space,
            **{**options, "time_limit": limit_in(options["time_limit"])},
            direction=task.direction,
            seed=unit.instance,
        )
        self._has_rule = not isinstance(settings.stop, NoStop)
        self._optimizer = BayesianOptimizer.of(settings)  # rehearsed when the unit was planned

    def ask(self) -> tuple[Any, Suggestion | None]:
        """Return a start, or the choice of the model."""
        asked = self._optimizer.ask()
        if asked.number >= len(self._starts):
            return asked.x, asked
        # Noise belongs to the bits of a point, which encoding and decoding may change.
        return asked.x if self._draws else self._starts[asked.number], None

    def tell(self, x: Any, y: float) -> None:
        """Take the value."""
        self._optimizer.tell(x, y, noise=self._noise)

    def report(self) -> Any | None:
        """Return what `optimize` would return."""
        return self._optimizer.run(_nothing, 1).x  # has one and makes no more

    def stops(self) -> bool:
        """Return what the stop rule says."""
        return self._has_rule and bool(self._optimizer.should_stop())


class Drawn:
    """Points of a design, after the shared starts; all over again where a space has no more.

    Parameters
    ----------
    unit : Unit
    space : Space
    starts : list
        The user's x.
    """

    def __init__(self, unit: Unit, space: Space, starts: Sequence[Any]) -> None:
        wanted = max(unit.n_starts + unit.steps - len(starts), 1)
        design = design_of({**unit.method["design"], "n": wanted})
        seed = seed_for(unit.instance, 0, Purpose.EXTRA)
        drawn = design.points(space, seed, space.encode(starts) if starts else None)
        self._points = itertools.cycle([*starts, *space.decode(drawn)])

    def ask(self) -> tuple[Any, Suggestion | None]:
        """Return the next point."""
        return next(self._points), None

    def tell(self, x: Any, y: float) -> None:
        """Learn nothing."""

    def report(self) -> None:
        """Leave it to the values."""

    def stops(self) -> bool:
        """Go on."""
        return False


def task_of(unit: Unit, problem: Problem) -> MethodTask:
    """Return what the unit's method is given."""
    starts: list[Any] = []
    if unit.n_starts:
        design = design_for(unit.starts, unit.instance)
        starts = list(problem.space.decode(shared_starts(design, problem.space, unit.instance)))
    noise = problem.noise.sd if unit.told and isinstance(problem.noise, GaussianNoise) else None
    direction: Direction = "maximize" if unit.scaled else problem.direction
    count = unit.n_starts + unit.steps
    return MethodTask(problem.space, direction, starts, count, unit.instance, noise)


def begun(unit: Unit, task: MethodTask) -> Method:
    """Return the unit's method, before it was asked anything."""
    if "design" in unit.method:
        return Drawn(unit, task.space, task.starts)
    if "entry" in unit.method or "peer" in unit.method:
        from nnbo_mip.lab.run.outside import Outside

        return Outside(task, unit.method)
    return Modelled(unit, task)


def _nothing(x: Any) -> float:
    """Refuse to evaluate: a run that has all its evaluations asks for none."""
    raise AssertionError(f"a finished run evaluates nothing; got {x!r}")
