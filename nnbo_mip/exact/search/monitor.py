"""The shared state of one search: incumbent, best bound, deadline, interruption, progress."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.budget import current_budget
from nnbo_mip.core.control import Progress, ProgressCallback, now
from nnbo_mip.core.errors import LimitError
from nnbo_mip.core.terms import Kind, Status
from nnbo_mip.exact.search.course import Course
from nnbo_mip.exact.search.problem import OptimizationProblem
from nnbo_mip.exact.search.result import Proof, SearchResult

REPORT_INTERVAL = 0.2
"""Seconds between two calls of the progress callback."""

MEMORY_INTERVAL = 0.05
"""Seconds between two looks at the memory."""

COMPILING = "compiling kernels, once a machine (a second Ctrl-C ends it)"
"""Said while numba compiles, which takes some ten seconds."""


class Monitor:
    """Keeps the best of everything any engine found, and says when to stop.

    Parameters
    ----------
    problem : OptimizationProblem
        What is maximized; candidates are evaluated and checked against it.
    gap : float
        The gap at which the search may stop.
    time_limit : float
        Seconds from now, of wall time unless another clock was chosen (`core.control`).
    callback : callable, optional
        Receives a `Progress` at most every `REPORT_INTERVAL` seconds.
    patience : float
        Work that closing the gap may be foreseen to need (`course`); infinity never gives up.
    threshold : float, optional
        Asks whether any point scores above it, instead of for the maximum: the search is over
        with the first value above it, or once no region has a bound above it.
    """

    def __init__(
        self,
        problem: OptimizationProblem,
        gap: float,
        time_limit: float = math.inf,
        callback: ProgressCallback | None = None,
        patience: float = math.inf,
        threshold: float | None = None,
    ) -> None:
        self.problem = problem
        self.gap = gap
        self.threshold = threshold
        self.best_x: FloatArray | None = None
        self.best_value = -math.inf
        self.bound = math.inf
        self.bound_kind: Kind = "none"
        self.bound_proof: Proof | None = None
        self.evaluations = 0
        self._callback = callback
        self.patience = patience
        self._course: Course | None = None  # begun by the first work, if patience has an end
        self.judged: Course | None = None
        self._gave_up = False
        self._started = now()
        self._deadline = self._started + time_limit
        self._last_report = -math.inf
        self._interrupted = threading.Event()
        self._budget = current_budget()
        self._last_memory = -math.inf
        self.is_full = False
        self.limits: dict[str, None] = {}  # sentences of what was not begun, each once

    # -- incumbent --------------------------------------------------------------------

    def offer(self, points: FloatArray) -> None:
        """Evaluate points (n, d) and keep the best admissible one."""
        if len(points) == 0:
            return
        points = self.problem.domain.held(points)  # rows hold up to their slack only
        values = self.problem.values(points)
        self.evaluations += len(points)
        better = np.flatnonzero(values > self.best_value)
        for index in better[np.argsort(-values[better], kind="stable")]:
            if bool(self.problem.domain.admissible(points[index][None, :])[0]):
                self._accept(points[index])
                return

    def _accept(self, point: FloatArray) -> None:
        # A batch product may round differently from a single row: the value that is
        # kept is the one anybody gets who evaluates this point alone.
        value = self.problem.value(point)
        if value > self.best_value:
            self.best_x = np.array(point, dtype=np.float64)
            self.best_value = value

    @property
    def cutoff(self) -> float:
        """Regions that are proven not to exceed this level need no further search."""
        if self.threshold is not None:
            return max(self.threshold, self.best_value)
        return self.problem.measure.cutoff(self.best_value, self.gap)

    # -- bound ------------------------------------------------------------------------

    def tighten(self, bound: float, kind: Kind, proof: Proof) -> None:
        """Keep a proven upper bound on f over the whole domain if it is the best so far."""
        if bound < self.bound:
            self.bound, self.bound_kind, self.bound_proof = bound, kind, proof

    def closed(self) -> bool:
        """Whether the best value and the best bound answer what was asked."""
        return self.settles(self.bound)

    def settles(self, bound: float) -> bool:
        """Whether a bound closes the gap; where there is a threshold, whether that is decided."""
        if self.threshold is None:
            return self._closes(bound)
        return self.exceeded or bound <= self.threshold

    def _closes(self, bound: float) -> bool:
        return self.problem.measure.closes(self.best_value, bound, self.gap)

    # -- stopping ---------------------------------------------------------------------

    def spend(self, work: float, bound: float) -> None:
        """Take notice of work, in seconds of a nominal machine, and of the bound that it left."""
        if math.isinf(self.patience):
            return
        if self._course is None:
            self._course = Course(self.patience)
        known = self.best_x is not None
        gap = min(bound, self.bound) - self.cutoff if known else math.nan
        self._course.spend(work, gap)

    @property
    def is_hopeless(self) -> bool:
        """Whether the course of the gap left no hope of closing it."""
        return self._gave_up or (self._course is not None and self._course.is_hopeless)

    def give_up(self) -> None:
        """Leave all hope, as every engine has."""
        self._gave_up = True

    @contextmanager
    def judged_by(self, course: Course | None) -> Iterator[None]:
        """Judge what is done within by a course of its own, None for a new one.

        `judged` is that course afterwards, None where no work was judged.
        """
        before, self._course = self._course, course
        try:
            yield
        finally:
            self.judged, self._course = self._course, before

    def seconds(self) -> float:
        """Seconds since the start."""
        return now() - self._started

    def remaining(self) -> float:
        """Seconds left; never negative."""
        return max(0.0, self._deadline - now())

    def interrupt(self) -> None:
        """Ask every engine to return what it has; safe to call from another thread."""
        self._interrupted.set()

    @property
    def interrupted(self) -> bool:
        """Whether `interrupt` was called."""
        return self._interrupted.is_set()

    @property
    def exceeded(self) -> bool:
        """Whether an admissible point above the threshold was found."""
        return self.threshold is not None and self.best_value > self.threshold

    def is_hurried(self) -> bool:
        """Whether time or memory is up, the threshold exceeded, or somebody asked to stop."""
        moment = now()
        if self._budget is not None and moment - self._last_memory >= MEMORY_INTERVAL:
            self._last_memory = moment
            self.is_full = self.is_full or self._budget.is_full
        return self.is_full or self.interrupted or self.exceeded or moment >= self._deadline

    def should_stop(self) -> bool:
        """Whether time is up, somebody asked to stop, or there is no hope."""
        return self.is_hopeless or self.is_hurried()

    @contextmanager
    def within_limits(self) -> Iterator[None]:
        """Do what may need more memory or time than there is; keep what is said then."""
        try:
            yield
        except LimitError as error:
            self.limits[str(error)] = None
        except MemoryError:
            self.is_full = True
            self.limits["the memory of this machine was used up."] = None

    @contextmanager
    def shortened(self, share: float) -> Iterator[None]:
        """Leave only a share of the time that is left to what is done within."""
        began, deadline = self._started, self._deadline
        self._deadline = now() + share * self.remaining()
        try:
            yield
        finally:
            self._deadline = deadline + (self._started - began)  # compilers stopped the clock

    @contextmanager
    def clock_stopped(self) -> Iterator[None]:
        """Do what no time limit should pay for: the compilation of kernels, once a machine."""
        began = now()
        try:
            if self._callback is None:
                yield
            else:
                from nnbo_mip.core.compiled import announced

                with announced(lambda: self.announce(COMPILING)):
                    yield
        finally:
            spent = now() - began
            self._started += spent
            self._deadline += spent
            if self._budget is not None:
                self._budget.deadline += spent

    # -- reporting --------------------------------------------------------------------

    def wants_report(self) -> bool:
        """Whether a report would reach the callback now."""
        if self._callback is None:
            return False
        return now() - self._last_report >= REPORT_INTERVAL

    def report(self, engine: str, bound: float, **counters: int) -> None:
        """Call the progress callback unless it was called a moment ago."""
        if self.wants_report():
            self._tell(engine, min(bound, self.bound), counters, "")

    def announce(self, note: str) -> None:
        """Call the progress callback about something that is not a search, at once."""
        self._tell("", self.bound, {}, note)

    def _tell(self, engine: str, bound: float, counters: dict[str, int], note: str) -> None:
        if self._callback is None:
            return
        moment = now()
        self._last_report = moment if not note else -math.inf
        self._callback(
            Progress(
                engine=engine,
                value=self.best_value,
                bound=bound,
                seconds=moment - self._started,
                remaining=max(0.0, self._deadline - moment),
                counters=counters,
                note=note,
            )
        )

    # -- answers ----------------------------------------------------------------------

    def too_large(self, engine: str) -> SearchResult:
        """Decline to prove anything about a network whose magnitudes reach overflow."""
        return self.result(
            Proof(engine),
            math.inf,
            "none",
            counters={},
            message="the weights are so large that float64 cannot bound the network's values.",
        )

    def result(
        self,
        proof: Proof,
        bound: float,
        kind: Kind,
        *,
        counters: Mapping[str, int],
        stopped: bool = False,
        message: str = "",
    ) -> SearchResult:
        """Assemble an answer from the incumbent and a bound.

        Parameters
        ----------
        proof : Proof
            Who proved `bound`.
        bound : float
            Proven upper bound on f over the domain; ``-inf`` if it is proven empty.
        kind : {"rigorous", "solver", "none"}
            How it was proven.
        counters : mapping of str to int
            Work done.
        stopped : bool
            Whether wall time or an interruption ended the search.
        message : str
            A sentence for the user.
        """
        status: Status
        gap = math.inf
        if kind == "none":
            bound, status = math.inf, "heuristic"
        elif self.best_x is None and bound == -math.inf:
            status, gap = "infeasible", math.nan
        else:
            # A pass at an admissible point is a lower bound on the float maximum, and the
            # promise "bound >= value" is kept even where the proof is tighter by an ulp.
            bound = max(float(bound), self.best_value)
            status = "optimal" if self._closes(bound) else "feasible"
            gap = self.problem.measure.gap(self.best_value, bound)
        return SearchResult(
            x=self.best_x,
            value=self.best_value,
            bound=bound,
            kind=kind,
            status=status,
            gap=gap,
            proof=proof,
            counters={**counters, "evaluations": self.evaluations},
            time_limited=stopped and not self.exceeded,
            message=" ".join([message, *self._unsaid(message)]).strip(),
        )

    def _unsaid(self, message: str) -> list[str]:
        """Return what was not begun for want of memory or time, and is not in a message yet."""
        return [sentence for sentence in self.limits if sentence not in message]

    def bounded(self) -> SearchResult:
        """Return the best value and bound that anybody told of."""
        assert self.bound_proof is not None
        return self.result(self.bound_proof, self.bound, self.bound_kind, counters={}, stopped=True)

    def settled(self, result: SearchResult) -> SearchResult:
        """Return an engine's answer with the best value and bound that anybody told of."""
        if result.status == "infeasible" and self.best_x is None:
            return result
        bound, kind, proof = result.bound, result.kind, result.proof
        if result.status == "infeasible" or kind == "none":
            bound = math.inf
        if self.bound_kind != "none" and self.bound < bound:
            assert self.bound_proof is not None
            bound, kind, proof = self.bound, self.bound_kind, self.bound_proof
        return self.result(
            proof,
            bound,
            "none" if bound == math.inf else kind,
            counters=result.counters,
            stopped=result.time_limited,
            message=result.message,
        )
