"""`Search`: what every heuristic maximizer shares while it looks for a better point.

It keeps the best admissible point, counts evaluations, watches the clock, reports progress, and
ends a search by raising `BudgetSpent`, so that each maximizer is its idea and nothing else.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.control import ProgressCallback
from nnbo_mip.core.errors import InputError
from nnbo_mip.exact.scores.problem import SMALLEST_SCORE
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.sampling import Stop, never, sample

BATCH = 8192
"""Points that are scored between two looks at the clock."""

NOTHING_TRIED = "no point that was tried"
"""What `Search.vain` is where a search looks at points one after another."""


class BudgetSpent(Exception):
    """Evaluations or seconds are used up, or somebody pressed Ctrl-C."""


class Search:
    """One run of a heuristic maximizer.

    Parameters
    ----------
    name : str
        Of the maximizer.
    target : Target
        What is maximized.
    evaluations : int
        Points that may be scored.
    time_limit : float
        Wall seconds from now.
    callback : callable, optional
        Receives a `Progress` a few times a second.
    log : bool
        Show logarithms of EI and PI to the maximizer rather than EI and PI themselves. The best
        point is kept by logarithms in any case: where EI is 0 in float64 they still differ.
    """

    def __init__(
        self,
        name: str,
        target: Target,
        evaluations: int,
        time_limit: float = math.inf,
        callback: ProgressCallback | None = None,
        log: bool = True,
    ) -> None:
        self.name = name
        self.target = target
        self.evaluations = 0
        self.counters: Counter[str] = Counter()
        self.monitor = Monitor(target, 0.0, time_limit, callback)
        self.vain = ""
        """Of what no point is admissible, to be said in the answer; empty where some are."""

        self._most = evaluations
        self._raw = not log and self.head != target.head
        self._time_limited = False

    @property
    def domain(self) -> Domain:
        """The admissible points."""
        return self.target.domain

    @property
    def head(self) -> Head:
        """The head by which points are compared: log EI for EI, log PI for PI."""
        return self.target.searched

    @property
    def left(self) -> int:
        """Evaluations left."""
        return self._most - self.evaluations

    # -- scoring ----------------------------------------------------------------------

    def values(self, points: FloatArray, late: bool = False) -> FloatArray:
        """Score points (n, d), admissible or not, and keep the best admissible one.

        A batch of `late` points is scored even if time is up: it went into drawing them.
        """
        batches = self.affordable(points, late)
        found = [self.keep(batch, self.target.values(batch)) for batch in batches]
        return self._shown(np.concatenate([np.empty(0), *found]))

    def values_and_gradients(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Score points (n, d) as `values` does, with gradients (n, d)."""
        values, gradients = [np.empty(0)], [np.empty((0, points.shape[1]))]
        for batch in self.affordable(points):
            scores, slopes = self.target.values_and_gradients(batch)
            values.append(self.keep(batch, scores))
            gradients.append(slopes)
        shown, slopes = self._shown(np.concatenate(values)), np.concatenate(gradients)
        return shown, slopes * shown[:, None] if self._raw else slopes

    def affordable(self, points: FloatArray, late: bool = False) -> Iterator[FloatArray]:
        """Yield points (n, d) in batches, counted, until the budget is spent."""
        for start in range(0, len(points), BATCH):
            wanted = points[start : start + BATCH]
            batch = wanted[: self.left]
            self.count(len(batch), late and not start)
            if len(batch):
                yield batch
            if len(batch) < len(wanted):
                raise BudgetSpent

    def count(self, evaluations: int, late: bool = False) -> None:
        """Take evaluations from the budget; end the search if time is up, unless they are late."""
        self.monitor.report(self.name, math.inf, evaluations=self.evaluations, **self.counters)
        if not late:
            self.check_time()
        if evaluations > self.left:
            raise BudgetSpent
        self.evaluations += evaluations

    def check_time(self) -> None:
        """End the search if time is up and something was scored."""
        if self.evaluations and self.expired():
            raise BudgetSpent

    def expired(self) -> bool:
        """Whether time is up, or somebody pressed Ctrl-C; asked where there is more to do."""
        self._time_limited = self._time_limited or self.monitor.should_stop()
        return self._time_limited

    def drawn(self, n: int, seed: int | np.random.Generator) -> FloatArray:
        """Return n uniform admissible points (n, d), fewer where time is up or none are found."""
        return sampled(self.domain, n, seed, self.expired)

    def keep(self, points: FloatArray, values: FloatArray) -> FloatArray:
        """Keep the best admissible one of points (n, d) whose values (n,) are known."""
        better = np.flatnonzero(values > self.monitor.best_value)
        better = better[self.domain.admissible(points[better])] if len(better) else better
        if len(better):
            self.monitor.offer(points[better[[values[better].argmax()]]])
        return values

    def _shown(self, values: FloatArray) -> FloatArray:
        return np.exp(values) if self._raw else values

    # -- the answer -------------------------------------------------------------------

    def rescue(self, seed: int) -> None:
        """Offer some admissible point, outside of the budget, where none was found."""
        if self.monitor.best_x is None:
            self.vain = self.vain or NOTHING_TRIED
            center = 0.5 * self.domain.lower + 0.5 * self.domain.upper
            near = self.domain.repair(center)
            found = self.drawn(1, seed) if near is None else near[None, :]
            self.monitor.offer(found)

    def proposal(self) -> Proposal:
        """Return the best point, its score computed alone."""
        found = SearchResult(
            x=self.monitor.best_x,
            proof=Proof(self.name),
            score=self.target.head.name,
            counters=self.counters,
            time_limited=self._time_limited,
        )
        if found.x is not None:
            found = self._scored(found, found.x)
        elif is_empty(self.domain):
            found = replace(found, status="infeasible", bound=-math.inf, gap=math.nan)
        else:
            said = "no admissible point was found; relax a constraint or widen a bound."
            found = replace(found, message=said)
        return Proposal(
            found=found,
            maximizer=self.name,
            seconds=self.monitor.seconds(),
            evaluations=self.evaluations,
            interrupted=self.monitor.interrupted,
        )

    def _scored(self, found: SearchResult, x: FloatArray) -> SearchResult:
        """Return a result with the score of its point, as a logarithm where it is tiny."""
        head, searched = self.target.head, self.target.searched
        value, name = float(self.target.score(x[None, :])[0]), head.name
        if searched != head and value < SMALLEST_SCORE:
            name = searched.name
        if head.is_logarithm or name != head.name:
            value = self.target.value(x)
        return replace(found, value=value, score=name, message=self._said_of_vain())

    def _said_of_vain(self) -> str:
        """Return a sentence with the remedy where none of what was tried is admissible."""
        if not self.vain:
            return ""
        others = '"auto", "lbfgs" or "random"'
        if not self.target.has_gradient:
            others = '"auto" or "random"'
        if f'"{self.name}"' in others:
            others = '"auto"'
        return (
            f"{self.vain} is admissible, so the answer is some other admissible point; take "
            f"{others}."
        )


def is_empty(domain: Domain) -> bool:
    """Whether bound propagation proves that a domain has no admissible point."""
    return not bool(domain.tighten(domain.lower, domain.upper)[2])


def sampled(
    domain: Domain, n: int, seed: int | np.random.Generator, stop: Stop = never
) -> FloatArray:
    """Return n uniform admissible points (n, d), fewer once time is up, none if none was found."""
    try:
        return sample(domain, n, np.random.default_rng(seed), stop)
    except InputError:
        return np.empty((0, domain.dimension))
