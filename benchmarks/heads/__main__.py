"""Acquisitions, maximized exactly: what is certified in what time, and what heuristics miss.

    python -m benchmarks.heads [--parts cells misses] [--seeds 2] [--json out.json]

`cells`: every head on every family at two inputs, and the figures for five inputs and Bayesian
RVFLs; CPU seconds, the fit not counted. `misses`: how often heuristic maximizers miss the
certified optimum by more than 1e-3 of it, on the same kind of beliefs; see `head_misses`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nnbo_mip as nm
from benchmarks.heads import cells as head_cells
from benchmarks.heads import misses as head_misses

PARTS = ("cells", "misses")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print tables and verdicts."""
    options = parser().parse_args(arguments)
    stored = _Store(options.json)
    nm.certify(nm.Network.from_layers([([[1.0]], [0.0])]), [(0.0, 1.0)])  # loads the kernels
    if "cells" in options.parts:
        print("\n".join(_cells(stored, options.seeds, options.wall_factor)))
    if "misses" in options.parts:
        print("\n".join(_misses(stored, options.miss_seeds, options.limit)))
    return 0


def _cells(stored: _Store, seeds: int, wall_factor: float) -> list[str]:
    tables, verdicts = [], []
    for aim in head_cells.AIMS:
        key = f"cells {aim.label} {seeds}"
        rows = stored.get(key)
        found = [head_cells.Run(**row) for row in rows or ()]
        if rows is None:
            for run in head_cells.runs(aim, seeds, wall_factor):
                print(run, flush=True)
                found.append(run)
            stored.put(key, [asdict(run) for run in found])
        tables.append(f"\n{aim.label}\n\n{head_cells.cells(found)}\n")
        verdicts.append(head_cells.verdict(aim, found))
    return [*tables, *verdicts]


def _misses(stored: _Store, seeds: int, limit: float) -> list[str]:
    found = []
    for job in head_misses.jobs(seeds):
        key = f"misses {job} {limit:g}"
        row = stored.get(key)
        outcome = head_misses.Outcome(**row) if row else head_misses.measure(job, limit)
        if not row:
            print(outcome, flush=True)
            stored.put(key, asdict(outcome))
        found.append(outcome)
    return [head_misses.table(found)]


class _Store:
    """Results by key, in a JSON file if there is one, so that a killed run resumes."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._rows: dict[str, Any] = {}
        if path is not None and path.exists():
            self._rows = json.loads(path.read_text())

    def get(self, key: str) -> Any:
        return self._rows.get(key)

    def put(self, key: str, value: Any) -> None:
        self._rows[key] = value
        if self._path is not None:
            self._path.write_text(json.dumps(self._rows, indent=1))


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(prog="python -m benchmarks.heads", description=__doc__)
    result.add_argument("--parts", nargs="*", default=list(PARTS), choices=PARTS)
    result.add_argument("--seeds", type=int, default=2, help="beliefs a function, for the cells")
    result.add_argument("--miss-seeds", type=int, default=3, help="for the misses")
    result.add_argument("--limit", type=float, default=60.0, help="wall seconds to certify")
    result.add_argument(
        "--wall-factor",
        type=float,
        default=1.0,
        help="wall seconds a second; more on busy machines",
    )
    result.add_argument("--json", type=Path, help="keep the rows here, and resume from here")
    return result


if __name__ == "__main__":
    raise SystemExit(main())
