"""`CertifiedTerminator`: a callback that stops a study by a rule of `nnbo_mip.stopping`."""

from __future__ import annotations

import datetime
from typing import Any

from optuna.search_space import intersection_search_space
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from nnbo_mip.core.checks import as_time_limit, check_choice, check_count
from nnbo_mip.core.control import kept_by
from nnbo_mip.integrations.optuna.attributes import LONGEST, PREFIX, in_pieces
from nnbo_mip.integrations.optuna.past import Past
from nnbo_mip.integrations.optuna.sampler import CLOCKS
from nnbo_mip.loop.judging.standing import RunStanding
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.stopping.rule import Verdict


class CertifiedTerminator:
    """Pass it as a callback: ``study.optimize(f, callbacks=[CertifiedTerminator(...)])``.

    The study's user attributes then say why it stopped: ``nnbo:stop``, with the number and its
    proof; the certificate is in its system attributes.

    Parameters
    ----------
    stop : str, dict, StopRule or a list of these
        Such as ``"regret:tolerance=0.01"``; ``ei``, ``target``, ``patience``, ``budget``, ``time``.
    n_startup_trials : int
        Completed trials before it says anything.
    surrogate : str, dict or Surrogate, optional
        What learns; left out, that of `nnbo_mip.BayesianOptimizer`. Any sampler may choose trials.
    seed : int
    time_limit : float
        Of a search, in seconds of the clock.
    clock : {"work", "cpu", "wall"}

    Attributes
    ----------
    verdict : Verdict or None
        What the rule said last.

    Notes
    -----
    A model learns of the parameters that all trials have. Trials count as evaluations whoever chose
    them, and none of them as chosen by a model unless `CertifiedSampler` did: ``patience`` counts
    its choices.
    """

    def __init__(
        self,
        stop: object,
        *,
        n_startup_trials: int = 10,
        surrogate: object = None,
        seed: int = 0,
        time_limit: float = 4.0,
        clock: str = "work",
    ) -> None:
        self._options = {
            "stop": stop,
            "surrogate": surrogate,
            "maximizer": "bab",
            "seed": seed,
            "time_limit": as_time_limit(time_limit),
        }
        check_choice("clock", clock, tuple(CLOCKS))
        self._clock = clock
        self._n_startup_trials = check_count("n_startup_trials", n_startup_trials, least=0)
        self.verdict: Verdict | None = None
        Settings.planned([(0.0, 1.0)], **self._options)  # says what is wrong with the options

    def __call__(self, study: Study, trial: FrozenTrial) -> None:
        """Stop the study where the rule says so."""
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        shared = intersection_search_space(complete)
        shared = {name: given for name, given in shared.items() if not given.single()}
        if not shared or len(complete) < self._n_startup_trials:
            return
        self.verdict = self._judged(study, shared)
        if self.verdict:
            self._keep(study, self.verdict)
            study.stop()

    def _judged(self, study: Study, shared: dict[str, Any]) -> Verdict | None:
        """Return what the rule says; None while no trial is feasible."""
        past = Past.of(study, shared)
        if past.seeks_feasibility:
            return None
        space = past.axes.space()
        settings = Settings.planned(space, **self._options, direction=past.direction, initial=1)
        state = past.state(space)
        began = min(one.datetime_start for one in past.trials)
        standing = RunStanding(
            settings=settings,
            observations=state.observations,
            best=state.best(settings.sign),
            step=None,
            seconds=(datetime.datetime.now() - began).total_seconds(),
        )
        with kept_by(CLOCKS[self._clock]()):
            return settings.stop.verdict(standing)

    @staticmethod
    def _keep(study: Study, verdict: Verdict) -> None:
        study.set_user_attr(f"{PREFIX}:stop", verdict.reason[:LONGEST])
        for name, text in in_pieces(f"{PREFIX}:stop_certificate", verdict.certificate).items():
            study._storage.set_study_system_attr(study._study_id, name, text)
