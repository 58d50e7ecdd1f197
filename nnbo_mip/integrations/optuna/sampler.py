"""`CertifiedSampler`: Optuna's next trial, with a proof that no other point scores higher.

References
----------
Akiba et al. (2019), Optuna [Akiba2019].
"""

from __future__ import annotations

import secrets
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from nnbo_mip.core.checks import as_gap, as_seed, as_time_limit, check_choice, check_count
from nnbo_mip.core.control import WorkClock, kept_by
from nnbo_mip.core.errors import InputError, ModelWarning
from nnbo_mip.integrations.optuna.attributes import keep
from nnbo_mip.integrations.optuna.past import Past, check_single_objective
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.step.ask_policy import AskPolicy

CLOCKS: Mapping[str, Callable[[], Callable[[], float]]] = MappingProxyType(
    {
        "work": WorkClock,
        "cpu": lambda: time.process_time,
        "wall": lambda: time.perf_counter,
    }
)
"""By what the time of a search is kept."""


class CertifiedSampler(BaseSampler):
    """A sampler whose every choice comes with a bound on what any other point could score.

    Status, value, bound and gap are user attributes of a trial: ``nnbo:status`` and so on.

    Parameters
    ----------
    surrogate, acquisition : str, dict or object, optional
        As in `nnbo_mip.BayesianOptimizer`; left out, what that takes.
    maximizer : str, dict or Maximizer
        ``bab`` proves without a solver, whose work cannot be counted; ``auto`` serves surrogates
        of which nothing can be proven, too.
    seed : int, optional
        The same seed gives the same trials, where they are run one after another; None draws one.
    n_startup_trials : int
        Completed trials before a model is asked.
    independent_sampler : BaseSampler, optional
        Of the first trials, and of parameters that not all trials have; left out, a random one.
    gap : float
        At which a proof may stop; see `nnbo_mip.maximize`.
    time_limit : float
        Of a search, in seconds of the clock.
    clock : {"work", "cpu", "wall"}
        ``work`` counts pieces of work, so that a busy machine changes no trial.
    warp, region : str, dict or object, optional
        As in `nnbo_mip.BayesianOptimizer`.

    Notes
    -----
    Infeasible trials count as failures. Trials of which no model chose the point have the status
    ``initial``.
    """

    def __init__(
        self,
        surrogate: object = None,
        acquisition: object = None,
        maximizer: object = "bab",
        *,
        seed: int | None = None,
        n_startup_trials: int = 10,
        independent_sampler: BaseSampler | None = None,
        gap: float = 1e-4,
        time_limit: float = 4.0,
        clock: str = "work",
        warp: object = "auto",
        region: object = "auto",
    ) -> None:
        if independent_sampler is not None and not isinstance(independent_sampler, BaseSampler):
            raise InputError(
                "independent_sampler must be a sampler of Optuna; got "
                f"{independent_sampler!r:.60}; pass one, or leave it out."
            )
        self._options = {
            "surrogate": surrogate,
            "acquisition": acquisition,
            "maximizer": maximizer,
            "warp": warp,
            "region": region,
            "gap": as_gap(gap),
            "time_limit": as_time_limit(time_limit),
        }
        check_choice("clock", clock, tuple(CLOCKS))
        self._clock = clock
        self._seed = secrets.randbits(31) if seed is None else as_seed(seed)
        self._n_startup_trials = check_count("n_startup_trials", n_startup_trials, least=0)
        own = RandomSampler(seed=None if seed is None else self._seed)
        self._independent = own if independent_sampler is None else independent_sampler
        self._space = IntersectionSearchSpace()
        self._warned: set[str] = set()
        Settings.planned([(0.0, 1.0)], **self._options)  # says what is wrong with the options

    def reseed_rng(self) -> None:
        """Draw another seed, as Optuna asks where several threads or processes sample."""
        self._seed = secrets.randbits(31)
        self._independent.reseed_rng()

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the parameters that all trials have, with the same bounds."""
        shared = self._space.calculate(study)
        return {name: given for name, given in shared.items() if not given.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the parameters that a model chooses; empty before there is one."""
        check_single_objective(study)
        if not search_space:
            return {}
        past = Past.of(study, search_space, apart=trial.number)
        if past.complete < self._n_startup_trials:
            return {}
        space = past.axes.space()
        settings = Settings.planned(
            space, **self._options, direction=past.direction, initial=1, seed=self._seed
        )
        with kept_by(CLOCKS[self._clock]()):
            event, _ = AskPolicy(settings).next(past.state(space))
        chosen = Suggestion.from_dict(event.content["suggestion"], trial.number, str(trial.number))
        params = past.axes.outward(chosen.x)
        notes = [SEEKS] if past.seeks_feasibility else []
        notes += [ROUNDED.format(name) for name in past.axes.rounded]
        keep(study, trial, params, chosen, event.content["stage"], " ".join(notes))
        return params

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Return what the independent sampler chooses."""
        check_single_objective(study)
        self._warn_of_changed(study, param_name, param_distribution)
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Pass it on to the independent sampler."""
        self._independent.before_trial(study, trial)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Pass it on to the independent sampler."""
        self._independent.after_trial(study, trial, state, values)

    def _warn_of_changed(self, study: Study, name: str, given: BaseDistribution) -> None:
        """Say once that a parameter has other bounds than before, so that no model chooses it."""
        if name in self._warned or given.single():
            return
        trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        others = (one.distributions.get(name, given) for one in reversed(trials))
        before = next((other for other in others if other != given), None)
        if before is not None:
            self._warned.add(name)
            warnings.warn(
                f"a parameter must keep its bounds to be chosen by a model; {name!r} was {before} "
                f"and is {given} now; it is sampled independently: keep the bounds, or begin a new "
                "study.",
                ModelWarning,
                stacklevel=4,
            )


SEEKS = (
    "no trial is feasible yet: the score is about the sum of violated constraints, which is "
    "minimized."
)

ROUNDED = "the score is that of a point before {!r} was rounded to an integer."
