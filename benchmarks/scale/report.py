"""What a report over a large store costs: `python -m benchmarks.scale.report [observations]`.

The store is made up, and written through the same writer as results are.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from nnbo_mip.lab.plan.plan import Plan, PlannedUnit
from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.report.writing import page_of
from nnbo_mip.lab.statistics.findings import Findings
from nnbo_mip.lab.store.answer import Answer, Attempt
from nnbo_mip.lab.store.results import Results
from nnbo_mip.lab.store.step_totals import step_totals
from nnbo_mip.lab.store.store import opened

METHODS = ("gp", "nomu", "brvfl", "deep_ensemble", "mc_dropout", "elm", "pgp", "random")
INSTANCES, STARTS, STEPS = 50, 10, 90
TARGET = 5.0
"""CPU seconds in which a store with a million observations answers."""


def main(observations: int) -> None:
    """Write a store and print what reading it and writing its page cost."""
    runs = len(METHODS) * INSTANCES * (STARTS + STEPS)
    problems = max(observations // runs, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.db"
        _write(path, [f"problem {number}" for number in range(problems)])
        started = time.process_time()
        results = Results.open(path)
        rows = len(results.observations)
        findings = Findings.of(results)
        steps = int(step_totals(results)["steps"].sum())
        answered = time.process_time()
        page = page_of(results, findings).as_html()
        written = time.process_time()
    print(f"{rows} observations, {steps} steps, {len(results.units)} units, {problems} problems")
    print(
        f"the store answers in {answered - started:.2f} CPU s "
        f"(target {TARGET:g}: {'held' if answered - started < TARGET else 'missed'})"
    )
    print(f"statistics and page in {written - answered:.2f} CPU s, {len(page) / 1e6:.1f} MB")


def _write(path: Path, problems: list[str]) -> None:
    units = [
        _planned(problem, method, instance)
        for problem in problems
        for instance in range(INSTANCES)
        for method in METHODS
    ]
    rng = np.random.default_rng(0)
    with opened(path) as store:
        store.write_plan(Plan("large", "Made up.", 'name = "large"\n', ("regret",), tuple(units)))
        for begin in range(0, len(units), 500):
            store.add([_answer(one, rng) for one in units[begin : begin + 500]])


def _planned(problem: str, method: str, instance: int) -> PlannedUnit:
    how = {"options": {"surrogate": method}}
    unit = Unit(problem, False, {"name": "sobol"}, STARTS, STEPS, instance, how)
    return PlannedUnit(unit, problem, method, method, "ucb", "auto", None, "", 5, "minimize", 0.0)


def _answer(planned: PlannedUnit, rng: np.random.Generator) -> Answer:
    y = rng.lognormal(size=STARTS + STEPS).tolist()
    seconds, gaps = (rng.lognormal(size=STARTS + STEPS).tolist() for _ in range(2))
    step = {
        "status": "feasible", "value": 1.0, "bound": 1.25, "kind": "rigorous",
        "engine": "boxes", "head": "ucb", "mean": 0.5, "std": 0.5, "c": 1.0, "eps": 0.001,
        "doublings": 0, "fit_seconds": 0.25, "ask_seconds": 0.75, "evaluations": 7,
        "time_limited": False, "message": "", "counters": {"boxes": 3},
    }  # fmt: skip
    is_baseline = planned.method == "random"
    steps = [
        {"number": number, "seconds": seconds[number], "gap": gaps[number], **step}
        for number in range(len(y) if is_baseline else STARTS, len(y))
    ]
    observed = {"y": y, "truth": y, "seconds": seconds, "x": [[one] * 5 for one in y]}
    result = {"cpu_seconds": 1.5, "observations": observed, "steps": steps}
    attempt = Attempt("finished", 1e9, 2.0, "here")
    return Answer(planned.unit.key, (attempt,), {"host": "here"}, result)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
