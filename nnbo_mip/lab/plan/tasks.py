"""The problems of an experiment, each with its starts and its budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nnbo_mip.core.checks import nearest
from nnbo_mip.core.errors import InputError
from nnbo_mip.lab.plan.experiment_file import Section
from nnbo_mip.lab.plan.method import text_of
from nnbo_mip.lab.plan.starts import PLACEHOLDER, design_for, problem_of, shared_starts
from nnbo_mip.lab.plan.unit import MOST_EVALUATIONS
from nnbo_mip.loop.designs.designs import design_of
from nnbo_mip.loop.designs.designs import registry as designs
from nnbo_mip.loop.record.serialization import described
from nnbo_mip.problems.noise import GaussianNoise
from nnbo_mip.problems.problem import Problem

PROBLEM_KEYS = ("spec", "label", "starts", "steps", "scaled", "told")
"""Of an entry of ``problems`` that says more than which problem it is."""


@dataclass(frozen=True)
class Task:
    """A problem with its budget.

    Parameters
    ----------
    label : str
    spec : str or mapping
        What `nnbo_mip.problems.create` takes, with a placeholder perhaps.
    problem : Problem
        That of the first instance.
    scaled : bool
    starts : mapping
        Description of the design; empty where each method begins by its own.
    n_starts, steps : int
    told : bool
        Whether methods are told the standard deviation of the noise.
    """

    label: str
    spec: Any
    problem: Problem
    scaled: bool
    starts: Mapping[str, Any]
    n_starts: int
    steps: int
    told: bool

    @property
    def direction(self) -> str:
        """That of y."""
        return "maximize" if self.scaled else self.problem.direction

    def optimum(self, instance: int) -> float | None:
        """Return the best value of y in an instance."""
        if self.scaled:
            return 1.0
        one = self.problem if PLACEHOLDER not in str(self.spec) else problem_of(self.spec, instance)
        return one.optimum


def tasks_of(root: Section, instance: int) -> tuple[Task, ...]:
    """Return what the list ``problems`` asks for, made for one of the instances."""
    entries = root.listed("problems")
    if not entries:
        raise root.refuse("problems", "a list of problems", 'write problems = ["branin"], say.')
    tasks: list[Task] = []
    for place, entry in enumerate(entries):
        with root.located("problems", place, value=_text_in_file(entry)):
            tasks.append(_task(root, place, entry, instance))
            if tasks[-1].label in [task.label for task in tasks[:-1]]:
                raise InputError(
                    f"labels of problems must be distinct; got {tasks[-1].label!r} twice; give "
                    'one another label: { spec = "…", label = "…" }.'
                )
    return tuple(tasks)


def _text_in_file(entry: Any) -> Any:
    """Return the text by which the line of an entry is found."""
    return entry.get("spec", entry.get("name")) if isinstance(entry, Mapping) else entry


def _task(root: Section, place: int, entry: Any, instance: int) -> Task:
    own: Mapping[str, Any] = {}
    if isinstance(entry, Mapping) and "spec" in entry:
        own = entry
        unknown = [key for key in own if key not in PROBLEM_KEYS]
        if unknown:
            raise InputError(
                f"the keys beside spec are {', '.join(PROBLEM_KEYS[1:])}; got {unknown[0]!r}; "
                f"{nearest(unknown[0], PROBLEM_KEYS) or 'write options into the spec.'}"
            )
    mine = root.within(own, "problems", place)
    said = {key: mine if key in own else root for key in PROBLEM_KEYS[2:]}
    spec = own.get("spec", entry)
    problem = problem_of(spec, instance)
    scaled = said["scaled"].flag("scaled", default=False)
    if scaled:
        _check_scaled(problem)
    told = said["told"].flag("told", default=False)
    if told:
        _check_told(problem, scaled)
    with said["starts"].located("starts"):
        starts, n_starts = _starts(said["starts"].get("starts"), problem, instance)
    return Task(
        label=mine.text("label", text_of(spec)),
        spec=spec,
        problem=problem,
        scaled=scaled,
        starts=starts,
        n_starts=n_starts,
        steps=said["steps"].count("steps", most=MOST_EVALUATIONS),
        told=told,
    )


def _starts(given: Any, problem: Problem, instance: int) -> tuple[Mapping[str, Any], int]:
    """Return the description of shared starts and how many there are; none for 0."""
    if given == 0 and isinstance(given, int) and not isinstance(given, bool):
        return {}, 0
    if PLACEHOLDER in str(given):
        name, options = designs.parsed(given)
        given = {"name": name, **options}
    design = design_for(given, instance)
    n_starts = len(shared_starts(design, problem.space, instance))
    if not n_starts:
        raise InputError(
            "a design of starts must have one at least; got none; write starts = 8, say, or 0 "
            "where each method begins by its own."
        )
    # Starts of which each instance has others are kept as they were written.
    starts = given if PLACEHOLDER in str(given) else described(design, given, design_of)
    return starts, n_starts


def _check_told(problem: Problem, scaled: bool) -> None:
    """Refuse to tell of noise that is not there, or not in units of y."""
    if not isinstance(problem.noise, GaussianNoise) or scaled:
        raise InputError(
            "told = true needs a problem with normal noise that is not scaled; "
            f"{problem.name!r} is another; drop the key for it."
        )


def _check_scaled(problem: Problem) -> None:
    """Refuse a problem whose values cannot be scaled."""
    if problem.optimum is None or problem.worst is None:
        raise InputError(
            "a scaled problem must have a known optimum and a known worst value; "
            f"{problem.name!r} lacks one; write scaled = false for it."
        )


def check_optima(root: Section, tasks: Sequence[Task]) -> None:
    """Refuse a problem whose optimum is not known."""
    for place, task in enumerate(tasks):
        if not task.scaled and task.problem.optimum is None:
            raise InputError(
                f"{root.where('problems', place, value=task.spec)}: a regret needs an optimum; "
                f'that of {task.label!r} is not known; write metrics = ["best"], or put this '
                "problem into another experiment."
            )
