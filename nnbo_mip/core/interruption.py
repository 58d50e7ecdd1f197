"""Ctrl-C asks a search for what it has; a second one stops it at once.

While a compiler works, it waits.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

MOST_HELD = 2
"""Interrupts that are passed on after they were held back: one asks, the next one stops."""


@contextmanager
def interruptible(interrupt: Callable[[], object]) -> Iterator[None]:
    """Turn the first SIGINT into a call of `interrupt`; the next one is an exception again.

    Python hands signals to the main thread only, so that in other threads nothing changes.
    The handler that was there before is put back at the end.
    """
    before = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or before is not signal.default_int_handler:
        # Somebody else handles Ctrl-C (an IDE, a server): it is theirs.
        yield
        return

    def ask_once(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupt()

    signal.signal(signal.SIGINT, ask_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def held() -> Iterator[None]:
    """Answer Ctrl-C after the block instead of within it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield  # signals are not answered in this thread, or not by Python
        return
    pressed = 0

    def remember(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        pressed += 1

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for _ in range(min(pressed, MOST_HELD)):
            signal.raise_signal(signal.SIGINT)
