"""From the file of an experiment to its plan; all that can be wrong is said before anything runs.

A file has the keys `KEYS`, with tables as `nnbo_mip.lab.methods` takes them; docs/lab.md has an
example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nnbo_mip.errors import FileFormatError, InputError
from nnbo_mip.lab.curves import METRICS
from nnbo_mip.lab.environment import imported, versions_of
from nnbo_mip.lab.experiment_file import Section
from nnbo_mip.lab.methods import Method, methods_of, text_of
from nnbo_mip.lab.nearest import nearest
from nnbo_mip.lab.plan import Plan, PlannedUnit
from nnbo_mip.lab.unit import Unit
from nnbo_mip.lab.unit_run import problem_of, shared_starts
from nnbo_mip.loop.designs import design_of
from nnbo_mip.loop.plain import described
from nnbo_mip.loop.settings import DOORS
from nnbo_mip.network.files import read_limited
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.scaled import ScaledProblem

KEYS = (
    "name",
    "description",
    "problems",
    "instances",
    "starts",
    "steps",
    "scaled",
    "baselines",
    "metrics",
    "imports",
    "methods",
    "options",
)

PROBLEM_KEYS = ("spec", "label", "starts", "steps", "scaled")
"""Of an entry of ``problems`` that says more than which problem it is."""

MAX_BYTES = 4 << 20


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


def read_experiment(path: Path) -> Plan:
    """Return the plan of a file; see the module."""
    data = read_limited(path, MAX_BYTES, "the experiment", "split it")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path.name} must be a text in UTF-8; it is not ({error}); save it so."
        ) from error
    return planned(text, path.name, path.stem)


def planned(text: str, file: str, name: str) -> Plan:
    """Return the plan of a text.

    Parameters
    ----------
    text : str
    file : str
        How errors call it.
    name : str
        Of the experiment, where the text names none.
    """
    root = Section.of_text(text, file)
    root.check_keys(KEYS)
    with root.located("imports"):
        modules = imported(root.texts("imports"))
    metrics = _metrics(root)
    instances = _instances(root)
    tasks = _tasks(root, instances[0])
    if "regret" in metrics:
        _check_optima(root, tasks)
    methods = methods_of(root)
    contents = {
        (task.label, method.label): _content(root, task, method)
        for task in tasks
        for method in methods
    }
    versions = versions_of(
        DOORS[key](value)
        for method in methods
        for key, value in method.chosen.items()
        if key in DOORS
    )
    units = [
        _unit(task, method, instance, contents[task.label, method.label], versions, modules)
        for instance in instances
        for task in tasks
        for method in methods
    ]
    _check_distinct(root, units)
    return Plan(root.text("name", name), root.text("description", ""), text, metrics, tuple(units))


def _unit(
    task: Task,
    method: Method,
    instance: int,
    content: Mapping[str, Any],
    versions: Mapping[str, str],
    modules: Mapping[str, str],
) -> PlannedUnit:
    unit = Unit(
        problem=task.spec,
        scaled=task.scaled,
        starts=task.starts,
        n_starts=task.n_starts,
        steps=task.steps,
        instance=instance,
        method=content,
        versions=versions,
        imports=modules,
    )
    surrogate, acquisition, maximizer = method.axes
    return PlannedUnit(
        unit=unit,
        problem=task.label,
        method=method.label,
        surrogate=surrogate,
        acquisition=acquisition,
        maximizer=maximizer,
        budget=method.chosen.get("budget"),
        variant=method.variant,
        dimension=task.problem.dimension,
        direction=task.direction,
        optimum=task.optimum,
    )


# -- parts of the file ----------------------------------------------------------------------


def _metrics(root: Section) -> tuple[str, ...]:
    metrics = root.texts("metrics", ("regret",))
    for metric in metrics:
        if metric not in METRICS:
            raise InputError(
                f"{root.where('metrics', value=metric)}: a metric must be one of "
                f"{', '.join(METRICS)}; got {metric!r}; "
                f"{nearest(metric, METRICS) or 'choose of these.'}"
            )
    return metrics


def _instances(root: Section) -> tuple[int, ...]:
    """Return seeds: the first n, or those that are listed."""
    given = root.get("instances")
    if not isinstance(given, list):
        return tuple(range(root.count("instances", 1)))
    whole = all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in given)
    if not given or not whole or len(set(given)) != len(given):
        raise root.refuse(
            "instances", "a number of instances, or a list of distinct seeds", "write 10, say."
        )
    return tuple(given)


def _tasks(root: Section, instance: int) -> tuple[Task, ...]:
    entries = root.listed("problems")
    if not entries:
        raise root.refuse("problems", "a list of problems", 'write problems = ["branin"], say.')
    tasks: list[Task] = []
    for place, entry in enumerate(entries):
        with root.located("problems", place, value=entry):
            tasks.append(_task(root, entry, instance))
            if tasks[-1].label in [task.label for task in tasks[:-1]]:
                raise InputError(
                    f"labels of problems must be distinct; got {tasks[-1].label!r} twice; give "
                    'one another label: { spec = "…", label = "…" }.'
                )
    return tuple(tasks)


def _task(root: Section, entry: Any, instance: int) -> Task:
    own: Mapping[str, Any] = {}
    if isinstance(entry, Mapping) and "spec" in entry:
        own = entry
        unknown = [key for key in own if key not in PROBLEM_KEYS]
        if unknown:
            raise InputError(
                f"the keys beside spec are {', '.join(PROBLEM_KEYS[1:])}; got {unknown[0]!r}; "
                f"{nearest(unknown[0], PROBLEM_KEYS) or 'write options into the spec.'}"
            )
    section = root.with_content({**root.content, **own})
    spec = own.get("spec", entry)
    problem = problem_of(spec, instance)
    scaled = section.flag("scaled", default=False)
    if scaled:
        ScaledProblem(problem)  # says what it lacks
    with section.located("starts"):
        given = section.get("starts")
        design = design_of(given)
        n_starts = len(shared_starts(design, problem.space, instance))
        if not n_starts:
            raise InputError("there must be a start; got none; write starts = 8, say.")
        starts = described(design, given, design_of)
    return Task(
        label=own.get("label", text_of(spec)),
        spec=spec,
        problem=problem,
        scaled=scaled,
        starts=starts,
        n_starts=n_starts,
        steps=section.count("steps"),
    )


def _content(root: Section, task: Task, method: Method) -> dict[str, Any]:
    section = method.section or root
    also = f"{method.label!r} on {task.label!r}"
    with section.located(also=also):
        return method.content(task.problem, task.scaled, task.steps)


def _check_optima(root: Section, tasks: Sequence[Task]) -> None:
    for place, task in enumerate(tasks):
        if task.optimum is None:
            raise InputError(
                f"{root.where('problems', place, value=task.spec)}: a regret needs an optimum; "
                f'that of {task.label!r} is not known; write metrics = ["best"], or put this '
                "problem into another experiment."
            )


def _check_distinct(root: Section, units: Sequence[PlannedUnit]) -> None:
    seen: dict[str, PlannedUnit] = {}
    for one in units:
        other = seen.setdefault(one.unit.key, one)
        if other is not one:
            raise InputError(
                f"{root.where()}: no run may be planned twice; {one.method!r} on {one.problem!r} "
                f"is {other.method!r} on {other.problem!r}, with every option the same; drop one."
            )
