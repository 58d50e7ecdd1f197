"""The table in markdown: functions, regrets, differences, steps, verdicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.regret.problems import FEW_INPUTS, Case
from benchmarks.regret.results import Results
from benchmarks.regret.verdicts import verdict_lines
from nnbo_mip.lab.statistics.intervals import Interval, interval_of
from nnbo_mip.lab.statistics.paired import Difference

CHECKPOINTS = (10, 20, 30)
"""Evaluations after the starts at which the median regret is shown, beside the end."""


def report(results: Results) -> str:
    """Return everything that is said of regrets."""
    parts = [
        functions_table(results),
        "Regret: mean and median of the seeds with bootstrapped 95 % intervals; median after "
        f"{', '.join(map(str, CHECKPOINTS))} evaluations; paired differences to the best peer (**) "
        "with bootstrapped and t 95 % intervals, above 0 is worse.",
        regret_table(results),
        "Steps: wall seconds of asking and telling, and what the exact or heuristic step said.",
        steps_table(results),
        *("\n".join(verdict_lines(results, method)) for method in results.ours),
        provenance(results),
    ]
    return "\n\n".join(part for part in parts if part)


def functions_table(results: Results) -> str:
    """Return what was run."""
    rows = []
    for case in results.cases:
        seeds = [len(results.runs(case, method)) for method in results.methods]
        counted = f"{min(seeds)} to {max(seeds)}" if len(set(seeds)) > 1 else f"{max(seeds)}"
        steps = f"{case.starts} + {case.evaluations - case.starts}"
        problem = case.problem
        optimum = f"{problem.optimum:.6g}"
        best = results.best_peer(case) or ""
        rows.append(
            [case.label, str(problem.dimension), case.domain, steps, optimum, counted, best]
        )
    head = ["function", "d", "domain", "starts + steps", "optimum", "seeds", "best peer"]
    return markdown(head, rows)


def regret_table(results: Results) -> str:
    """Return regrets and differences, a row for each function and method."""
    rows = []
    for case in results.cases:
        best = results.best_peer(case)
        for method in results.methods:
            if not results.runs(case, method):
                continue
            final = results.final(case, method)
            difference = results.difference(case, method, best) if method in results.ours else None
            name = f"**{method}**" if method == best else method
            rows.append(
                [
                    case.label,
                    name,
                    shown(interval_of(final)),
                    shown(interval_of(final, np.median)),
                    _on_the_way(results, case, method),
                    *_difference_cells(difference),
                ]
            )
    head = ["function", "method", "mean", "median", "on the way"]
    return markdown([*head, "difference in log10", "t", "difference in regret", "t"], rows)


def steps_table(results: Results) -> str:
    """Return times, statuses and gaps, two rows a method: of few and of many inputs."""
    groups = {
        name: [case for case in results.cases if case.has_few_inputs == few]
        for name, few in ((f"d <= {FEW_INPUTS}", True), (f"d > {FEW_INPUTS}", False))
    }
    rows = [
        [method, name, *_step_cells(results, method, cases)]
        for method in results.methods
        for name, cases in groups.items()
        if any(results.steps(case, method) for case in cases)
    ]
    head = ["method", "functions", "steps", "wall median", "wall 95 %", "fit", "inner", "statuses"]
    head += ["median gap", "cut by time", "with a message", "errors"]
    return markdown(head, rows)


def _step_cells(results: Results, method: str, cases: Sequence[Case]) -> list[str]:
    """Return what is said of the steps of a method on some functions."""
    steps = [step for case in cases for step in results.steps(case, method)]
    wall = _numbers(steps, "ask_seconds")
    is_ours = method in results.ours
    statuses = Counter(step["status"] for step in steps if is_ours)
    parts = steps if any(step["fit_seconds"] for step in steps) else []  # else it does not say
    return [
        str(len(steps)),
        _seconds(wall, 0.5),
        _seconds(wall, 0.95),
        _seconds(_numbers(parts, "fit_seconds"), 0.5),
        _seconds(_numbers(parts, "seconds"), 0.5),
        ", ".join(f"{count} {status}" for status, count in statuses.most_common()),
        _median_gap(steps),
        str(sum(bool(step["time_limited"]) for step in steps)) if is_ours else "",
        str(sum(bool(step.get("message")) for step in steps)),
        str(sum(results.errors(case, method) for case in cases)),
    ]


def provenance(results: Results) -> str:
    """Say of which commits the runs of ours are, where they are of several."""
    codes = Counter(
        run.code
        for method in results.ours
        for case in results.cases
        for run in results.runs(case, method).values()
    )
    if len(codes) < 2:
        return ""
    named = ", ".join(f"{code or 'unknown'} ({count})" for code, count in codes.most_common())
    return f"Runs of ours are of {len(codes)} commits: {named}."


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shown(interval: Interval) -> str:
    """Return a figure with its interval."""
    if math.isnan(interval.low):
        return f"{interval.value:.3g}"
    return f"{interval.value:.3g} [{interval.low:.3g}, {interval.high:.3g}]"


def _difference_cells(difference: Difference | None) -> list[str]:
    if difference is None:
        return [""] * 4
    cells = []
    for bootstrapped, student in (
        (difference.log, difference.log_t),
        (difference.regret, difference.regret_t),
    ):
        cells += [shown(bootstrapped), f"[{student.low:.3g}, {student.high:.3g}]"]
    return cells


def _on_the_way(results: Results, case: Case, method: str) -> str:
    medians = np.median(results.regrets(case, method), axis=0)
    places = [case.starts + k - 1 for k in CHECKPOINTS]
    return " / ".join(f"{medians[place]:.3g}" for place in places if place < len(medians) - 1)


def _numbers(steps: Iterable[dict[str, Any]], name: str) -> list[float]:
    return [step[name] for step in steps if step.get(name) is not None]


def _median_gap(steps: Iterable[dict[str, Any]]) -> str:
    """Return the median gap if anything was proven; a step without a proof counts as infinite."""
    gaps = [math.inf if step["gap"] is None else step["gap"] for step in steps]
    return f"{np.median(gaps):.2g}" if gaps and min(gaps) < math.inf else ""


def _seconds(values: Sequence[float], share: float) -> str:
    return f"{np.quantile(values, share):.3g}" if values else ""
