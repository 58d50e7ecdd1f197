"""Largest memory and overshoot of searches on problems that are too large for them.

    python -m benchmarks.limits [--cases phases elm gp …] [--time-limit 3] [--memory-limit 2]

Each case runs in a process of its own: small first, so that kernels are loaded, then large. Limits
of time are kept by the CPU clock, so that a busy machine changes nothing. Prints a table: what the
search took beyond its limit, and the most memory that it held beyond what was there before it.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.core.control import kept_by
from nnbo_mip.exact.branching.phases import load_ascent_kernels

ADDRESSES = 12 << 30
"""Bytes that a process may address at most, so that a fault ends it and not the machine."""


@dataclass(frozen=True)
class Case:
    """A search.

    Parameters
    ----------
    make : callable
        Of a size; returns the search, a function of both limits, and prepares what is searched.
    small, large : int
    """

    make: Callable[[int], Callable[..., Any]]
    small: int
    large: int


def _network(method: str, depth: int, d: int, width: int) -> Callable[..., Any]:
    rng = np.random.default_rng(0)
    widths = [d, *[width] * depth, 1]
    layers = [(rng.normal(size=(b, a)) / a**0.5, rng.normal(size=b)) for a, b in pairwise(widths)]
    net = nm.Network.from_layers(layers)
    return partial(nm.certify, net, [(-1.0, 1.0)] * d, method=method)


def _belief(family: str, option: str, size: int) -> Callable[..., Any]:
    rng = np.random.default_rng(0)
    points = size if option == "points" else 8
    X = rng.uniform(-1.0, 1.0, (points, 3))
    y = np.sin(3.0 * X.sum(axis=1)) + 0.1 * rng.normal(size=points)
    options = {"n_restarts": 0} if family == "gp" else {option: size, "n_hidden": 3}
    belief = nm.surrogates.create(family, **options).fit(X, y)
    domain = nm.Space.box([-1.0] * 3, [1.0] * 3).model()
    return partial(nm.maximize, belief, "ei", domain, y=y)


CASES: Mapping[str, Case] = {
    "phases, 1200 ReLUs": Case(partial(_network, "phases", 1, 5), 20, 1200),
    "phases, 3000 ReLUs": Case(partial(_network, "phases", 1, 5), 20, 3000),
    "phases, 20 000 ReLUs": Case(partial(_network, "phases", 1, 5), 20, 20_000),
    "boxes, 20 000 ReLUs": Case(partial(_network, "boxes", 1, 5), 20, 20_000),
    "boxes, 3 x 1000 ReLUs": Case(partial(_network, "boxes", 3, 5), 100, 1000),
    "auto, 20 000 ReLUs": Case(partial(_network, "auto", 1, 5), 20, 20_000),
    "auto, 3 x 1000 ReLUs": Case(partial(_network, "auto", 3, 12), 100, 1000),
    "enumerate, 3000 ReLUs": Case(partial(_network, "enumerate", 1, 2), 20, 3000),
    "mip, 3000 ReLUs": Case(partial(_network, "mip", 1, 5), 20, 3000),
    "elm, 3000 members": Case(partial(_belief, "elm", "n_members"), 5, 3000),
    "elm, 10 000 members": Case(partial(_belief, "elm", "n_members"), 5, 10_000),
    "gp, 2000 points": Case(partial(_belief, "gp", "points"), 20, 2000),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the cases and print the table."""
    options = parser().parse_args(arguments)
    if options.one:
        print(json.dumps(measured(options.one, options.time_limit, options.memory_limit)))
        return 0
    chosen = [name for name in CASES if any(name.startswith(one) for one in options.cases)]
    print("| search | status | overshoot, CPU s | memory, MB | message |\n|---|---|---|---|---|")
    for name in chosen or list(CASES):
        limits = (f"--time-limit={options.time_limit}", f"--memory-limit={options.memory_limit}")
        command = [sys.executable, "-m", "benchmarks.limits", "--one", name, *limits]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        ended = ["ended", "", "", f"exit code {done.returncode}"]
        said = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else ended
        print(f"| {name} | {' | '.join(said)} |", flush=True)
    return 0


def measured(name: str, time_limit: float, memory_limit: float) -> tuple[str, ...]:
    """Return status, overshoot, memory and message of a case; for a fresh process."""
    warnings.simplefilter("ignore")
    case = CASES[name]
    limits = {"time_limit": time_limit, "memory_limit": memory_limit}
    search = case.make(case.large)
    load_ascent_kernels()
    with kept_by(time.process_time):
        case.make(case.small)(**limits)  # loads kernels
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, -1))
        Path("/proc/self/clear_refs").write_text("5")  # the most that was held is what is held now
        before, began = _most_held(), time.process_time()
        try:
            found = search(**limits)
            status, message = found.status, found.message
        except MemoryError as error:
            status, message = "MemoryError", str(error)
        spent = time.process_time() - began
    over = max(0.0, spent - time_limit)
    return status, f"{over:.1f}", f"{_most_held() - before:.0f}", message.replace("|", "/")


def _most_held() -> float:
    """Return the most megabytes that this process has held; Linux says."""
    held = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    return float(held[1]) / 1024 if held else 0.0


def parser() -> argparse.ArgumentParser:
    """Return the options of the command."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.limits")
    made.add_argument("--cases", nargs="+", default=[""], help="beginnings of their names")
    made.add_argument("--one", help=argparse.SUPPRESS)
    made.add_argument("--time-limit", type=float, default=3.0)
    made.add_argument("--memory-limit", type=float, default=2.0)
    return made


if __name__ == "__main__":
    sys.exit(main())
