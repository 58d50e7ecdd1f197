"""Runs units, each in a process of its own with one thread, into a store.

What the store has is not run again. A step that takes longer than the patience ends its process
and the run counts with what was evaluated until then.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.certify.measure import THREAD_VARIABLES
from benchmarks.regret.store import Run, Store
from benchmarks.regret.unit import Unit

PATIENCE = 300.0
"""Wall seconds that a step may take, whatever a method was told."""

START_SECONDS = 120.0
"""Wall seconds that a process may take, beyond the patience, until it has evaluated the starts."""

POLL_SECONDS = 0.1

LOG_LENGTH = 2000
"""Characters of what a failed process printed that are kept."""


def run_missing(
    units: Sequence[Unit],
    store: Store,
    jobs: int = 1,
    patience: float = PATIENCE,
    say: Callable[[str], object] = print,
) -> dict[str, Run]:
    """Run what the store does not have, and return the runs of all units by their keys.

    Parameters
    ----------
    units : sequence of Unit
        In the order in which they are begun.
    store : Store
    jobs : int
        Processes at a time.
    patience : float
        Wall seconds that a step may take.
    say : callable
        Receives a line for each run that ended.
    """
    known = store.read()
    missing = [unit for unit in units if unit.key not in known or not known[unit.key].is_done]
    say(f"{len(units)} runs, {len(units) - len(missing)} of them in the store")
    code, stop = commit(), threading.Event()

    def one(unit: Unit) -> tuple[Run, float]:
        started = time.perf_counter()
        run = run_unit(unit, patience, code, stop)
        if not stop.is_set():
            store.add(run)
        return run, time.perf_counter() - started

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(one, unit) for unit in missing]
        try:
            for number, future in enumerate(as_completed(futures), 1):
                run, seconds = future.result()
                known[run.unit.key] = run
                best = f"best {min(run.y):.6g}" if run.y else "no value"
                ended = f"{run.status}{': ' + run.message if run.message else ''}"
                say(f"{number}/{len(missing)} {run.unit.label}: {ended}, {best}, {seconds:.0f} s")
        finally:
            stop.set()
            for future in futures:
                future.cancel()
    return {unit.key: known[unit.key] for unit in units}


def run_unit(
    unit: Unit, patience: float = PATIENCE, code: str = "", stop: threading.Event | None = None
) -> Run:
    """Run one unit in a process of its own."""
    stop = stop or threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        events, log = Path(folder) / "events.jsonl", Path(folder) / "log.txt"
        events.touch()
        with log.open("w") as stream:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "benchmarks.regret.worker",
                    str(events),
                    json.dumps(asdict(unit)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
                cwd=Path(__file__).parents[2],
                start_new_session=True,
            )
            try:
                in_time = _wait(process, events, patience, stop)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        facts: dict[str, Any] = {"x": [], "y": [], "steps": []}
        message = ""
        for line in events.read_text().splitlines(keepends=True):
            if line.endswith("\n"):  # the last one may be torn
                event = json.loads(line)
                message = event.pop("error", message)
                for name, more in event.items():
                    facts[name] += more
        if not in_time:
            return Run(unit, "time-out", f"a step took over {patience:g} s", **facts, code=code)
        if process.returncode != 0:
            said = message or f"exit {process.returncode}: {log.read_text()[-LOG_LENGTH:]}"
            return Run(unit, "error", said, **facts, code=code)
        return Run(unit, "finished", **facts, code=code)


def _wait(
    process: subprocess.Popen[bytes], events: Path, patience: float, stop: threading.Event
) -> bool:
    """Wait for the end, but not longer than `patience` for an event."""
    size, since = 0, time.monotonic() + START_SECONDS
    while process.poll() is None and not stop.is_set():
        if events.stat().st_size != size:
            size, since = events.stat().st_size, time.monotonic()
        if time.monotonic() - since > patience:
            return False
        time.sleep(POLL_SECONDS)
    return True


def commit() -> str:
    """Return the commit of the working tree, with ``+`` where files differ from it."""
    here = Path(__file__).parent
    try:
        said = [
            subprocess.run(command, cwd=here, check=True, capture_output=True, text=True).stdout
            for command in (
                ["git", "rev-parse", "--short=12", "HEAD"],
                ["git", "status", "--porcelain", "--", "../../nnbo_mip"],
            )
        ]
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said[0].strip() + ("+" if said[1].strip() else "")
