"""From tasks and methods to the text of an experiment's file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.everyday.tasks import READINGS, Everyday
from benchmarks.regret.experiment import Methods, toml


def text_of(name: str, tasks: Sequence[Everyday], methods: Methods, seeds: Iterable[int]) -> str:
    """Return the file of the experiment.

    Every method has its own starts, and limits are of CPU time.

    Parameters
    ----------
    name : str
        Of the experiment.
    tasks : sequence of Everyday
    methods : Methods
    seeds : iterable of int
    """
    problems = [
        {
            "spec": task.spec,
            "label": task.label,
            "steps": task.evaluations,
            **({"told": True} if task.told else {}),
        }
        for task in tasks
    ]
    ends = {task.evaluations for task in tasks}
    lines = [
        f"name = {toml(name)}",
        f"problems = {toml(problems)}",
        f"instances = {toml(list(seeds))}",
        "starts = 0",
        f"reports = {toml(sorted({*READINGS, *ends}))}",
        'metrics = ["best"]',
        'clock = "cpu"',
        f"baselines = {toml([label for label, keys in methods.items() if keys is None])}",
    ]
    for label, keys in methods.items():
        if keys is not None:
            table = {"label": label, **keys}
            lines += ["[[methods]]", *(f"{key} = {toml(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"
