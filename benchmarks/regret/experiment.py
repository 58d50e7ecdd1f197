"""From functions and methods to an experiment of the lab: the text of its file, and its plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from benchmarks.regret.problems import Case
from nnbo_mip.lab.plan.experiment import planned
from nnbo_mip.lab.plan.plan import Plan

Methods: TypeAlias = Mapping[str, Mapping[str, Any] | None]
"""Labels with the keys of their tables; None for a baseline of the lab."""

IMPORTS = ("benchmarks.regret.starts",)


def plan_of(
    name: str,
    cases: Sequence[Case],
    methods: Methods,
    seeds: Iterable[int],
    time_limit: float,
) -> Plan:
    """Return the units, seed after seed, so that a part of them is a fair part.

    Parameters
    ----------
    name : str
        Of the experiment.
    cases : sequence of Case
    methods : Methods
    seeds : iterable of int
    time_limit : float
        Wall seconds of an ask of ours.
    """
    return planned(text_of(name, cases, methods, seeds, time_limit), f"{name}.toml", name)


def text_of(
    name: str,
    cases: Sequence[Case],
    methods: Methods,
    seeds: Iterable[int],
    time_limit: float,
) -> str:
    """Return the file of the experiment; see `plan_of`."""
    problems = [
        {
            "spec": case.spec,
            "label": case.label,
            "starts": f"seeded_sobol:n={case.starts},seed={{instance}}",
            "steps": case.evaluations - case.starts,
        }
        for case in cases
    ]
    lines = [
        f"name = {toml(name)}",
        f"imports = {toml(list(IMPORTS))}",
        f"problems = {toml(problems)}",
        f"instances = {toml(list(seeds))}",
        f"baselines = {toml([label for label, keys in methods.items() if keys is None])}",
        f"[options]\ntime_limit = {time_limit}",
    ]
    for label, keys in methods.items():
        if keys is not None:
            table = {"label": label, **keys}
            lines += ["[[methods]]", *(f"{key} = {toml(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def toml(value: Any) -> str:
    """Return a value as a file has it."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {toml(one)}' for key, one in value.items())} }}"
    return json.dumps(value)
