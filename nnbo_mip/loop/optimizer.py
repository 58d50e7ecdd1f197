"""`BayesianOptimizer`: ask what to evaluate, tell what came out; nothing told is lost."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self, overload

import numpy.typing as npt

from nnbo_mip.core.checks import check_choice, check_count
from nnbo_mip.core.control import ProgressCallback, ProgressOption, reporting
from nnbo_mip.core.errors import (
    FileFormatError,
    InputError,
    JournalError,
    JournalWarning,
    ModelWarning,
)
from nnbo_mip.loop.evaluation import Objective
from nnbo_mip.loop.judging.stoppable import Stoppable
from nnbo_mip.loop.optimize_result import OptimizeResult
from nnbo_mip.loop.record.events import Observation, forgotten
from nnbo_mip.loop.record.journal import Journal
from nnbo_mip.loop.record.ledger import Ledger
from nnbo_mip.loop.record.state import State
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.record.telling import pending_key, tellings, tellings_of_table
from nnbo_mip.loop.record.workers import Worker
from nnbo_mip.loop.run_record import RunRecord
from nnbo_mip.loop.settings.settings import OPENED_WITH, Settings
from nnbo_mip.loop.settings.stored import settings_of
from nnbo_mip.loop.step.ask_policy import AskPolicy
from nnbo_mip.loop.step.doubts import doubt_in, is_nearly_known
from nnbo_mip.loop.step.rehearsal import rehearse, rehearse_maximizer, rehearse_stop
from nnbo_mip.loop.stopping.rule import NoStop
from nnbo_mip.loop.tables.tables import read_table

PENDING = ("again", "keep")
"""What may become of points that an opened journal has pending."""


MOST_THOUGHTS = 3
"""How often an ask is thought over because others asked meanwhile; then theirs is only avoided."""


class BayesianOptimizer(Stoppable, RunRecord):
    """Chooses the points of an expensive experiment, one after another or several at once.

    Parameters
    ----------
    space : Space or whatever `Space.coerce` takes
        The user's domain.
    surrogate : str, dict or Surrogate, optional
        What learns from observations; left out, that of ``docs/guide/choosing.md``, which also
        says what a name without options stands for.
    acquisition : str, dict or Acquisition, optional
        What makes a score of what was learned; left out, that of the family.
    maximizer : str, dict or Maximizer
        What finds the best point of it; ``auto``, ``bab`` and ``mip`` prove.
    direction : {"minimize", "maximize"}
    initial : int, str, dict, Design or points
        What is evaluated before there is a model; left out, 3 + d Sobol points, from 5 to 10.
        Values that are told before the first ask count as points of it.
    scaling : str, dict or Scaling, optional
        Scale of the uncertainty, chosen at the first step with a model.
    escape : str, dict or Escape, optional
        What keeps proposals from repeating samples.
    restart : str, dict or Restart, optional
        When to begin anew.
    batch : str, dict or Batch, optional
        What a model makes of points whose values are still to come.
    region : str, dict or Region, optional
        A box around the best point to which the search for the next one is limited: ``trust``
        grows and shrinks, None is no box, ``auto`` is one from 21 coordinates on for
        Gaussian processes, from seven on for all others.
    embedding : str, dict or Embedding, optional
        Few coordinates through which models see a space of many; ``hashed`` or ``rembo``.
    warp : str, dict or Warp, optional
        What models make of values: ``half_rank`` leaves the better half alone and tames the
        others, whose order alone is learned; ``asinh`` makes of large gaps to the best value
        their logarithm; None or ``none`` takes all as they are; ``auto`` is ``asinh`` for Gaussian
        processes with up to twenty coordinates, ``half_rank`` for all others.
    stop : str, dict, StopRule or a list of these, optional
        When the run has found enough (`nnbo_mip.stopping`): ``regret:tolerance=0.01``,
        ``ei:tolerance=1e-4``, ``target:value=0``, ``patience:evaluations=20``, or several of them,
        of which the first one decides; None goes on. `run` asks it, and `should_stop`.
    gap : float
        At which a proof may stop; see `maximize`.
    time_limit : float or "auto"
        Wall seconds of an ask; then the best point so far is returned with the bound that was
        proven for it. The fit is not cut short, and a fifth of the time is always left for
        maximizing. ``auto`` is a quarter of the median evaluation, between 0.5 and 10 seconds: a
        limit that differs from run to run, and so may what is asked where it ends a search.
    most_fitted : int
        Observations that a surrogate learns from at most: the best half and, of the others, those
        that are farthest apart.
    steps : int, optional
        How many points models will choose, for rules that shrink over a run.
    seed : int or None
        The same seed gives the same proposals, bit for bit; None draws one, which the journal
        keeps.
    journal : path, optional
        A new file in which every ask and every tell is kept; None keeps them in memory only.

    Notes
    -----
    A failed evaluation, one told with ``failed=True``, NaN or an infinity, counts in the model as
    the worst value told so far. Several threads may share an optimizer, and several processes a
    journal: each has `open` give it an optimizer of its own.

    Examples
    --------
    >>> import nnbo_mip as nm
    >>> bo = nm.BayesianOptimizer([(-1.0, 2.0)], "brvfl:n_hidden=20", "ei", initial=4)
    >>> for _ in range(8):
    ...     p = bo.ask()
    ...     bo.tell(p.x, float((p.x[0] - 0.3) ** 2))
    >>> len(bo.history), bo.best.y < 0.05, p.status
    (8, True, 'optimal')
    """

    def __init__(
        self,
        space: object,
        surrogate: object = None,
        acquisition: object = None,
        maximizer: object = "auto",
        direction: str = "minimize",
        initial: object = None,
        scaling: object = None,
        escape: object = "exclude:first=1e-4,last=1e-4",
        restart: object = None,
        batch: object = "believer",
        region: object = "auto",
        embedding: object = None,
        warp: object = "auto",
        stop: object = None,
        *,
        gap: float = 1e-4,
        time_limit: float | str = 10.0,
        most_fitted: int = 500,
        steps: int | None = None,
        seed: int | None = 0,
        journal: str | Path | None = None,
    ) -> None:
        chosen = (space, surrogate, acquisition, maximizer, direction, initial, scaling, escape)
        settings = Settings.planned(
            *chosen,
            *(restart, batch, region, embedding, warp, stop),
            gap=gap,
            time_limit=time_limit,
            most_fitted=most_fitted,
            steps=steps,
            seed=seed,
        )
        rehearse(settings)  # not in `open`: what has begun can go on
        meta = settings.provenance()
        self._begin(settings, None if journal is None else Journal.create(journal, meta), meta)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Begin a run in memory, of settings that were rehearsed before, as a lab's plan does."""
        optimizer = cls.__new__(cls)
        optimizer._begin(settings, None, settings.provenance())
        return optimizer

    @classmethod
    def open(cls, path: str | Path, pending: str = "again", **options: object) -> Self:
        """Continue the run of a journal where it stood.

        Parameters
        ----------
        path : path
        pending : {"again", "keep"}
            Whether points that were asked and never told are given out again, in order, before
            new ones; ``keep`` leaves them to workers that are still at them.
        **options
            Another ``maximizer``, ``gap``, ``time_limit`` or ``stop`` for what is asked from here
            on, and option objects that the journal could not hold, such as ``surrogate=…``.
        """
        check_choice("pending", pending, PENDING)
        unknown = sorted(set(options) - set(OPENED_WITH))
        if unknown:
            raise InputError(
                f"open takes the options {', '.join(OPENED_WITH)}; got {unknown[0]!r}; drop it."
            )
        journal = Journal.open(path)
        meta = journal.meta()
        stored = meta.get("settings")
        if not isinstance(stored, Mapping):
            raise FileFormatError(f"the journal {str(path)!r} must hold settings; it has none.")
        optimizer = cls.__new__(cls)
        settings = settings_of(stored, options)
        if options.get("maximizer") is not None:
            rehearse_maximizer(settings)
        if options.get("stop") is not None:
            rehearse_stop(settings)
        optimizer._begin(settings, journal, meta)
        optimizer._is_alone = pending == "again"
        if optimizer._is_alone:
            optimizer.ask_again()
        return optimizer

    def _begin(self, settings: Settings, journal: Journal | None, meta: Mapping[str, Any]) -> None:
        self._settings = settings
        self._meta = meta
        self._asking = AskPolicy(settings)
        self._one_asks = threading.Lock()
        self._again: list[str] = []
        self._asked_here: set[str] = set()
        self._is_alone = True
        self._has_warned = False
        self._step = self._judged = self._since = None
        self._ledger = Ledger(State(settings.space, settings.embedded), journal)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is copied; a copy shares the journal as another process does."""
        own = ("_one_asks", "_asking")
        return {name: value for name, value in vars(self).items() if name not in own}

    def __setstate__(self, held: Mapping[str, Any]) -> None:
        """Take what `__getstate__` returned; what was kept between asks is computed again."""
        vars(self).update(held, _one_asks=threading.Lock(), _asking=AskPolicy(held["_settings"]))

    @property
    def starts(self) -> int:
        """How many initial points are asked for before there is a model."""
        return self._asking.starts(self._ledger.state)

    # -- asking and telling ---------------------------------------------------------------

    @overload
    def ask(self, n: None = None, *, progress: ProgressOption = None) -> Suggestion: ...

    @overload
    def ask(self, n: int, *, progress: ProgressOption = None) -> list[Suggestion]: ...

    def ask(
        self, n: int | None = None, *, progress: ProgressOption = None
    ) -> Suggestion | list[Suggestion]:
        """Return the point to evaluate next, or a list of n of them.

        What is asked is pending until it is told or forgotten; further asks take it into account.

        Parameters
        ----------
        n : int, optional
        progress : callable, bool or "live", optional
            As in `nnbo_mip.maximize`; values and bounds are those of the acquisition.
        """
        count = 1 if n is None else check_count("n", n)
        with self._one_asks, reporting(progress, 1.0) as callback:
            asked: list[Suggestion] = []
            before = set(self._asked_here)
            try:
                while len(asked) < count:
                    asked.append(self._ask(callback))
            except BaseException:
                # What nobody was given, written or about to be, is given out by the next asks.
                lost = {one.key for one in asked} | (self._asked_here - before)
                first = [key for key in self._ledger.state.pending if key in lost]
                self._again = [*first, *(key for key in self._again if key not in lost)]
                raise
        return asked[0] if n is None else asked

    def tell(
        self,
        x: object,
        y: object = None,
        *,
        failed: object = False,
        noise: npt.ArrayLike | None = None,
        reason: str = "",
    ) -> None:
        """Say what came out; when this returns, the journal has it on disk.

        Parameters
        ----------
        x : array (d,), dict, Suggestion, or a batch of them
            Asked or not, told before or not.
        y : float, or one a point of a batch
            NaN and infinities count as failed.
        failed : bool, or one a point of a batch
            Whether there is no value.
        noise : float, optional, or one a point of a batch
            Standard deviation of y.
        reason : str
            Why it failed; of an exception its name and first line are kept, of others their text.

        Notes
        -----
        If the journal cannot be written, JournalError says why. What was told is in memory
        all the same and is written by the next tell, ask or `flush` that succeeds; telling the
        same again until then does not count twice. `save` makes a new journal where the old one
        was lost.
        """
        self._ledger.notice()
        self._ledger.add(tellings(self._ledger.state, x, y, failed, noise, reason))

    def tell_table(
        self, table: object, value: str = "y", noise: str | None = None, outside: str = "refuse"
    ) -> int:
        """Tell past observations, in one transaction, and return how many.

        Parameters
        ----------
        table, value, noise, outside
            As `nnbo_mip.loop.tables.tables.read_table` takes them: the path of a CSV file, a pandas
            data frame, a dict of columns, or a pair (X, y).
        """
        past = read_table(table, self.space, value, noise, outside)
        self._ledger.notice()
        events = tellings_of_table(self._ledger.state, past)
        if events:
            self._ledger.add(events)
        return len(events)

    def forget(self, x: object) -> None:
        """Drop a pending point, or suggestion, that will never be told."""
        self._ledger.notice()
        self._ledger.add([forgotten(pending_key(self._ledger.state, x))])

    def ask_again(self) -> None:
        """Let the next asks give out what is pending, in order, before new points.

        Where ``pending="keep"`` left points to others, only what was asked for here is given out.
        """
        here = self._asked_here
        keys = self._ledger.state.pending
        self._again = [key for key in keys if self._is_alone or key in here]

    def run(
        self,
        f: Objective,
        n_evals: int,
        *,
        callback: Callable[[Observation], object] | None = None,
        progress: bool | None = None,
        on_error: str = "continue",
    ) -> OptimizeResult:
        """Ask, evaluate and tell until `n_evals` evaluations were made, or the stop rule says so.

        Parameters
        ----------
        f, n_evals, callback, progress, on_error
            As in `nnbo_mip.optimize`.
        """
        from nnbo_mip.loop.running import run

        return run(self, f, n_evals, callback, progress, on_error)

    def at_work(self) -> Worker:
        """Return a context in which other workers of the journal hear of this one."""
        return Worker(self._ledger)

    def ask_within(
        self, n_evals: int, worker: Worker, progress: ProgressOption = None
    ) -> Suggestion | Literal["wait", "exhausted"]:
        """Return the next of `n_evals` points of all workers; this is what `run` asks with.

        ``wait``: others are at all that are left, or one thinks. ``exhausted``: every point of a
        finite space is known, and none is wanted again, as it is with told noise or without escape.
        """
        with self._one_asks, reporting(progress, 1.0) as callback:
            exhausted = self._asking.is_exhausted
            turn, key = self._ledger.claim(worker.key, self._again, n_evals)
            if turn == "alone":
                is_over = not self._again and exhausted(self._ledger.state)
                return "exhausted" if is_over else self._ask(callback)
            if turn == "wait":
                return turn
            if turn == "think":
                is_over = exhausted(self._ledger.state)
                return "exhausted" if is_over else self._thought(callback, worker.key)
            self._again = [other for other in self._again if other != key]
            self._asked_here.add(key)
            return self._ledger.state.suggestions[key]

    def _ask(self, callback: ProgressCallback | None) -> Suggestion:
        unread = self._ledger.notice()
        if unread is not None:
            warnings.warn(
                f"other processes' events are not known: {unread}", JournalWarning, stacklevel=3
            )
        while self._again:
            key = self._again.pop(0)
            if key in self._ledger.state.pending:
                return self._ledger.state.suggestions[key]
        return self._thought(callback)

    def _thought(self, callback: ProgressCallback | None, worker: str | None = None) -> Suggestion:
        """Return a new point; where others asked meanwhile, one that takes theirs into account."""
        if not isinstance(self._settings.stop, NoStop):
            self._began_here()
        event, thoughts = None, 0
        while True:
            state = self._ledger.state
            if event is None or thoughts < MOST_THOUGHTS or state.pends(event):
                event, made = self._asking.next(state, callback)
                event = replace(event, content={**event.content, "worker": worker})
                thoughts += 1
            self._asked_here.add(event.key)
            try:
                if not self._ledger.add_ask(event, based_on=state, by=worker):
                    continue
            except JournalError as error:
                warnings.warn(
                    f"a suggestion is not in the journal yet: {error}", JournalWarning, stacklevel=4
                )
            suggestion = self._ledger.state.suggestions[event.key]
            self._step = None if state.pending else (event.key, len(state.observations))
            said = (
                "" if self._has_warned or not suggestion.message else doubt_in(suggestion.message)
            )
            domain = self._settings.search.model()
            if said and not is_nearly_known(domain, len(self._ledger.state.observations)):
                self._has_warned = True  # once a run
                warnings.warn(said, ModelWarning, stacklevel=4)
            if made is None:
                return suggestion
            return replace(suggestion, proposal=made.proposal, why=made.why)
