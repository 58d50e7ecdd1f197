"""The methods of an experiment: products of the lists in its tables, each with a label.

A key of ``[methods]`` is an option of `BayesianOptimizer`, with a value or a list of values; a
table stands for all combinations. ``budget`` is short for the scaling to a mean width. A table
with ``entry`` or ``peer`` is of a method that is not ours (`nnbo_mip.lab.plan.outside`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from nnbo_mip.core.errors import InputError
from nnbo_mip.lab.plan.experiment_file import Section
from nnbo_mip.lab.plan.method import AXES, Method
from nnbo_mip.lab.plan.outside import is_outside, outside_methods
from nnbo_mip.loop.optimize import begun
from nnbo_mip.loop.record.serialization import limit_out
from nnbo_mip.loop.settings.settings import DOORS, Settings
from nnbo_mip.loop.step.rehearsal import rehearse
from nnbo_mip.loop.stopping.rule import NoStop
from nnbo_mip.problems.problem import Direction, Problem

MOST_METHODS = 500

NUMBERS = ("gap", "time_limit", "most_fitted")

OPTIONS = (*DOORS, *NUMBERS)
"""Keys that are options of `BayesianOptimizer`; ``initial`` only where ``starts`` is 0."""

KEYS = ("label", "budget", *OPTIONS)

BASELINES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"random": MappingProxyType({"name": "uniform"}), "sobol": MappingProxyType({"name": "sobol"})}
)
"""Designs whose points no model chooses."""


@dataclass(frozen=True)
class Ours(Method):
    """Options of `BayesianOptimizer`."""

    @property
    def axes(self) -> tuple[str, str, str]:
        """Surrogate, acquisition and maximizer."""
        return self.text("surrogate"), self.text("acquisition"), self.text("maximizer")

    @property
    def strategies(self) -> list[object]:
        """What was chosen by name, made."""
        return [DOORS[key](value) for key, value in self.chosen.items() if key in DOORS]

    def content(self, problem: Problem, scaled: bool, n_starts: int, steps: int) -> dict[str, Any]:
        """Return all options with their values; refuse what `BayesianOptimizer` refuses."""
        direction: Direction = "maximize" if scaled else problem.direction
        options = {key: value for key, value in self.chosen.items() if key != "budget"}
        if "budget" in self.chosen:
            unit = {"unit": 1.0} if scaled else {}
            options["scaling"] = {"name": "mean_width", "budget": self.chosen["budget"], **unit}
        if n_starts and "initial" in options:
            raise InputError(
                f"initial points are a method's own where starts is 0; got initial and {n_starts} "
                "shared starts; drop initial, or write starts = 0."
            )
        if n_starts:
            settings = Settings.planned(problem.space, **options, direction=direction, steps=steps)
            rehearse(settings)
            own: dict[str, Any] = {}
        else:
            settings = begun(problem.space, steps, **options, direction=direction).settings
            own = {"initial": settings.descriptions["initial"], "steps": settings.steps}
        described = {name: settings.descriptions[name] for name in DOORS if name != "initial"}
        if isinstance(settings.stop, NoStop):
            del described["stop"]  # so that units that were planned before keep their keys
        numbers = {name: limit_out(getattr(settings, name)) for name in NUMBERS}
        return {"options": {**described, **numbers, "most_fitted": settings.most_fitted, **own}}


@dataclass(frozen=True)
class Baseline(Method):
    """Points that no model chooses."""

    def content(self, problem: Problem, scaled: bool, n_starts: int, steps: int) -> dict[str, Any]:
        """Return the design."""
        return {"design": dict(BASELINES[self.label])}


def methods_of(root: Section) -> tuple[Method, ...]:
    """Return what the tables ``[[methods]]``, ``[options]`` and the list ``baselines`` ask for."""
    shared = _shared(root)
    ours: list[Ours] = []
    others: list[Method] = []
    for section in root.sections("methods"):
        if is_outside(section):
            others += outside_methods(section)
        else:
            ours += _product(section, shared)
    made: list[Method] = [*_labelled(ours), *others]
    made += [Baseline(name, {}, None) for name in _baselines(root)]
    if not made:
        raise InputError(
            f"{root.where()}: an experiment must have a method or a baseline; got none; begin a "
            'table [methods], and write surrogate = "nomu", say.'
        )
    repeated = [one for one in made if [other.label for other in made].count(one.label) > 1]
    if repeated:
        place = root.where("baselines") if repeated[0].section is None else _place(repeated[0])
        raise InputError(
            f"{place}: labels of methods must be distinct; got {repeated[0].label!r} twice; change "
            "a label, or drop what is there twice."
        )
    return tuple(made)


def _shared(root: Section) -> Mapping[str, Any]:
    """Return what ``[options]`` says of all methods."""
    sections = root.sections("options")
    if len(sections) > 1:
        raise root.refuse("options", "one table", "write the methods as [[methods]] instead.")
    for section in sections:
        section.check_keys(OPTIONS)
        for key, value in section.content.items():
            _check(section, key, value)
    return sections[0].content if sections else {}


def _product(section: Section, shared: Mapping[str, Any]) -> list[Ours]:
    """Return the combinations of a table; what it says itself counts before what all share."""
    section.check_keys(KEYS)
    label = section.text("label", "")
    if "budget" in section and "scaling" in section:
        raise section.refuse("budget", "the only scaling", "drop it, or scaling.")
    lists: dict[str, Sequence[Any]] = {}
    for key in (*AXES, *(key for key in section.content if key not in ("label", *AXES))):
        if key in section:
            lists[key] = section.listed(key)
            if not lists[key]:
                raise section.refuse(key, "a value, or a list of values", "name one at least.")
            for value in lists[key]:
                _check(section, key, value)
    rest = {
        key: [value]
        for key, value in shared.items()
        if key not in lists and not (key == "scaling" and "budget" in lists)
    }
    lists = {**{key: lists[key] for key in AXES if key in lists}, **rest, **lists}
    count = math.prod(len(values) for values in lists.values())
    if count > MOST_METHODS:
        raise InputError(
            f"{section.where()}: a table of methods stands for at most {MOST_METHODS} of them; got "
            f"{count} combinations; split it."
        )
    return [
        Ours(label, dict(zip(lists, values, strict=True)), section)
        for values in itertools.product(*lists.values())
    ]


def _check(section: Section, key: str, value: Any) -> None:
    """Refuse a value that no problem can make right."""
    with section.located(key, value=value):
        if key in DOORS:
            DOORS[key](value)
        elif key == "budget":
            DOORS["scaling"]({"name": "mean_width", "budget": value})
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"it must be a number; got {value!r:.60}; write {key} = 10, say.")


def _labelled(made: Sequence[Ours]) -> list[Ours]:
    """Return methods called by what distinguishes them."""
    return [_named(one, [other for other in made if other.label == one.label]) for one in made]


def _named(one: Ours, among: Sequence[Ours]) -> Ours:
    """Return a method with its own label, followed by what varies among those that share it."""
    keys = dict.fromkeys(key for other in among for key in other.chosen)
    varying = [key for key in keys if len({other.text(key) for other in among}) > 1]
    if not varying and not one.label:
        varying = ["surrogate"]
    parts = [one.label] if one.label else []
    parts += [one.text(key) if key in AXES[:3] else f"{key} {one.text(key)}" for key in varying]
    return replace(one, label=", ".join(parts))


def _baselines(root: Section) -> tuple[str, ...]:
    names = root.texts("baselines")
    for name in names:
        if name not in BASELINES:
            raise InputError(
                f"{root.where('baselines', value=name)}: a baseline must be one of "
                f"{', '.join(BASELINES)}; got {name!r}; choose of these."
            )
    return names


def _place(method: Method) -> str:
    return "" if method.section is None else method.section.where()
