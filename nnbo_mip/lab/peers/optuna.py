"""Optuna's samplers: the shared starts are trials of the past; without, a sampler draws its own.

References
----------
Akiba et al. (2019), Optuna [Akiba2019].
Watanabe (2023), its tree-structured Parzen estimator [Watanabe2023].
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from nnbo_mip.core.checks import check_choice, check_flag
from nnbo_mip.lab.peers.base import MethodTask, Peer
from nnbo_mip.lab.peers.guarded import Reporting, guarded
from nnbo_mip.lab.peers.sides import Side, coded, decoded, sides_of
from nnbo_mip.space.space import Space

if TYPE_CHECKING:
    import optuna

SAMPLERS = ("tpe", "gp")


@dataclass(frozen=True)
class Optuna(Peer):
    """Optuna with a sampler's defaults.

    Parameters
    ----------
    sampler : {"tpe", "gp"}
    exact : bool
        Whether `gp` is told that values are exact, which it does not suppose by itself.
    """

    name: ClassVar[str] = "optuna"
    packages: ClassVar[tuple[str, ...]] = ("optuna", "greenlet")

    sampler: str = "tpe"
    exact: bool = True

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_choice("sampler", self.sampler, SAMPLERS)
        check_flag("exact", self.exact)

    def refused(self, space: Space) -> str:
        """Return why it cannot search a space: there is no reason."""
        return ""

    def begin(self, task: MethodTask) -> Reporting:
        """Start it."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        if self.sampler == "tpe":
            return guarded(Study(task, optuna.samplers.TPESampler(seed=task.seed)), task)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.GPSampler(seed=task.seed, deterministic_objective=self.exact)
        return guarded(Study(task, sampler), task)


class Study:
    """A study that is asked and told.

    Parameters
    ----------
    task : MethodTask
    sampler : optuna.samplers.BaseSampler
    """

    def __init__(self, task: MethodTask, sampler: optuna.samplers.BaseSampler) -> None:
        import optuna

        self._task, self._sides = task, sides_of(task.space)
        self._distributions = {f"x{i}": _distribution(side) for i, side in enumerate(self._sides)}
        self._study = optuna.create_study(sampler=sampler, direction=task.direction)
        self._asked: optuna.Trial | None = None
        self.message = ""

    def ask(self) -> Any:
        """Return the next point."""
        self._asked = self._study.ask(self._distributions)
        values = [self._asked.params[name] for name in self._distributions]
        return decoded(self._task.space, self._sides, values)

    def tell(self, x: Any, y: float) -> None:
        """Take the value; NaN is a failed trial."""
        import optuna

        state = optuna.trial.TrialState.FAIL if y != y else optuna.trial.TrialState.COMPLETE
        value = None if y != y else y
        if self._asked is not None:
            self._study.tell(self._asked, value, state)
            return
        values = coded(self._task.space, self._sides, x)
        self._study.add_trial(
            optuna.trial.create_trial(
                params=dict(zip(self._distributions, values, strict=True)),
                distributions=self._distributions,
                value=value,
                state=state,
            )
        )

    def report(self) -> Any | None:
        """Return the point of the best trial; None before the first value."""
        import optuna

        if not self._study.get_trials(states=(optuna.trial.TrialState.COMPLETE,)):
            return None
        values = [self._study.best_trial.params[name] for name in self._distributions]
        return decoded(self._task.space, self._sides, values)


def _distribution(side: Side) -> optuna.distributions.BaseDistribution:
    from optuna import distributions

    if side.kind == "choice":
        return distributions.CategoricalDistribution(range(len(side.values)))
    if side.kind == "integer":
        return distributions.IntDistribution(int(side.lower), int(side.upper), log=side.log)
    return distributions.FloatDistribution(side.lower, side.upper, log=side.log)
