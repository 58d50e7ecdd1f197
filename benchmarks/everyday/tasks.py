"""The tasks, in groups, and the pilots: other functions and data of the same kinds.

A default is chosen by the pilots and judged by the tasks, which have none of them. The name of a
task never changes what it is: it is the label under which runs are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import nnbo_mip as nm
from nnbo_mip.lab.plan.starts import problem_of

EVALUATIONS = 80
READINGS = (12, 20, 40, 80)
"""Evaluations after which runs are read; starts are evaluations like all others."""

SHORT = 20
"""Total of the runs that ours makes once more, as its default may depend on it."""

FIRST_SEED = 1
"""A seed is an instance of BBOB, whose instances begin with 1."""

SHARES = (10, 30)
"""Standard deviations of noise in per cent of the spread."""


@dataclass(frozen=True)
class Everyday:
    """A task.

    Parameters
    ----------
    label : str
    group : str
    spec : str or mapping
        What `nnbo_mip.problems.create` takes; ``{instance}`` stands for the seed.
    evaluations : int
    is_loss : bool
        Whether the optimum is not known and the value itself is read, a loss >= 0.
    told : bool
        Whether the noise is told to those that can be told.
    whole : str
        Label of the task of which this is the short or the told form; empty where it is none.
    """

    label: str
    group: str
    spec: Any
    evaluations: int = EVALUATIONS
    is_loss: bool = False
    told: bool = False
    whole: str = ""

    @property
    def is_short(self) -> bool:
        """Whether it is the form of `SHORT` evaluations."""
        return bool(self.whole) and self.evaluations == SHORT

    @property
    def is_noisy(self) -> bool:
        """Whether values have noise, so that a point is judged by what its tool reports."""
        return self.group == "noise"

    @cached_property
    def problem(self) -> nm.problems.Problem:
        """The problem of the first seed."""
        return problem_of(self.spec, FIRST_SEED)

    def short(self) -> Everyday:
        """Return the form that ours alone runs, of `SHORT` evaluations in all."""
        label = f"{self.label}, total {SHORT}"
        return replace(self, label=label, evaluations=SHORT, whole=self.label)


SPREADS: Mapping[str, float] = MappingProxyType(
    {
        "branin": 159.0,
        "hartmann6": 1.065,
        "levy:dimension=5": 102.6,
        "ackley:dimension=5": 2.206,
        "camelback": 81.28,
        "hartmann3": 2.957,
        "griewank:dimension=5": 197.8,
        "styblinski_tang:dimension=5": 229.3,
    }
)
"""Between the 5 % and the 95 % quantile of the values at uniform points of the box."""


def noisy(spec: str, spread: float | None = None) -> list[Everyday]:
    """Return a function with little and with much noise, each told and not told.

    Its spread is that of `SPREADS` unless another is given.
    """
    made = []
    for share in SHARES:
        sd = round(0.01 * share * (SPREADS[spec] if spread is None else spread), 6)
        wrapped = {"name": "noisy", "problem": spec, "sd": sd}
        label = f"{_short(spec)}, noise {share} %"
        made.append(Everyday(label, "noise", wrapped))
        told = f"{label}, told"
        made.append(Everyday(told, "noise", wrapped, told=True, whole=label))
    return made


def tuning(name: str, data: str) -> Everyday:
    """Return a tuning task, whose folds and first weights are those of the seed."""
    spec = f"tuning_{name}:data={data},seed={{instance}}"
    return Everyday(f"{name}-{data}", "mixed", spec, is_loss=True)


def physics(spec: str) -> Everyday:
    """Return a smooth function with a known optimum."""
    return Everyday(_short(spec), "physics", spec)


def bbob(function: int, dimension: int) -> Everyday:
    """Return a BBOB function; a seed is an instance."""
    spec = f"bbob:function={function},dimension={dimension},instance={{instance}}"
    return Everyday(f"f{function} in {dimension}", "bbob", spec)


def _short(spec: str) -> str:
    return spec.replace(":dimension=", "")


SIX = (1, 6, 8, 10, 15, 21)
"""BBOB functions in 2 and in 10 dimensions too: one of each group, and the sphere."""

TASKS: tuple[Everyday, ...] = (
    *noisy("branin"),
    *noisy("hartmann6"),
    *noisy("levy:dimension=5"),
    *noisy("ackley:dimension=5"),
    tuning("mlp", "digits"),
    tuning("layers", "digits"),
    tuning("forest", "digits"),
    tuning("boosting", "breast_cancer"),
    tuning("boosting", "diabetes"),
    tuning("pipeline", "digits"),
    tuning("logistic", "breast_cancer"),
    tuning("neighbors", "digits"),
    tuning("elastic_net", "diabetes"),
    physics("borehole"),
    physics("otl_circuit"),
    physics("piston"),
    physics("wing_weight"),
    physics("robot_arm"),
    physics("cantilever"),
    *(bbob(function, 5) for function in range(1, 25)),
    *(bbob(function, dimension) for dimension in (2, 10) for function in SIX),
)

PILOTS: tuple[Everyday, ...] = (
    *noisy("camelback"),
    *noisy("hartmann3"),
    *noisy("griewank:dimension=5"),
    *noisy("styblinski_tang:dimension=5"),
    tuning("mlp", "diabetes"),
    tuning("layers", "wine"),
    tuning("forest", "breast_cancer"),
    tuning("boosting", "wine"),
    tuning("pipeline", "breast_cancer"),
    tuning("logistic", "wine"),
    tuning("neighbors", "wine"),
    tuning("svm", "breast_cancer"),
    physics("short_column"),
    physics("flood"),
    physics("rosenbrock:dimension=5"),
    physics("powell:dimension=8"),
    physics("michalewicz:dimension=5"),
    physics("perm:dimension=2"),
    physics("goldstein_price"),
    physics("g_function:dimension=5"),
)
"""Other functions and other data. BBOB has all of its functions among the tasks: the pilots have
classical functions in its place."""

QUICK = (
    "branin, noise 10 %",
    "branin, noise 10 %, told",
    "elastic_net-diabetes",
    "otl_circuit",
    "f1 in 5",
)
QUICK_PILOTS = (
    "camelback, noise 10 %",
    "camelback, noise 10 %, told",
    "logistic-wine",
    "short_column",
)
QUICK_EVALUATIONS = 12
"""What `--quick` runs: with one seed, and without the short runs."""


def with_short(tasks: Iterable[Everyday]) -> list[Everyday]:
    """Return tasks, each followed by its short form."""
    return [one for task in tasks for one in (task, task.short())]
