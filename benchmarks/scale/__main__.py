"""Does the lab scale? Many short units here and on Dask, and a store of a million rows.

    python -m benchmarks.scale [--units 10000] [--rows 1000000] [--parts local dask store]

Begin in the folder of the repository, where units find `benchmarks.scale.problem`. Each part is a
process of its own, whose largest resident set is the runner's or the reader's. On a busy machine
wall times say little: CPU seconds are printed beside them.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.scale.store import store_part
from benchmarks.scale.units import dask_part, local_part

PARTS = ("local", "dask", "store")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a line a target, and return 1 if one was missed."""
    options = parser().parse_args(arguments)
    if options.one:
        print(json.dumps(measured(options)))
        return 0
    missed = 0
    for part in options.parts:
        figures = in_a_process(part, options)
        for line, held in lines_of(part, figures):
            missed += not held
            print(f"{'held  ' if held else 'MISSED'}  {line}", flush=True)
        print(f"        {json.dumps(figures)}", flush=True)
    return int(missed > 0)


def in_a_process(part: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of a part, run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--one", part]
    command += ["--units", str(options.units), "--rows", str(options.rows)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of one part, with the memory and the time of this process."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.db"
        if options.one == "local":
            figures = local_part(path, options.units)
        elif options.one == "dask":
            figures = dask_part(path, options.units)
        else:
            figures = store_part(path, options.rows)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        **figures,
        "memory_mb": round(usage.ru_maxrss / 1024.0, 1),
        "part_seconds": round(time.perf_counter() - started, 1),
    }


def lines_of(part: str, figures: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return the targets of a part, and whether they were met."""
    memory = figures["memory_mb"]
    if part == "store":
        seconds = figures["report_seconds"]
        said = f"a report's queries over {figures['rows']} rows: {seconds} s (under 5)"
        return [(said, seconds < 5.0)]
    lines = [(f"{part}: memory of the runner {memory} MB (under 500)", memory < 500.0)]
    counted = f"{part}: {figures['finished']} of {figures['units']} units finished"
    lines.append((counted, figures["finished"] == figures["units"]))
    if part == "local":
        overhead = figures["overhead_ms"]
        lines.append((f"local: overhead of a unit {overhead} ms (under 5)", overhead < 5.0))
    else:
        efficiency = figures["efficiency"]
        lines.append((f"dask: efficiency {efficiency:.1%} (at least 85 %)", efficiency >= 0.85))
    return lines


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    made.add_argument("--units", type=int, default=10_000, help="of 50 ms each")
    made.add_argument("--rows", type=int, default=1_000_000, help="observations in the store")
    made.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    made.add_argument("--one", choices=PARTS, help=argparse.SUPPRESS)
    return made


if __name__ == "__main__":
    sys.exit(main())
