"""A line that shows which part of the work is being done, and for how long."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from nnbo_mip.exact.live import Ticking, redrawn
from nnbo_mip.exact.monitor import Progress


class Stages:
    """The stage at work, and what a search says of itself.

    Parameters
    ----------
    live : bool
        Whether a line is redrawn; else one is printed whenever a stage begins.
    """

    def __init__(self, *, live: bool) -> None:
        self._live = live
        self._name = "starting"
        self._since = time.perf_counter()
        self._search: Ticking | None = None

    def begin(self, name: str) -> None:
        """Say what is being done from now on."""
        self._name, self._since, self._search = name, time.perf_counter(), None
        if not self._live:
            print(f"nnbo-mip: {name}", file=sys.stderr, flush=True)

    def receive(self, progress: Progress) -> None:
        """Take notice of how a search is doing."""
        if self._search is None:
            self._search = Ticking(maximize=True)
        self._search.receive(progress)

    def line(self) -> str:
        """Return the line as of now."""
        if self._search is None:
            return f"{self._name}  {time.perf_counter() - self._since:.0f} s"
        return f"{self._name}  {self._search.line()}"


@contextmanager
def shown_stages() -> Iterator[Stages]:
    """Yield stages that are shown on standard error: live on a terminal, a line each elsewhere."""
    stages = Stages(live=sys.stderr.isatty())
    if not sys.stderr.isatty():
        yield stages
        return
    with redrawn(stages.line):
        yield stages
