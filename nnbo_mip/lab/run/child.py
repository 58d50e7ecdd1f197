"""The process in which units are run, one after another.

    python -P -m nnbo_mip.lab.run.child

A line of standard input is a unit; its answer is a line of what was standard output at the start.
What anything prints goes to standard error. When standard input ends, whatever is being
computed, the process ends with all of its own children: so units do not outlive who asked for
them. A process without work ends by itself.
"""

from __future__ import annotations

import faulthandler
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from typing import Any

IDLE_SECONDS = 60.0
"""After which a process without work ends."""

IDLE = 75
"""The exit code that says so."""


def main() -> None:
    """Answer units until there are no more."""
    faulthandler.enable()
    # Solvers and libraries print to descriptor 1; answers have one of their own.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    units: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(units,), daemon=True).start()

    def say(line: dict[str, Any]) -> None:
        answers.write(json.dumps(line) + "\n")
        answers.flush()

    from nnbo_mip.lab.plan.environment import environment

    say({"environment": environment()})
    while True:
        try:
            text = units.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            os._exit(IDLE)
        say(_answer(text))


def _answer(text: str) -> dict[str, Any]:
    from nnbo_mip.lab.plan.unit import Unit

    started, since = time.time(), time.perf_counter()
    line: dict[str, Any] = {"outcome": "finished", "message": "", "result": None}
    try:
        from nnbo_mip.lab.run.unit_run import run_unit

        line["result"] = run_unit(Unit.from_text(text))
    except BaseException:
        line |= {"outcome": "error", "message": traceback.format_exc()}
    return {**line, "started": started, "seconds": time.perf_counter() - since}


def _receive(units: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        units.put(line)
    os.killpg(0, signal.SIGKILL)  # this process leads its group


if __name__ == "__main__":
    main()
