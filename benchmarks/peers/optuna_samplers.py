"""Optuna's samplers as methods of `benchmarks.regret`: the shared starts are trials of the past."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import optuna

from benchmarks.regret.unit import Task
from nnbo_mip.core.arrays import FloatArray


class Sampler:
    """A study that is asked and told.

    Parameters
    ----------
    task : Task
    sampler : optuna.samplers.BaseSampler
    """

    def __init__(self, task: Task, sampler: optuna.samplers.BaseSampler) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        ends = zip(task.lower.tolist(), task.upper.tolist(), strict=True)
        self._sides: dict[str, optuna.distributions.BaseDistribution] = {
            f"x{i}": optuna.distributions.FloatDistribution(*side) for i, side in enumerate(ends)
        }
        self._study = optuna.create_study(sampler=sampler)
        for x, y in zip(task.X.tolist(), task.y.tolist(), strict=True):
            params = dict(zip(self._sides, x, strict=True))
            trial = optuna.trial.create_trial(params=params, distributions=self._sides, value=y)
            self._study.add_trial(trial)
        self._asked: optuna.Trial | None = None

    def ask(self) -> tuple[FloatArray, dict[str, Any]]:
        """Return the next point."""
        asked = self._asked = self._study.ask(self._sides)
        return np.array([asked.params[name] for name in self._sides]), {}

    def tell(self, y: float) -> None:
        """Take the value."""
        assert self._asked is not None
        self._study.tell(self._asked, y)


def begin(task: Task, sampler: str) -> Sampler:
    """Start ``tpe`` or ``gp``, with their defaults; the second knows that values are exact."""
    if sampler == "tpe":
        return Sampler(task, optuna.samplers.TPESampler(seed=task.seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        made = optuna.samplers.GPSampler(seed=task.seed, deterministic_objective=True)
    return Sampler(task, made)
