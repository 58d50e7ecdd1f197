"""The names of methods, and the engines they stand for; imported when they are used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from nnbo_mip.exact.monitor import Monitor
from nnbo_mip.exact.problem import Problem
from nnbo_mip.exact.result import EngineResult


@dataclass(frozen=True)
class Choices:
    """What a user chose beside the method; an engine takes what concerns it.

    Parameters
    ----------
    solver : str
        MILP solver.
    formulation : str
        How ReLUs become rows and columns of a MILP.
    seed : int
        Seed of random starts.
    """

    solver: str
    formulation: str
    seed: int


Method: TypeAlias = Callable[[Problem, Choices, Monitor], EngineResult]


def _auto(problem: Problem, choices: Choices, monitor: Monitor) -> EngineResult:
    from nnbo_mip.exact import auto

    options = auto.AutoOptions(solver=choices.solver, seed=choices.seed)
    return auto.solve(problem, options, monitor)


def _bab(problem: Problem, choices: Choices, monitor: Monitor) -> EngineResult:
    from nnbo_mip.exact import auto

    options = auto.AutoOptions(solver=choices.solver, seed=choices.seed)
    return auto.solve_bab(problem, options, monitor)


def _boxes(problem: Problem, choices: Choices, monitor: Monitor) -> EngineResult:
    from nnbo_mip.exact import boxes

    return boxes.solve(problem, boxes.BoxOptions(seed=choices.seed), monitor)


def _phases(problem: Problem, choices: Choices, monitor: Monitor) -> EngineResult:
    from nnbo_mip.exact import phases

    return phases.solve(problem, phases.PhaseOptions(seed=choices.seed), monitor)


def _mip(problem: Problem, choices: Choices, monitor: Monitor) -> EngineResult:
    from nnbo_mip.exact import mip

    options = mip.MipOptions(
        solver=choices.solver, formulation=choices.formulation, seed=choices.seed
    )
    return mip.solve(problem, options, monitor)


def _enumerate(problem: Problem, choices: Choices, monitor: Monitor) -> EngineResult:
    from nnbo_mip.exact import enumeration

    return enumeration.solve(problem, enumeration.EnumerateOptions(), monitor)


METHODS: dict[str, Method] = {
    "auto": _auto,
    "bab": _bab,
    "boxes": _boxes,
    "phases": _phases,
    "mip": _mip,
    "enumerate": _enumerate,
}


def rough(problem: Problem, choices: Choices, monitor: Monitor) -> EngineResult:
    """Return a value and a proven bound quickly, for when an engine broke down."""
    from nnbo_mip.exact import boxes

    options = boxes.BoxOptions(max_boxes=ROUGH_BOXES, seed=choices.seed)
    return boxes.solve(problem, options, monitor)


ROUGH_BOXES = 256
