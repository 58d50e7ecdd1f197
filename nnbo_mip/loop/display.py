"""A line that shows how a run is doing: live on a terminal, now and then elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from nnbo_mip.core.control import Progress
from nnbo_mip.core.live import in_notebook, now_and_then, pause, redrawn
from nnbo_mip.loop.record.events import Observation


class Display:
    """What is shown of a run.

    Parameters
    ----------
    done, total : int
        Evaluations that were made, and that are wanted.
    best : float
        Best value so far; NaN without one.
    """

    def __init__(self, done: int, total: int, best: float) -> None:
        self._done, self._total, self._best = done, total, best
        self._before = done
        self._phase = "starting"
        self._last = ""
        self._started = self._since = time.perf_counter()
        self._next_print = math.inf

    def print_now_and_then(self) -> None:
        """Print a line every few seconds, where the output is no terminal."""
        self._next_print = -math.inf

    def phase(self, name: str) -> None:
        """Say what is being done from now on."""
        if name != self._phase:
            self._phase, self._since = name, time.perf_counter()
        self.print_if_due()

    def searching(self, progress: Progress) -> None:
        """Show what an ask is at: a fit that runs, or the search for a point."""
        self.phase(progress.note or "looking for the next point")

    def print_if_due(self) -> None:
        """Print a line where none was printed for a while, and the output is no terminal."""
        now = time.perf_counter()
        if now >= self._next_print:
            self._next_print = now + pause(now - self._started)
            print(self.line(), file=sys.stderr, flush=True)

    def told(self, observation: Observation, done: int, best: float) -> None:
        """Show an evaluation, how many there are by now, and the best value of all."""
        self._done, self._best = done, best
        self._last = "failed" if observation.y is None else f"{observation.y:.6g}"
        step = observation.suggestion
        if step is not None and not step.is_initial:
            gap = f" gap {step.gap:.2g}" if math.isfinite(step.bound) else ""
            self._last += f" ({step.status}{gap})"

    def line(self) -> str:
        """Return the line as of now."""
        now = time.perf_counter()
        parts = [f"{self._done}/{self._total}", f"{self._phase} {now - self._since:.0f} s"]
        if not math.isnan(self._best):
            parts.append(f"best {self._best:.6g}")
        if self._last:
            parts.append(f"last {self._last}")
        made = self._done - self._before
        if made:
            left = (now - self._started) / made * (self._total - self._done)
            parts.append(f"{left:.0f} s left")
        return "  ".join(parts)


@contextmanager
def displayed(display: Display, progress: bool | None) -> Iterator[bool]:
    """Show a display on standard error while the block runs; yield whether it is shown.

    Parameters
    ----------
    display : Display
    progress : bool or None
        None shows it on a terminal and in a notebook only.
    """
    on_terminal = sys.stderr.isatty() or in_notebook()
    if progress is False or (progress is None and not on_terminal):
        yield False
    elif on_terminal:
        with redrawn(display.line):
            yield True
    else:
        display.print_now_and_then()
        with now_and_then(display.print_if_due):
            yield True
