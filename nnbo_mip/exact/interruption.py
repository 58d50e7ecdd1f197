"""Ctrl-C asks a search for what it has; a second one stops it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from nnbo_mip.exact.monitor import Monitor


@contextmanager
def interruptible(monitor: Monitor) -> Iterator[None]:
    """Turn the first SIGINT into ``monitor.interrupt()``; the next one is an exception again.

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
        monitor.interrupt()

    signal.signal(signal.SIGINT, ask_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
