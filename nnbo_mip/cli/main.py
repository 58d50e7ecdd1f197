"""The door of the command ``nnbo-mip``: Ctrl-C gets an answer before anything is loaded."""

from __future__ import annotations

import os
import signal
from types import FrameType

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave_at_once)
    from nnbo_mip.cli.app import app

    app()


def leave_at_once(_number: int, _frame: FrameType | None) -> None:
    """End the process with a sentence: an exception in the middle of an import does harm."""
    os.write(2, b"nnbo-mip: interrupted before the work began; nothing was computed.\n")
    os._exit(INTERRUPTED)


def loading_is_done() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from now on, as Python does."""
    if signal.getsignal(signal.SIGINT) is leave_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)
