"""What is shown of an experiment at work: a line on a terminal, lines in a log."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from nnbo_mip.core.live import PLAIN_INTERVAL, redrawn
from nnbo_mip.lab.plan.plan import PlannedUnit
from nnbo_mip.lab.run.forecast import Forecast
from nnbo_mip.lab.store.answer import Answer


class UnitsDisplay:
    """Counts units and says how long the rest takes.

    Parameters
    ----------
    waiting : sequence of PlannedUnit
        What is to be run.
    before : int
        Units of the plan that are not run now.
    workers : int
    live : bool
        Whether a line is redrawn; else one is printed now and then.
    """

    def __init__(
        self, waiting: Sequence[PlannedUnit], before: int, workers: int, *, live: bool
    ) -> None:
        kinds = Counter((one.problem, one.method) for one in waiting)
        self._units = {one.unit.key: one for one in waiting}
        self._forecast = Forecast(kinds, workers)
        self._done, self._total = before, before + len(waiting)
        self._failed = 0
        self._last = ""
        self._live = live
        self._started = time.perf_counter()
        self._next_print = self._started

    def ended(self, answer: Answer) -> None:
        """Count a unit, and say why it failed if it did."""
        unit = self._units[answer.key]
        self._done += 1
        seconds = sum(one.seconds for one in answer.attempts)
        self._forecast.ended((unit.problem, unit.method), seconds)
        self._last = label(unit)
        if answer.status == "failed":
            self._failed += 1
            self._say(f"failed: {label(unit)}: {answer.reason}")
        elif len(answer.attempts) > 1:
            self._say(f"finished at the second try: {label(unit)}")
        now = time.perf_counter()
        if not self._live and (now >= self._next_print or self._done == self._total):
            self._next_print = now + PLAIN_INTERVAL
            self._say(self.line())

    def line(self) -> str:
        """Return the line as of now."""
        parts = [f"{self._done}/{self._total} units"]
        if self._failed:
            parts.append(f"{self._failed} failed")
        parts.append(f"{duration(time.perf_counter() - self._started)}")
        left = self._forecast.seconds_left
        if left is not None and self._done < self._total:
            parts.append(f"about {duration(left)} left")
        if self._last:
            parts.append(f"last {self._last}")
        return "  ".join(parts)

    def _say(self, line: str) -> None:
        print(f"nnbo-mip: {line}", file=sys.stderr, flush=True)


@contextmanager
def shown_units(
    waiting: Sequence[PlannedUnit], before: int, workers: int
) -> Iterator[UnitsDisplay]:
    """Yield a display on standard error: live on a terminal, lines elsewhere."""
    live = sys.stderr.isatty()
    display = UnitsDisplay(waiting, before, workers, live=live)
    if not live:
        yield display
        return
    with redrawn(display.line):
        yield display


def label(unit: PlannedUnit) -> str:
    """Return what a person calls a unit."""
    return f"{unit.method} on {unit.problem}, instance {unit.unit.instance}"


def duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> [duration(seconds) for seconds in (12.4, 75.0, 7380.0, 200000.0)]
    ['12 s', '1 min 15 s', '2 h 3 min', '2 d 7 h']
    """
    whole = round(seconds)
    for size, large, small, name in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            return f"{whole // size} {large} {whole % size // small} {name}"
    return f"{whole} s"
