"""SMAC's facades: shared starts are told before it asks; without, a facade draws its own.

Only where noise is told does SMAC hear that values are not exact; then it repeats its best points.

References
----------
Lindauer et al. (2022), SMAC3 [Lindauer2022].
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from nnbo_mip.core.checks import check_choice
from nnbo_mip.lab.peers.base import MethodTask, Peer
from nnbo_mip.lab.peers.guarded import Reporting, guarded
from nnbo_mip.lab.peers.sides import Side, coded, decoded, sides_of
from nnbo_mip.space.space import Space

if TYPE_CHECKING:
    from ConfigSpace import Configuration
    from smac.runhistory.dataclasses import TrialInfo

FACADES = {"blackbox": "BlackBoxFacade", "hpo": "HyperparameterOptimizationFacade"}

INITIAL_SHARE = 0.25
"""Of the trials that may be of the initial design, as SMAC has it."""

ROOM = 100
"""Trials for each evaluation where points may violate a constraint, which are trials, too."""


@dataclass(frozen=True)
class Smac(Peer):
    """A facade of SMAC with its defaults: a Gaussian process, or a random forest.

    Parameters
    ----------
    facade : {"blackbox", "hpo"}
    """

    name: ClassVar[str] = "smac"
    packages: ClassVar[tuple[str, ...]] = ("smac", "configspace", "scikit-learn")

    facade: str = "blackbox"

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_choice("facade", self.facade, tuple(FACADES))

    def begin(self, task: MethodTask) -> Reporting:
        """Start it."""
        return guarded(Facade(task, FACADES[self.facade]), task)

    def refused(self, space: Space) -> str:
        """Return why it cannot search a space: there is no reason."""
        return ""


class Facade:
    """A facade that is asked and told.

    Parameters
    ----------
    task : MethodTask
    facade : str
        Its name in the package.
    """

    def __init__(self, task: MethodTask, facade: str) -> None:
        import smac
        from ConfigSpace import ConfigurationSpace

        self._task, self._sides = task, sides_of(task.space)
        self._names = [f"x{i:03d}" for i in range(len(self._sides))]
        space = ConfigurationSpace(seed=task.seed)
        space.add(
            [_parameter(name, side) for name, side in zip(self._names, self._sides, strict=True)]
        )
        self._space = space
        folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        scenario = smac.Scenario(
            space,
            output_directory=Path(folder),
            deterministic=task.noise is None,
            n_trials=ROOM * task.evaluations if task.space.constraints else task.evaluations,
            seed=task.seed,
        )
        made = getattr(smac, facade)
        given: dict[str, Any] = {}
        if task.starts:
            starts = [self._configuration(x) for x in task.starts]
            given["initial_design"] = made.get_initial_design(
                scenario, n_configs=0, additional_configs=starts
            )
        elif task.space.constraints:  # as many as there are without
            share = INITIAL_SHARE / ROOM
            given["initial_design"] = made.get_initial_design(scenario, max_ratio=share)
        if task.noise is None:
            given["intensifier"] = made.get_intensifier(scenario, max_config_calls=1)
        self._smac = made(
            scenario, target_function=None, **given, logging_level=False, overwrite=True
        )
        self.message = ""
        self._asked: TrialInfo | None = None
        self._costs: list[float] = []

    def ask(self) -> Any:
        """Return the next point."""
        self._asked = self._smac.ask()
        values = [self._asked.config[name] for name in self._names]
        return decoded(self._task.space, self._sides, values)

    def tell(self, x: Any, y: float) -> None:
        """Take the value; a failure counts as the worst one known."""
        from smac.runhistory.dataclasses import TrialInfo, TrialValue

        cost = max(self._costs, default=0.0) if y != y else self._task.sign * y
        self._costs.append(cost)
        asked = self._asked or TrialInfo(self._configuration(x), seed=0)
        self._smac.tell(asked, TrialValue(cost=cost), save=False)

    def report(self) -> Any | None:
        """Return the incumbent; None before the first value."""
        best = self._smac.intensifier.get_incumbents()
        if not best:
            return None
        return decoded(self._task.space, self._sides, [best[0][name] for name in self._names])

    def _configuration(self, x: Any) -> Configuration:
        from ConfigSpace import Configuration

        values = coded(self._task.space, self._sides, x)
        return Configuration(self._space, values=dict(zip(self._names, values, strict=True)))


def _parameter(name: str, side: Side) -> Any:
    from ConfigSpace import Categorical, Float, Integer

    if side.kind == "choice":
        return Categorical(name, list(range(len(side.values))))
    ends = (side.lower, side.upper)
    make = Integer if side.kind == "integer" else Float
    return make(name, ends, log=side.log)
