"""Open bounds of hard networks: what each engine has proven when time is up.

    python -m benchmarks.open_bounds [--limits 5 10 25] [--engines …] [--only NAME] [--json out]

Networks between the cross-overs, which no engine closes in these times. Each (network,
engine) pair runs once, up to the largest limit of CPU seconds of this process, in a process
that has loaded its kernels; bound and value at a smaller limit are what had been reported
until then. With ``--json`` a killed run resumes where it was.
"""

from __future__ import annotations

import argparse
import json
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.certify.cases import Case, load_case
from benchmarks.certify.nets import default_folder, trained
from benchmarks.certify.train_nets import Recipe
from nnbo_mip.core.control import Progress
from nnbo_mip.exact.branching import phases
from nnbo_mip.exact.methods import METHODS
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.options import EngineOptions
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain

HARD = (
    Recipe("mlp", "levy", 6, 2, 64, seed=1),
    Recipe("mlp", "rosenbrock", 6, 3, 64),
    Recipe("mlp", "levy", 7, 2, 64),
    Recipe("ens5", "levy", 7, 2, 16),
    Recipe("rvfl", "ackley", 7, 1, 256),
    Recipe("nomu", "levy", 8, 2, 32),
    Recipe("mlp", "ackley", 8, 3, 32),
    Recipe("mlp", "rosenbrock", 10, 2, 64),
    Recipe("mlp", "levy", 10, 3, 64, seed=1),
    Recipe("ens5", "rosenbrock", 10, 2, 16),
    Recipe("rvfl", "levy", 10, 1, 256),
    Recipe("nomu", "ackley", 12, 2, 32, seed=1),
    Recipe("mlp", "rosenbrock", 15, 3, 32, seed=1),
    Recipe("mlp", "levy", 20, 2, 64),
    Recipe("mlp", "rosenbrock", 20, 2, 64, seed=1),
    Recipe("ens5", "levy", 20, 2, 16),
)

ENGINES = ("auto", "boxes", "phases", "mip")
GAP = 1e-4
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Snapshot:
    """What was known at some time: CPU seconds, value, and bound (None: no proof yet)."""

    seconds: float
    value: float
    bound: float | None


class Trace:
    """Snapshots of one search that is interrupted after `limit` CPU seconds."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.snapshots: list[Snapshot] = []
        self._started = time.process_time()

    def seconds(self) -> float:
        """CPU seconds since the start."""
        return time.process_time() - self._started

    def add(self, value: float, bound: float) -> None:
        """Record value and bound of now."""
        proven = bound if math.isfinite(bound) else None
        self.snapshots.append(Snapshot(self.seconds(), value, proven))

    def hear(self, progress: Progress) -> None:
        """Record what the engine reports."""
        self.add(progress.value, progress.bound)

    def watch(self, monitor: Monitor, done: threading.Event) -> None:
        """Interrupt the search when its CPU seconds are spent."""
        while not done.wait(POLL_SECONDS):
            if self.seconds() >= self.limit:
                monitor.interrupt()
                return


def run(case: Case, engine: str, limit: float) -> list[Snapshot]:
    """Run one engine on one network; return what it knew from time to time."""
    problem = Problem(case.network, Domain(case.lower, case.upper))
    trace, done = Trace(limit), threading.Event()
    monitor = Monitor(problem, GAP, callback=trace.hear)
    watcher = threading.Thread(target=trace.watch, args=(monitor, done))
    watcher.start()
    try:
        result = METHODS[engine](problem, EngineOptions(), monitor)
    finally:
        done.set()
        watcher.join()
    trace.add(monitor.best_value, min(result.bound, monitor.bound))
    return trace.snapshots


def warm_up() -> None:
    """Let every engine load its kernels and test its solver."""
    network = Network.from_layers([([[1.0], [2.0]], [0.5, -0.3]), ([[1.0, -1.0]], [0.0])])
    case = Case("warm-up", network, np.array([-1.0]), np.array([1.0]))
    for engine in ENGINES:
        run(case, engine, 10.0)
    phases.load_ascent_kernels()


def known_at(snapshots: Sequence[Snapshot], limit: float, last: bool) -> tuple[float, float]:
    """Return the best value and bound known after `limit` seconds; all, for the last limit."""
    known = [s for s in snapshots if last or s.seconds <= limit]
    value = max((s.value for s in known), default=-math.inf)
    return value, min((s.bound for s in known if s.bound is not None), default=math.inf)


class Store:
    """Traces by network and engine, and the file that keeps them."""

    def __init__(self, path: Path | None, limit: float) -> None:
        self.path, self.limit = path, limit
        stored = json.loads(path.read_text()) if path is not None and path.exists() else {}
        self.traces: dict[str, list[Snapshot]] = {
            key: [Snapshot(**snapshot) for snapshot in trace] for key, trace in stored.items()
        }

    def trace(self, case: Case, engine: str) -> list[Snapshot]:
        """Return the stored trace of a pair, or run it."""
        key = f"{case.network.fingerprint}/{engine}/{self.limit:g}"
        if key not in self.traces:
            self.traces[key] = run(case, engine, self.limit)
            if self.path is not None:
                data = {k: [asdict(s) for s in trace] for k, trace in self.traces.items()}
                self.path.write_text(json.dumps(data))
        return self.traces[key]


def table(
    traces: dict[tuple[str, str], list[Snapshot]], engines: Sequence[str], limits: Sequence[float]
) -> str:
    """Return the Markdown table: best value of all, and each engine's bound at each limit."""
    names = list(dict.fromkeys(name for name, _ in traces))
    lines = [
        "| network | value | seconds | " + " | ".join(engines) + " |",
        "| --- " * (3 + len(engines)) + "|",
    ]
    for name in names:
        best = max(s.value for engine in engines for s in traces[name, engine])
        for limit in limits:
            known = [
                known_at(traces[name, engine], limit, limit == limits[-1]) for engine in engines
            ]
            bounds = " | ".join("-" if math.isinf(b) else f"{b:.5g}" for _, b in known)
            first = f"| {name} | {best:.5g}" if limit == limits[0] else "| |"
            lines.append(f"{first} | {limit:g} | {bounds} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Run what is missing and print the table."""
    options = parser().parse_args(arguments)
    limits = sorted(options.limits)
    store = Store(options.json, limits[-1])
    warm_up()
    traces = {}
    for path in trained(default_folder(), HARD, options.only):
        case = load_case(path)
        for engine in options.engines:
            traces[case.name, engine] = trace = store.trace(case, engine)
            value, bound = known_at(trace, limits[-1], last=True)
            print(f"{case.name:28} {engine:8} value {value:.7g} bound {bound:.7g}", flush=True)
    print(table(traces, options.engines, limits))


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(prog="python -m benchmarks.open_bounds", description=__doc__)
    result.add_argument("--limits", type=float, nargs="+", default=[5.0, 10.0, 25.0])
    result.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    result.add_argument("--only", default="", help="networks whose names contain this")
    result.add_argument("--json", type=Path, help="keep the traces here, and resume from here")
    return result


if __name__ == "__main__":
    main()
