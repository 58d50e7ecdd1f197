"""The process in which one unit runs (see `benchmarks.regret.runs`).

    python -m benchmarks.regret.worker <file> <unit as JSON>

Appends a JSON line to the file for the starts and for every evaluation after them, so that what
was done survives a hard kill.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regret.unit import Unit, task_of
from nnbo_mip.core.arrays import FloatArray

Report = Callable[[Mapping[str, Any]], object]


def main() -> None:
    """Run the unit in argv[2] and report to the file argv[1]."""
    unit = Unit(**json.loads(sys.argv[2]))
    parent = os.getppid()
    with Path(sys.argv[1]).open("a", buffering=1) as events:

        def report(event: Mapping[str, Any]) -> None:
            if os.getppid() != parent:
                raise SystemExit("the benchmark that started this process has ended")
            events.write(json.dumps(event, allow_nan=False) + "\n")

        try:
            run(unit, report)
        except Exception as error:
            report({"error": f"{type(error).__name__}: {error}"})
            raise


def run(unit: Unit, report: Report) -> None:
    """Give the method its task, and evaluate what it asks for."""
    task = task_of(unit)
    report({"x": task.X.tolist(), "y": task.y.tolist(), "steps": []})
    begin = importlib.import_module(unit.runner).begin
    started = time.perf_counter()
    loop = begin(task, **unit.options)
    spent = time.perf_counter() - started  # telling the starts is part of the first step
    for _ in range(unit.evaluations - len(task.X)):
        started = time.perf_counter()
        x, facts = loop.ask()
        spent += time.perf_counter() - started
        inside = np.clip(np.asarray(x, dtype=float), task.lower, task.upper)
        _check_close(x, inside, task.upper - task.lower)
        y = float(task.problem.sign * task.problem.truth(inside)[0])
        started = time.perf_counter()
        loop.tell(y)
        spent += time.perf_counter() - started
        step = {"wall": spent, **facts}
        report({"x": [inside.tolist()], "y": [y], "steps": [_plain(step)]})
        spent = 0.0


def _check_close(x: FloatArray, inside: FloatArray, widths: FloatArray) -> None:
    """Refuse a point outside the box by more than rounding."""
    if not np.all(np.abs(x - inside) <= 1e-9 * widths):
        raise ValueError(f"a method must ask for points of the box; got {np.asarray(x).tolist()}")


def _plain(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return a step with None for what is not finite."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in step.items()
    }


if __name__ == "__main__":
    main()
