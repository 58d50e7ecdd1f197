"""A line that shows how a search is doing: live on a terminal, now and then elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from nnbo_mip.exact.monitor import Progress, ProgressCallback

PLAIN_INTERVAL = 5.0
"""Seconds between two lines where the output is no terminal."""


def describe(progress: Progress, *, maximize: bool) -> str:
    """Return a line with value, bound, gap, work and time left, in the user's direction."""
    sign = 1.0 if maximize else -1.0
    gap = progress.bound - progress.value
    relative = gap / max(1.0, abs(progress.value)) if math.isfinite(gap) else math.inf
    parts = [
        f"{progress.engine:<7}",
        f"value {_number(sign * progress.value)}",
        f"bound {_number(sign * progress.bound)}",
        f"gap {relative:.1e}" if math.isfinite(relative) else "gap open",
        *_work(progress.counters),
        f"{progress.seconds:.0f} s",
    ]
    if math.isfinite(progress.remaining):
        parts.append(f"{progress.remaining:.0f} s left")
    return "  ".join(parts)


def _number(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "none"


def _work(counters: Mapping[str, int]) -> list[str]:
    return [f"{count:,} {name.replace('_', ' ')}" for name, count in counters.items()]


@contextmanager
def live_line(*, maximize: bool) -> Iterator[ProgressCallback]:
    """Yield a callback that shows the progress on standard error."""
    if not sys.stderr.isatty():
        yield _plain_lines(maximize=maximize)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True)
    with Live(console=console, transient=True, auto_refresh=False) as live:

        def show(progress: Progress) -> None:
            line = Text(describe(progress, maximize=maximize), no_wrap=True, overflow="ellipsis")
            live.update(line, refresh=True)

        yield show


def _plain_lines(*, maximize: bool) -> ProgressCallback:
    last = -math.inf

    def show(progress: Progress) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= PLAIN_INTERVAL:
            last = now
            print(describe(progress, maximize=maximize), file=sys.stderr, flush=True)

    return show
