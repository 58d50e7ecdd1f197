"""One life of a run whose journal is put to the test; see `durability`.

    python -m benchmarks.durability.run <kind> <journal> <log> <seed>

The log says what this process knows to have happened: a line ``told <x> <y>`` is written after
`tell` has returned, and not before.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.loop.record.journal import Journal

FUNCTION = nm.problems.create("branin")
BOUNDS = [(-5.0, 10.0), (0.0, 15.0)]


@dataclass(frozen=True)
class Kind:
    """A way of using a journal.

    Parameters
    ----------
    tells : int
        After how many the run is complete.
    in_flight : int
        Points that are pending at a time; 0 for a process that tells and never asks.
    writers : int
        Processes at work on one journal.
    maximizer : str
    """

    tells: int
    in_flight: int = 1
    writers: int = 1
    maximizer: str = "random:evaluations=256"


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "one in flight": Kind(tells=30),
        "three in flight": Kind(tells=24, in_flight=3),
        "certified": Kind(tells=10, maximizer="bab"),
        "tells only": Kind(tells=200, in_flight=0),
        "two writers": Kind(tells=200, in_flight=0, writers=2),
    }
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Live until the run is complete, or until killed."""
    name, journal, log, seed = arguments or sys.argv[1:]
    kind = KINDS[name]
    optimizer = opened(kind, Path(journal), int(seed))
    with open(log, "ab", buffering=0) as stream:
        if kind.in_flight:
            _ask_and_tell(optimizer, kind, stream)
        else:
            _tell(optimizer, kind, stream)
    return 0


def opened(kind: Kind, journal: Path, seed: int) -> nm.BayesianOptimizer:
    """Continue the run of a journal, or begin it."""
    try:
        if not Journal.holds_a_run(journal):
            return nm.BayesianOptimizer(
                BOUNDS,
                "brvfl:n_hidden=12",
                "ei",
                kind.maximizer,
                initial=5,
                scaling="mean_width",
                seed=seed,
                time_limit=600.0,
                journal=journal,
            )
    except nm.InputError:
        pass  # the other writer was first
    return nm.BayesianOptimizer.open(journal)


def _ask_and_tell(optimizer: nm.BayesianOptimizer, kind: Kind, stream: Any) -> None:
    flying: list[nm.Suggestion] = []
    while len(optimizer.history) < kind.tells:
        while len(flying) < kind.in_flight:
            flying.append(optimizer.ask())
        _told(optimizer, flying.pop(0).x, stream)


def _tell(optimizer: nm.BayesianOptimizer, kind: Kind, stream: Any) -> None:
    while len(optimizer.history) < kind.tells:
        rng = np.random.default_rng([len(optimizer.history), os.getpid()])
        _told(optimizer, np.array([rng.uniform(*side) for side in BOUNDS]), stream)


def _told(optimizer: nm.BayesianOptimizer, x: Any, stream: Any) -> None:
    y = float(FUNCTION(x))
    optimizer.tell(x, y)
    stream.write(f"told {json.dumps([*x.tolist(), y])}\n".encode())
    os.fsync(stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
