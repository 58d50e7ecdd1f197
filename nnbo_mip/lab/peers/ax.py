"""Ax's client as it is without options: its own starts, its own model, its own best point.

The best point is the one that Ax names by the predictions of its model; until there is a model,
that with the best value.

References
----------
Bakshy et al. (2018), Ax [Bakshy2018].
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from nnbo_mip.lab.peers.base import MethodTask, Peer
from nnbo_mip.lab.peers.sides import Side, coded, decoded, sides_of
from nnbo_mip.space.constraints import LinearConstraint
from nnbo_mip.space.space import Space

METRIC = "y"


@dataclass(frozen=True)
class Ax(Peer):
    """The client with its defaults."""

    name: ClassVar[str] = "ax"
    packages: ClassVar[tuple[str, ...]] = ("ax-platform", "botorch", "gpytorch")

    def begin(self, task: MethodTask) -> Experiment:
        """Start it."""
        return Experiment(task)

    def refused(self, space: Space) -> str:
        """Return why it cannot search a space."""
        sides = dict(zip(space.dim_names, sides_of(space), strict=True))
        for row in space.constraints:
            if row.sense == "==":
                return "takes no equalities"
            for name in row.coefficients:
                side = None if isinstance(name, tuple) else sides[name]
                if side is None or side.kind == "choice" or side.log or side.grid is not None:
                    return "takes constraints of linear numbers without a step only"
        return ""


class Experiment:
    """A client that is asked and told.

    Parameters
    ----------
    task : MethodTask
    """

    def __init__(self, task: MethodTask) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Ax itself imports
            from ax.api.client import Client
            from ax.utils.common.logger import set_stderr_log_level

        set_stderr_log_level(logging.ERROR)
        self._task, self._sides = task, sides_of(task.space)
        self._names = [f"x{i}" for i in range(len(self._sides))]
        own = dict(zip(task.space.dim_names, self._names, strict=True))
        self._client = Client(random_seed=task.seed)
        self._client.configure_experiment(
            parameters=[
                _parameter(name, side) for name, side in zip(self._names, self._sides, strict=True)
            ],
            parameter_constraints=[_constraint(row, own) for row in task.space.constraints],
        )
        sign = "-" if task.direction == "minimize" else ""
        self._client.configure_optimization(objective=f"{sign}{METRIC}")
        self._asked: int | None = None
        self.message = ""

    def ask(self) -> Any:
        """Return the next point."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ((self._asked, values),) = self._client.get_next_trials(max_trials=1).items()
        return self._point(values)

    def tell(self, x: Any, y: float) -> None:
        """Take the value, with its deviation where that is told; NaN is a failed trial."""
        trial = self._asked
        if trial is None:
            values = dict(zip(self._names, coded(self._task.space, self._sides, x), strict=True))
            trial = self._client.attach_trial(parameters=values)
        if math.isnan(y):
            self._client.mark_trial_failed(trial)
            return
        noise = self._task.noise
        data: float | tuple[float, float] = y if noise is None else (y, noise)
        self._client.complete_trial(trial, raw_data={METRIC: data})

    def report(self) -> Any:
        """Return the point that the model takes to be the best of those that were tried."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values, *_ = self._client.get_best_parameterization()
        return self._point(values)

    def _point(self, values: Mapping[str, Any]) -> Any:
        """Return the user's point; a row that Ax keeps by its own tolerance is kept by ours."""
        space = self._task.space
        x = decoded(space, self._sides, [values[name] for name in self._names])
        raw = space.to_numeric(x)
        if not space.numeric().admissible(raw)[0]:
            repaired = space.numeric().repair(raw[0])
            return x if repaired is None else space.from_numeric(repaired)
        return x


def _parameter(name: str, side: Side) -> Any:
    from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

    if side.kind == "choice":
        return ChoiceParameterConfig(
            name=name, parameter_type="int", values=list(range(len(side.values))), is_ordered=False
        )
    return RangeParameterConfig(
        name=name,
        parameter_type="int" if side.kind == "integer" else "float",
        bounds=(side.lower, side.upper),
        scaling="log" if side.log else "linear",
    )


def _constraint(row: LinearConstraint, own: Mapping[str, str]) -> str:
    """Return a row as Ax writes it."""
    terms = " + ".join(f"{value!r}*{own[str(name)]}" for name, value in row.coefficients.items())
    return f"{terms} {row.sense} {row.bound!r}"
