"""From the file of an experiment to its plan; all that can be wrong is said before anything runs.

A file has the keys `KEYS`, with tables as `nnbo_mip.lab.plan.methods` takes them;
docs/guide/lab.md has an example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nnbo_mip.core.checks import check_choice, nearest
from nnbo_mip.core.errors import FileFormatError, InputError, UnsupportedError
from nnbo_mip.core.files import read_limited
from nnbo_mip.lab.plan.environment import digests_of, import_all, versions_of
from nnbo_mip.lab.plan.experiment_file import Section
from nnbo_mip.lab.plan.method import Method
from nnbo_mip.lab.plan.methods import methods_of
from nnbo_mip.lab.plan.metrics import METRICS
from nnbo_mip.lab.plan.plan import Plan, PlannedUnit
from nnbo_mip.lab.plan.tasks import Task, check_optima, tasks_of
from nnbo_mip.lab.plan.unit import Unit

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
    "reports",
    "told",
    "clock",
    "imports",
    "skip",
    "methods",
    "options",
)

CLOCKS = ("wall", "cpu")

MAX_BYTES = 4 << 20

MOST_UNITS = 100_000


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
        modules = digests_of(root.texts("imports"))
        import_all(modules)
    metrics = _metrics(root)
    instances = _instances(root)
    clock = root.text("clock", "wall")
    with root.located("clock"):
        check_choice("clock", clock, CLOCKS)
    tasks = tasks_of(root, instances[0])
    if "regret" in metrics:
        check_optima(root, tasks)
    methods = methods_of(root)
    if len(instances) * len(tasks) * len(methods) > MOST_UNITS:
        raise InputError(
            f"{root.where()}: an experiment must have at most {MOST_UNITS} runs; got "
            f"{len(instances)} instances of {len(methods)} methods on {len(tasks)} problems; "
            "split it."
        )
    contents, skipped = _contents(root, tasks, methods)
    versions = versions_of(made for method in methods for made in method.strategies)
    rests = {
        method.label: (
            versions | versions_of(packages=method.packages),
            modules | digests_of(method.modules),
        )
        for method in methods
    }
    units = [
        _unit(
            task,
            method,
            instance,
            contents[task.label, method.label],
            *rests[method.label],
            reports=_reports(root, task),
            clock=clock,
        )
        for instance in instances
        for task in tasks
        for method in methods
        if (task.label, method.label) in contents
    ]
    _check_distinct(root, units)
    title, description = root.text("name", name), root.text("description", "")
    return Plan(title, description, text, metrics, tuple(units), skipped)


def _unit(
    task: Task,
    method: Method,
    instance: int,
    content: Mapping[str, Any],
    versions: Mapping[str, str],
    modules: Mapping[str, str],
    reports: Sequence[int],
    clock: str,
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
        reports=reports,
        told=task.told,
        clock=clock,
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
        optimum=task.optimum(instance),
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
        return tuple(range(root.count("instances", 1, most=MOST_UNITS)))
    whole = all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in given)
    if not given or not whole or len(set(given)) != len(given):
        raise root.refuse(
            "instances", "a number of instances, or a list of distinct seeds", "write 10, say."
        )
    return tuple(given)


def _reports(root: Section, task: Task) -> tuple[int, ...]:
    """Return after which of a task's evaluations methods are asked for their point."""
    given = root.listed("reports")
    if not all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in given):
        raise root.refuse("reports", "a list of numbers of evaluations", "write reports = [20].")
    return tuple(sorted({one for one in given if one <= task.n_starts + task.steps}))


def _contents(
    root: Section, tasks: Sequence[Task], methods: Sequence[Method]
) -> tuple[dict[tuple[str, str], dict[str, Any]], tuple[str, ...]]:
    """Return the content of each pair that can work, and why others are left out.

    Without ``skip = true`` a pair that cannot work is refused, and with it the file.
    """
    skips = root.flag("skip", default=False)
    contents: dict[tuple[str, str], dict[str, Any]] = {}
    skipped: list[str] = []
    for task in tasks:
        for method in methods:
            try:
                contents[task.label, method.label] = _content(root, task, method)
            except UnsupportedError as error:
                if not skips:
                    raise UnsupportedError(
                        f"{error} Or write skip = true on top of the file, which leaves such "
                        "pairs out."
                    ) from error
                skipped.append(str(error))
    if not contents:
        raise UnsupportedError(
            f"{root.where()}: one pair of a problem and a method at least must work; none does: "
            f"{skipped[0]}"
        )
    return contents, tuple(skipped)


def _content(root: Section, task: Task, method: Method) -> dict[str, Any]:
    section = method.section or root
    also = f"{method.label!r} on {task.label!r}"
    with section.located(also=also):
        return method.content(task.problem, task.scaled, task.n_starts, task.steps)


def _check_distinct(root: Section, units: Sequence[PlannedUnit]) -> None:
    seen: dict[str, PlannedUnit] = {}
    for one in units:
        other = seen.setdefault(one.unit.key, one)
        if other is not one:
            raise InputError(
                f"{root.where()}: no run may be planned twice; {one.method!r} on {one.problem!r} "
                f"is {other.method!r} on {other.problem!r}, with every option the same; drop one."
            )
