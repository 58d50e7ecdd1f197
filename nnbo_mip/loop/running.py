"""The loop itself: ask, evaluate, tell, until there were as many evaluations as wanted."""

from __future__ import annotations

import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Literal

import numpy as np

from nnbo_mip.core.checks import check_choice, check_count, check_flag
from nnbo_mip.core.errors import EvaluationWarning, InputError, JournalError, JournalWarning
from nnbo_mip.loop.display import Display, displayed
from nnbo_mip.loop.evaluation import Objective, evaluated
from nnbo_mip.loop.optimize_result import OptimizeResult
from nnbo_mip.loop.record.events import Observation
from nnbo_mip.loop.record.serialization import point_out
from nnbo_mip.loop.record.workers import Worker
from nnbo_mip.loop.stopping.rule import NoStop, Verdict

if TYPE_CHECKING:
    from nnbo_mip.loop.optimizer import BayesianOptimizer
    from nnbo_mip.loop.record.suggestion import Suggestion

Callback = Callable[[Observation], object]

EXHAUSTED = "all points of the space are known"

LEAST_TRIED = 3
"""Evaluations at least, before a function that always raises the same counts as broken."""

WAIT = 0.1
"""Seconds until a worker looks again whether there is something to do."""


def run(
    optimizer: BayesianOptimizer,
    f: Objective,
    n_evals: int,
    callback: Callback | None,
    progress: bool | None,
    on_error: str,
) -> OptimizeResult:
    """Run an optimizer; parameters as those of `nnbo_mip.optimize`."""
    check_count("n_evals", n_evals)
    check_choice("on_error", on_error, ("continue", "raise"))
    if progress is not None:
        check_flag("progress", progress)
    for name, given in (("f", f), ("callback", f if callback is None else callback)):
        if not callable(given):
            raise InputError(f"{name} must be callable; got {given!r:.60}; pass a function of x.")
    optimizer.settings.surrogate.check_installed()  # a run may be continued elsewhere
    display = Display(calls(optimizer), n_evals, _best(optimizer))
    ended, made = "", 0
    rule, verdict = optimizer.settings.stop, None
    with optimizer.at_work() as worker:
        try:
            with displayed(display, progress) as shown, ctrl_c_raises():
                while not ended and calls(optimizer) < n_evals:
                    if verdict := _stopped(optimizer, display, asks_next=True):
                        break
                    asked = _given(optimizer, n_evals, worker, display, shown)
                    if asked == "exhausted":
                        ended = EXHAUSTED
                    elif asked is not None:
                        reads = any(part.reads_asked for part in rule.parts)
                        if reads and (verdict := _stopped(optimizer, display, asks_next=False)):
                            optimizer.forget(asked)
                            break
                        made += 1
                        ended = _one(optimizer, asked, f, callback, display, on_error)
        except KeyboardInterrupt:
            optimizer.ask_again()
            ended = "stopped by Ctrl-C"
        except BaseException:
            optimizer.ask_again()
            raise
    return _result(optimizer, n_evals, ended, made, worker.seconds, verdict)


def calls(optimizer: BayesianOptimizer) -> int:
    """Return how many evaluations were made of what was asked; warm starts do not count."""
    return sum(told.suggestion is not None for told in optimizer.history)


def _given(
    optimizer: BayesianOptimizer, n_evals: int, worker: Worker, display: Display, shown: bool
) -> Suggestion | Literal["exhausted"] | None:
    """Return what to evaluate; None where other workers made all evaluations meanwhile."""
    display.phase("asking")
    while calls(optimizer) < n_evals:
        given = optimizer.ask_within(n_evals, worker, display.searching if shown else None)
        if given != "wait":
            return given
        display.phase("waiting for other workers")
        time.sleep(WAIT)
    return None


def _stopped(optimizer: BayesianOptimizer, display: Display, asks_next: bool) -> Verdict | None:
    """Return the verdict of the stop rule where it ends the run."""
    if isinstance(optimizer.settings.stop, NoStop):
        return None
    display.phase("asking whether to stop")
    try:
        return optimizer.judge(asks_next) or None
    except JournalError as error:
        warnings.warn(f"the run ends, in memory: {error}", JournalWarning, stacklevel=4)
        return optimizer.stopped


def _one(
    optimizer: BayesianOptimizer,
    suggestion: Suggestion,
    f: Objective,
    callback: Callback | None,
    display: Display,
    on_error: str,
) -> str:
    """Make one evaluation; return why the run should end, or nothing."""
    display.phase("evaluating")
    outcome = evaluated(f, suggestion.x)
    try:
        optimizer.tell(
            suggestion,
            outcome.y,
            failed=outcome.y is None,
            noise=outcome.noise,
            reason=outcome.reason,
        )
    except JournalError as error:
        warnings.warn(f"the run goes on in memory: {error}", JournalWarning, stacklevel=4)
    observation = _told_of(optimizer, suggestion)
    display.told(observation, calls(optimizer), _best(optimizer))
    if outcome.error is not None and on_error == "raise":
        raise outcome.error
    if observation.failed and sum(told.failed for told in optimizer.history) == 1:
        warnings.warn(
            f"an evaluation failed and the run goes on: {observation.reason}",
            EvaluationWarning,
            stacklevel=4,
        )
    if outcome.error is not None:
        _check_ever_works(optimizer, outcome.error, observation.reason)
    try:
        said = None if callback is None else callback(observation)
        stop = isinstance(said, bool | np.bool_) and bool(said)
    except StopIteration:
        stop = True
    return "stopped by the callback" if stop else ""


def _check_ever_works(optimizer: BayesianOptimizer, error: Exception, reason: str) -> None:
    """Raise what the objective raised where it raised the same at all initial points."""
    asked = [told for told in optimizer.history if told.suggestion is not None]
    is_same = all(told.failed and told.reason == reason for told in asked)
    if is_same and len(asked) >= max(optimizer.starts, LEAST_TRIED):
        kept = "" if optimizer.journal is None else f", which {str(optimizer.journal)!r} keeps"
        error.add_note(
            f"nnbo_mip: the objective raised the same at all {len(asked)} initial points{kept}, so "
            "that there is nothing to learn from; mend it, or return NaN where a point has no "
            "value."
        )
        raise error


def _told_of(optimizer: BayesianOptimizer, suggestion: Suggestion) -> Observation:
    """Return what was just told of a suggestion; others may have told something since.

    Where another process told or forgot the point in the meantime, it answers nothing.
    """
    place = point_out(suggestion.x)
    mine = (
        told
        for told in reversed(optimizer.history)
        if (told.suggestion is not None and told.suggestion.key == suggestion.key)
        or point_out(told.x) == place
    )
    return next(mine, optimizer.history[-1])


def _result(
    optimizer: BayesianOptimizer,
    n_evals: int,
    ended: str,
    here: int,
    seconds: float,
    verdict: Verdict | None,
) -> OptimizeResult:
    if verdict:
        ended = f"stopped by the rule {verdict.rule!r}, as {verdict.reason},"
    made, best = calls(optimizer), optimizer.recommend()
    failed = [told for told in optimizer.history if told.failed and told.suggestion is not None]
    parts = [f"{ended} after {made} of {n_evals} evaluations" if ended else f"{made} evaluations"]
    if failed:
        parts.append(f"{len(failed)} failed, the last one: {failed[-1].reason}")
    if best is None:
        parts.append("no evaluation has a value")
    if optimizer.unwritten:
        parts.append(
            f"{optimizer.unwritten} events are not in the journal; see result.optimizer.flush() "
            "and save(path)"
        )
    return OptimizeResult(
        x=None if best is None else best.x,
        fun=math.nan if best is None else best.y,
        nfev=made,
        n_failed=len(failed),
        success=(verdict is not None or ended in ("", EXHAUSTED)) and best is not None,
        message="; ".join(parts) + ".",
        direction=optimizer.direction,
        seconds=seconds,
        nfev_here=here,
        seconds_all=optimizer.seconds,
        optimizer=optimizer,
        noise=0.0 if best is None else best.noise,
        stop=verdict,
    )


def _best(optimizer: BayesianOptimizer) -> float:
    best = optimizer.best
    return math.nan if best is None or best.y is None else best.y


@contextmanager
def ctrl_c_raises() -> Iterator[None]:
    """Let the first Ctrl-C raise KeyboardInterrupt wherever it falls.

    A search by itself answers it with the best point so far; within a run it ends the run.
    """
    before = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or before is not signal.default_int_handler:
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
