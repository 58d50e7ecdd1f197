"""What an optimizer says of when to stop; `BayesianOptimizer` derives from it."""

from __future__ import annotations

import time
from dataclasses import replace

from nnbo_mip.acquisitions.base.catalogue import registry as acquisitions
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.loop.judging.standing import RunStanding
from nnbo_mip.loop.record.events import stopped
from nnbo_mip.loop.record.ledger import Ledger
from nnbo_mip.loop.record.state import State
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.step.ask_policy import AskPolicy
from nnbo_mip.loop.stopping.bounds import RegretBound
from nnbo_mip.loop.stopping.certified import Regret
from nnbo_mip.loop.stopping.counted import Time
from nnbo_mip.loop.stopping.rule import Verdict


class Stoppable:
    """A run that a stop rule may end."""

    _settings: Settings
    _asking: AskPolicy
    _ledger: Ledger
    _step: tuple[str, int] | None
    """Key of what was asked last with nothing else pending, and how much was told then."""
    _judged: tuple[object, Verdict] | None
    """The last verdict, and when it was."""
    _since: tuple[float, float] | None
    """Seconds of all work before, and when that of this process began."""

    def should_stop(self) -> Verdict:
        """Return whether the run's stop rule says that it has found enough, and why.

        The verdict is true where it does, and the journal then keeps it. Between two tells it is
        computed once.

        Examples
        --------
        >>> import nnbo_mip as nm
        >>> bo = nm.BayesianOptimizer([(-1.0, 2.0)], initial=4, stop="target:value=0.1")
        >>> for x in ([0.1], [0.3]):
        ...     bo.tell(x, (x[0] - 0.3) ** 2)
        >>> print(bo.should_stop())
        stop: the best value is 0, the target 0.1.
        """
        return self.judge(asks_next=False)

    def judge(self, asks_next: bool) -> Verdict:
        """Return the verdict; this is what `run` asks with.

        Parameters
        ----------
        asks_next : bool
            Whether a step is asked next, of which a bound may be read that is then not searched.
        """
        self._ledger.notice()
        state, rule = self._ledger.state, self._settings.stop
        described = self._settings.descriptions["stop"]
        told = len(state.observations)
        kept = state.stop
        if kept is not None and kept["told"] == told and kept["rule"] == described is not None:
            return Verdict.from_dict(kept["verdict"])
        standing = replace(self._standing(state), asks_next=asks_next)
        moment = (told, None if standing.step is None else standing.step.key, asks_next)
        counts = any(isinstance(part, Time) for part in rule.parts)
        if self._judged is not None and self._judged[0] == moment and not counts:
            return self._judged[1]
        verdict = rule.verdict(standing)
        self._judged = moment, verdict
        if verdict:
            self._ledger.add([stopped(verdict.to_dict(), described, told)])
        return verdict

    def regret_bound(
        self, delta: float = 0.1, nu: float = 0.2, calibrate: bool = True
    ) -> RegretBound:
        """Return between what the optimum lies, where the function is within the model's band.

        Parameters
        ----------
        delta, nu, calibrate
            As those of the stop rule ``regret``: the width of the band.

        Returns
        -------
        RegretBound
            It unpacks into its `lower` and `upper` end. Nothing is evaluated for it.
        """
        rule = Regret(1.0, delta, nu, calibrate)  # says what is wrong
        needed = acquisitions.create(rule.acquisition).needs
        if not needed <= self._settings.surrogate.capabilities:
            raise UnsupportedError(
                f"a regret bound needs a belief that offers {', '.join(sorted(needed))}; that of "
                f"{self._settings.surrogate.name} does not; take 'gp', 'nomu' or 'brvfl'."
            )
        standing = replace(self._standing(self._ledger.state), is_begun=True)
        found = standing.regret_bound(delta, nu, calibrate)
        if found is None:
            raise InputError(
                "a regret bound needs a value that a model can learn from; got none yet; tell one."
            )
        return found

    @property
    def stopped(self) -> Verdict | None:
        """Why a stop rule ended the run; None where none did, or something was told since."""
        kept = self._ledger.state.stop
        if kept is None or kept["told"] != len(self._ledger.state.observations):
            return None
        return Verdict.from_dict(kept["verdict"])

    def _standing(self, state: State) -> RunStanding:
        """Return how the run stands, for rules."""
        step = None
        if self._step is not None and state.pending == (self._step[0],):
            asked = state.suggestions[self._step[0]]
            is_fresh = self._step[1] == len(state.observations)
            step = asked if is_fresh and not asked.is_initial else None
        before, began = self._began_here()
        return RunStanding(
            settings=self._settings,
            observations=state.observations,
            best=state.best(self._settings.sign),
            step=step,
            seconds=before + time.time() - began,
            is_begun=self._asking.is_begun(state),
        )

    def _began_here(self) -> tuple[float, float]:
        """Return the seconds of all work before, and when that of this process began."""
        if self._since is None:
            self._since = self._ledger.seconds, time.time()
        return self._since
