"""CPU time and peak memory of calls made in a process of their own.

One process a (network, entrant) pair: it prepares the entrant, calls it once to warm up
and then `repeats` times, and appends a JSON line a call to a file, so that what was
finished survives a hard kill. Time is CPU time of the process and its children; memory is
the largest resident set of the process, or of its largest child, since it started.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)

POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Job:
    """One pair to measure.

    Parameters
    ----------
    network : str
        Path of the stored network.
    entrant : str
        Name of the engine or peer.
    gap : float
        Absolute and relative gap.
    limit : float
        CPU seconds after which a call counts as a time-out.
    wall_limit : float
        Wall seconds that the entrant is told; `limit` on an idle machine.
    repeats : int
        Timed calls after the one that warms up.
    """

    network: str
    entrant: str
    gap: float
    limit: float
    wall_limit: float
    repeats: int


def cpu_seconds() -> float:
    """CPU seconds of this process and of its children that have ended."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def peak_megabytes() -> float:
    """Largest resident set of this process or of its largest child, in MB of 10^6 bytes."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(_own_peak_kilobytes(), children) * 1024 / 1e6


def _own_peak_kilobytes() -> int:
    # Linux carries ru_maxrss over from the process that forked this one; VmHWM starts anew.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return own // 1024 if sys.platform == "darwin" else own


def run(job: Job) -> list[dict[str, Any]]:
    """Measure one pair in a fresh process; return what it reported, a dict an event.

    The process is killed when one call takes three times `wall_limit` and half a minute more;
    a last event ``{"event": "killed"}`` says so.
    """
    patience = 3.0 * job.wall_limit + 30.0
    with tempfile.TemporaryDirectory() as folder:
        events_path = Path(folder) / "events.jsonl"
        events_path.touch()
        log_path = Path(folder) / "log.txt"
        with log_path.open("w") as log:
            arguments = [str(events_path), json.dumps(vars(job))]
            process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.certify.worker", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
                start_new_session=True,
            )
            try:
                killed = not _finished(process, events_path, patience)
            finally:
                _kill(process)
        events = [json.loads(line) for line in events_path.read_text().splitlines()]
        if killed:
            events.append({"event": "killed"})
        elif process.returncode != 0 and not any(e["event"] == "error" for e in events):
            tail = log_path.read_text()[-2000:]
            events.append({"event": "error", "message": f"exit {process.returncode}: {tail}"})
        return events


def _finished(process: subprocess.Popen[bytes], events_path: Path, patience: float) -> bool:
    """Wait for the process; give up when nothing is reported for `patience` seconds."""
    size, since = -1, time.monotonic()
    while process.poll() is None:
        now_size = events_path.stat().st_size
        if now_size != size:
            size, since = now_size, time.monotonic()
        if time.monotonic() - since > patience:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and the children it started (they share its session)."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
