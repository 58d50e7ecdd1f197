"""SMAC's facades as methods of `benchmarks.regret`: the shared starts are told before it asks."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
from ConfigSpace import Configuration, ConfigurationSpace, Float
from smac import BlackBoxFacade, HyperparameterOptimizationFacade, Scenario
from smac.runhistory.dataclasses import TrialInfo, TrialValue

from benchmarks.regret.unit import Task
from nnbo_mip.core.arrays import FloatArray

FACADES = {"blackbox": BlackBoxFacade, "hpo": HyperparameterOptimizationFacade}


class Facade:
    """A facade with its defaults that is asked and told.

    Parameters
    ----------
    task : Task
    facade : {"blackbox", "hpo"}
    """

    def __init__(self, task: Task, facade: str) -> None:
        made = FACADES[facade]
        ends = zip(task.lower.tolist(), task.upper.tolist(), strict=True)
        space = ConfigurationSpace(seed=task.seed)
        space.add([Float(f"x{i:03d}", side) for i, side in enumerate(ends)])
        self._folder = tempfile.TemporaryDirectory()
        scenario = Scenario(
            space,
            output_directory=self._folder.name,
            deterministic=True,
            n_trials=task.evaluations,
            seed=task.seed,
        )
        starts = [
            Configuration(space, values=dict(zip(space, x, strict=True))) for x in task.X.tolist()
        ]
        self._smac = made(
            scenario,
            target_function=None,
            initial_design=made.get_initial_design(
                scenario, n_configs=0, additional_configs=starts
            ),
            intensifier=made.get_intensifier(scenario, max_config_calls=1),
            logging_level=False,
            overwrite=True,
        )
        for config, y in zip(starts, task.y.tolist(), strict=True):
            self._smac.tell(TrialInfo(config, seed=0), TrialValue(cost=y), save=False)
        self._names = list(space)
        self._asked: TrialInfo | None = None

    def ask(self) -> tuple[FloatArray, dict[str, Any]]:
        """Return the next point."""
        asked = self._asked = self._smac.ask()
        return np.array([float(asked.config[name]) for name in self._names]), {}

    def tell(self, y: float) -> None:
        """Take the value."""
        assert self._asked is not None
        self._smac.tell(self._asked, TrialValue(cost=y), save=False)


def begin(task: Task, facade: str) -> Facade:
    """Start ``blackbox`` (a Gaussian process) or ``hpo`` (a random forest)."""
    return Facade(task, facade)
