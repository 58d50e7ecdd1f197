"""A store of many rows, and what a report reads of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from nnbo_mip.lab.plan.plan import Plan, PlannedUnit
from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.store.answer import Answer, Attempt
from nnbo_mip.lab.store.results import Results
from nnbo_mip.lab.store.store import opened

STARTS, STEPS = 8, 92

METHODS, PROBLEMS = 10, 10

BATCH = 200
"""Units that are written at once."""


def store_part(path: Path, rows: int) -> dict[str, Any]:
    """Write that many observations, and read what a report shows: all curves, times and gaps."""
    plan = _plan(max(1, rows // (STARTS + STEPS) // (METHODS * PROBLEMS)))
    started = time.perf_counter()
    with opened(path) as store:
        store.write_plan(plan)
        for first in range(0, len(plan), BATCH):
            store.add([_answer(one.unit) for one in plan.units[first : first + BATCH]])
    written = time.perf_counter() - started
    used, started = time.process_time(), time.perf_counter()
    results = Results.open(path)
    finals = {
        (problem, method): float(np.median(results.curves(problem, method).values[:, -1]))
        for problem in results.problems
        for method in results.methods
    }
    asked = float(results.steps["ask_seconds"].sum())
    proven = results.steps["status"] == "optimal"
    gap = float(np.median(results.steps["gap"][proven]))
    report, cpu = time.perf_counter() - started, time.process_time() - used
    return {
        "rows": len(results.observations),
        "curves": len(finals),
        "asked_seconds": round(asked, 1),
        "median_gap": gap,
        "write_seconds": round(written, 2),
        "report_seconds": round(report, 2),
        "report_cpu_seconds": round(cpu, 2),
        "file_mb": round(path.stat().st_size / 2**20, 1),
    }


def _plan(instances: int) -> Plan:
    units = tuple(
        PlannedUnit(
            unit=Unit(
                f"problem {problem}",
                False,
                {"name": "sobol"},
                STARTS,
                STEPS,
                instance,
                {"options": {"surrogate": f"method {method}"}},
            ),
            problem=f"problem {problem}",
            method=f"method {method}",
            surrogate=f"method {method}",
            acquisition="ucb",
            maximizer="auto",
            budget=None,
            variant="",
            dimension=2,
            direction="minimize",
            optimum=0.0,
        )
        for instance in range(instances)
        for problem in range(PROBLEMS)
        for method in range(METHODS)
    )
    return Plan("scale", "", "", ("regret",), units)


def _answer(unit: Unit) -> Answer:
    random = np.random.default_rng(int(unit.key[:8], 16))
    y = random.random(STARTS + STEPS).tolist()
    observations = {
        "y": y,
        "truth": y,
        "seconds": [0.01] * len(y),
        "x": random.random((len(y), 2)).tolist(),
    }
    steps = [
        {
            "number": number,
            "status": "optimal",
            "value": y[number],
            "bound": y[number] + 1e-4,
            "gap": 1e-4,
            "kind": "rigorous",
            "engine": "boxes",
            "head": "ucb",
            "mean": y[number],
            "std": 0.1,
            "c": 1.0,
            "eps": 0.001,
            "doublings": 0,
            "seconds": 0.5,
            "fit_seconds": 0.25,
            "ask_seconds": 0.75,
            "evaluations": 100,
            "time_limited": False,
            "message": "",
            "counters": {"boxes": number},
        }
        for number in range(STARTS, STARTS + STEPS)
    ]
    result = {"observations": observations, "steps": steps, "cpu_seconds": 1.0}
    return Answer(unit.key, (Attempt("finished", 0.0, 1.0, "here"),), {"host": "here"}, result)
