"""A line that shows how a search is doing: live on a terminal, now and then elsewhere."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from nnbo_mip.core.control import Progress, ProgressCallback

PLAIN_INTERVAL = 5.0
"""Seconds between two lines where the output is no terminal."""

PART = 1.0 / 12.0
"""Of the time that passed: lines of a long run become rarer, so that an hour has some sixty."""

REDRAWN_PER_SECOND = 4
"""How often the line on a terminal is redrawn, so that its clock moves."""


def pause(passed: float) -> float:
    """Return the seconds until the next line of something that began so many seconds ago."""
    return max(PLAIN_INTERVAL, PART * passed)


def in_notebook() -> bool:
    """Whether a notebook runs this: what is printed there stays, but a line can be rewritten."""
    shell = sys.modules.get("IPython")
    kernel = None if shell is None else shell.get_ipython()
    return type(kernel).__name__ == "ZMQInteractiveShell"


def describe(progress: Progress, *, maximize: bool) -> str:
    """Return a line with value, bound, gap, time left and work, in the user's direction."""
    if progress.note:
        return f"{progress.note}  {progress.seconds:.0f} s"
    sign = 1.0 if maximize else -1.0
    parts = [
        f"{progress.engine:<7}",
        f"value {_number(sign * progress.value)}",
        f"bound {_number(sign * progress.bound)}",
        f"absolute gap {progress.gap:.3g}" if math.isfinite(progress.gap) else "gap open",
        f"{progress.seconds:.0f} s",
        *([f"{progress.remaining:.0f} s left"] if math.isfinite(progress.remaining) else []),
        *_work(progress.counters),  # last: a narrow terminal cuts the end off
    ]
    return "  ".join(parts)


def _number(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "none"


def _work(counters: Mapping[str, int]) -> list[str]:
    return [f"{count:,} {name.replace('_', ' ')}" for name, count in counters.items()]


class Ticking:
    """The last progress, whose clock goes on between two reports.

    Parameters
    ----------
    maximize : bool
    """

    def __init__(self, *, maximize: bool) -> None:
        self._maximize = maximize
        self._received = time.perf_counter()
        self._progress = Progress("", -math.inf, math.inf, 0.0, math.inf, note="starting")

    def receive(self, progress: Progress) -> None:
        """Take the place of what was shown."""
        self._received = time.perf_counter()
        # The time limit does not count what is noted, but a clock that stands looks hung.
        self._progress = replace(progress, seconds=0.0) if progress.note else progress

    def print_if_noted(self) -> None:
        """Print the line while something else than a search goes on, which reports itself."""
        progress = self._progress
        if progress.note and time.perf_counter() - self._received >= PLAIN_INTERVAL:
            print(self.line(), file=sys.stderr, flush=True)

    def line(self) -> str:
        """Return the line as of now."""
        waited = time.perf_counter() - self._received
        now = replace(
            self._progress,
            seconds=self._progress.seconds + waited,
            remaining=max(0.0, self._progress.remaining - waited),
        )
        return describe(now, maximize=self._maximize)


@contextmanager
def live_line(*, maximize: bool) -> Iterator[ProgressCallback]:
    """Yield a callback that shows the progress on standard error."""
    ticking = Ticking(maximize=maximize)
    if not sys.stderr.isatty() and not in_notebook():
        show = plain_lines(maximize=maximize)

        def receive(progress: Progress) -> None:
            ticking.receive(progress)
            show(progress)

        with now_and_then(ticking.print_if_noted):
            yield receive
        return
    with redrawn(ticking.line):
        yield ticking.receive


@contextmanager
def now_and_then(act: Callable[[], None]) -> Iterator[None]:
    """Call something every few seconds while the block runs, whatever it is at."""
    is_over = threading.Event()

    def work() -> None:
        while not is_over.wait(PLAIN_INTERVAL):
            act()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@contextmanager
def redrawn(line: Callable[[], str]) -> Iterator[None]:
    """Show what `line` returns on the terminal of standard error, again and again.

    In a notebook one line is rewritten, and gone in the end.
    """
    if in_notebook():
        with _rewritten(line):
            yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(
        console=Console(stderr=True),
        get_renderable=lambda: Text(line(), no_wrap=True, overflow="ellipsis"),
        refresh_per_second=REDRAWN_PER_SECOND,
        transient=True,
    ):
        yield


@contextmanager
def _rewritten(line: Callable[[], str]) -> Iterator[None]:
    is_over = threading.Event()
    shown = 0

    def write(text: str) -> None:
        nonlocal shown
        sys.stderr.write(f"\r{text.ljust(shown)}")
        sys.stderr.flush()
        shown = len(text)

    def work() -> None:
        while not is_over.wait(1.0 / REDRAWN_PER_SECOND):
            write(line())

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        write("")
        sys.stderr.write("\r")
        sys.stderr.flush()


def plain_lines(*, maximize: bool, at_once: bool = True) -> ProgressCallback:
    """Return a callback that prints a line every few seconds, and every note.

    Parameters
    ----------
    maximize : bool
    at_once : bool
        Whether the first line comes at once, and not after these few seconds.
    """
    started = time.perf_counter()
    last = -math.inf if at_once else started

    def show(progress: Progress) -> None:
        nonlocal last
        now = time.perf_counter()
        if progress.note or now - last >= pause(now - started):
            last = -math.inf if progress.note else now
            print(describe(progress, maximize=maximize), file=sys.stderr, flush=True)

    return show
