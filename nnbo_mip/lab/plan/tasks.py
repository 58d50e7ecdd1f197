"""The problems of an experiment, each with its starts and its budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nnbo_mip.core.errors import InputError
from nnbo_mip.core.nearest import nearest
from nnbo_mip.lab.plan.experiment_file import Section
from nnbo_mip.lab.plan.method import text_of
from nnbo_mip.lab.plan.starts import PLACEHOLDER, design_for, problem_of, shared_starts
from nnbo_mip.loop.designs.designs import design_of
from nnbo_mip.loop.designs.designs import registry as designs
from nnbo_mip.loop.record.serialization import described
from nnbo_mip.problems.problem import Problem

PROBLEM_KEYS = ("spec", "label", "starts", "steps", "scaled")
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
        Description of the design.
    n_starts, steps : int
    """

    label: str
    spec: Any
    problem: Problem
    scaled: bool
    starts: Mapping[str, Any]
    n_starts: int
    steps: int

    @property
    def direction(self) -> str:
        """That of y."""
        return "maximize" if self.scaled else self.problem.direction

    @property
    def optimum(self) -> float | None:
        """The best value of y."""
        return 1.0 if self.scaled else self.problem.optimum


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
    said = {key: mine if key in own else root for key in ("starts", "steps", "scaled")}
    spec = own.get("spec", entry)
    problem = problem_of(spec, instance)
    scaled = said["scaled"].flag("scaled", default=False)
    if scaled:
        _check_scaled(problem)
    with said["starts"].located("starts"):
        given = said["starts"].get("starts")
        if PLACEHOLDER in str(given):
            name, options = designs.parsed(given)
            given = {"name": name, **options}
        design = design_for(given, instance)
        n_starts = len(shared_starts(design, problem.space, instance))
        if not n_starts:
            raise InputError("there must be a start; got none; write starts = 8, say.")
        # Starts of which each instance has others are kept as they were written.
        starts = given if PLACEHOLDER in str(given) else described(design, given, design_of)
    return Task(
        label=own.get("label", text_of(spec)),
        spec=spec,
        problem=problem,
        scaled=scaled,
        starts=starts,
        n_starts=n_starts,
        steps=said["steps"].count("steps"),
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
        if task.optimum is None:
            raise InputError(
                f"{root.where('problems', place, value=task.spec)}: a regret needs an optimum; "
                f'that of {task.label!r} is not known; write metrics = ["best"], or put this '
                "problem into another experiment."
            )
