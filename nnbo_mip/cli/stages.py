"""A line that shows which part of the work is being done, and for how long."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from nnbo_mip.core.control import Progress
from nnbo_mip.core.live import PLAIN_INTERVAL, Ticking, redrawn


class Stages:
    """The stage at work, and what a search says of itself.

    Parameters
    ----------
    live : bool
        Whether a line is redrawn; else one is printed whenever a stage begins, of numbered ones
        now and then.
    """

    def __init__(self, *, live: bool) -> None:
        self._live = live
        self._name = "starting"
        self._started = self._since = time.perf_counter()
        self._next_print = self._started + PLAIN_INTERVAL
        self._search: Ticking | None = None
        self._left = math.inf

    def begin(self, name: str) -> None:
        """Say what is being done from now on."""
        self._enter(name)
        if not self._live:
            print(f"nnbo-mip: {name}", file=sys.stderr, flush=True)

    def begin_part(self, name: str, done: int, total: int) -> None:
        """Say which part of several is being done, and how long they take if all take alike."""
        self._enter(f"{done + 1}/{total} {name}")
        passed = self._since - self._started
        self._left = passed / done * (total - done) if done else math.inf
        if not self._live and self._since >= self._next_print:
            self._next_print = self._since + PLAIN_INTERVAL
            print(f"nnbo-mip: {self.line()}", file=sys.stderr, flush=True)

    def receive(self, progress: Progress) -> None:
        """Take notice of how a search is doing."""
        if self._search is None:
            self._search = Ticking(maximize=True)
        self._search.receive(progress)

    def line(self) -> str:
        """Return the line as of now."""
        if self._search is not None:
            return f"{self._name}  {self._search.line()}"
        now = time.perf_counter()
        if math.isinf(self._left):
            return f"{self._name}  {now - self._since:.0f} s"
        left = max(0.0, self._left - (now - self._since))
        return f"{self._name}  {now - self._started:.0f} s  about {left:.0f} s left"

    def _enter(self, name: str) -> None:
        self._name, self._since = name, time.perf_counter()
        self._search, self._left = None, math.inf


@contextmanager
def shown_stages() -> Iterator[Stages]:
    """Yield stages that are shown on standard error: live on a terminal, in lines elsewhere."""
    stages = Stages(live=sys.stderr.isatty())
    if not sys.stderr.isatty():
        yield stages
        return
    with redrawn(stages.line):
        yield stages
