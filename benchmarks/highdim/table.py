"""The tables: best values beside published ones, and what was proven step by step."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.highdim.cases import WideCase
from benchmarks.regret.results import Results, Run
from benchmarks.regret.table import markdown

PARTS = 5
"""Into which the steps of a run are cut for the table of proofs."""


def report(cases: Sequence[WideCase], results: Results) -> str:
    """Return everything that is printed."""
    parts = ["Best value after so many evaluations: median of the seeds, least and largest."]
    parts += [values_table(case, results) for case in cases]
    parts += [
        "Steps: seconds of wall time; the gap that was certified within the region (or the whole "
        "space), as the median of each fifth of the steps; the median side of the region likewise.",
        proofs_table(cases, results),
    ]
    return "\n\n".join(parts)


def values_table(case: WideCase, results: Results) -> str:
    """Return best values of all methods on a function, with those of others below."""
    places = [count for count in case.checkpoints if count <= case.evaluations]
    rows = []
    for method in results.methods:
        runs = results.runs(case, method)
        if runs:
            values = np.array([best_values(run, places) for run in runs.values()])
            rows.append([method, str(len(runs)), *(_spread(column) for column in values.T)])
    for trace in case.published:
        found = [trace.after(count) for count in places]
        cells = ["" if value is None else f"{value:.4g}" for value in found]
        rows.append([f"published: {trace.label} ({trace.source})", "1", *cells])
    optimum = case.problem.optimum
    head = [f"{case.label} on {case.domain}, optimum {optimum:.4g}", "seeds"]
    return markdown([*head, *map(str, places)], rows)


def proofs_table(cases: Sequence[WideCase], results: Results) -> str:
    """Return times, statuses and gaps of ours, a row for each method and function."""
    rows = []
    for case in cases:
        for method in results.methods:
            runs = list(results.runs(case, method).values())
            steps = [step for run in runs for step in chosen(run)]
            if not steps:
                continue
            statuses = Counter(step["status"] for step in steps)
            fifths = [[part for run in runs for part in fifth(run, k)] for k in range(PARTS)]
            rows.append(
                [
                    case.label,
                    method,
                    str(len(steps)),
                    f"{np.median([step['ask_seconds'] for step in steps]):.3g}",
                    f"{np.median([step['fit_seconds'] for step in steps]):.3g}",
                    f"{np.median([step['seconds'] for step in steps]):.3g}",
                    ", ".join(f"{count} {status}" for status, count in statuses.most_common()),
                    " / ".join(_median(part, "gap", math.inf) for part in fifths),
                    " / ".join(_median(part, "side", math.nan) for part in fifths),
                ]
            )
    head = ["function", "method", "steps", "wall", "fit", "inner", "statuses", "gaps", "sides"]
    return markdown(head, rows)


def steps_table(case: WideCase, method: str, results: Results) -> str:
    """Return the steps of the first seed of a method on a function, one a row."""
    runs = results.runs(case, method)
    if not runs:
        return f"There is no run of {method} on {case.label}."
    run = runs[min(runs)]
    first = len(run.y) - len(run.steps)
    best = np.minimum.accumulate(run.y)
    rows = [
        [
            str(place),
            f"{run.y[place - 1]:.4g}",
            f"{best[place - 1]:.4g}",
            step.get("status", ""),
            *(_number(step.get(name)) for name in ("value", "bound", "gap", "side")),
            _number(step.get("ask_seconds")),
        ]
        for place, step in enumerate(run.steps, first + 1)
    ]
    head = ["evaluation", "y", "best", "status", "score", "bound", "gap", "side", "wall"]
    return f"{method} on {case.label}, seed {min(runs)}\n\n{markdown(head, rows)}"


def best_values(run: Run, places: Sequence[int]) -> list[float]:
    """Return the best values after so many evaluations; a run that was cut stays where it was."""
    best = np.minimum.accumulate(run.y)
    return [float(best[min(count, len(best)) - 1]) for count in places]


def chosen(run: Run) -> list[dict[str, Any]]:
    """Return the steps in which a model chose."""
    return [step for step in run.steps if step.get("status") != "initial"]


def fifth(run: Run, k: int) -> list[dict[str, Any]]:
    """Return the k-th fifth of a run's steps, from 0."""
    steps = chosen(run)
    return steps[len(steps) * k // PARTS : len(steps) * (k + 1) // PARTS]


def _spread(values: np.ndarray[Any, Any]) -> str:
    middle = f"{np.median(values):.4g}"
    if len(values) < 2:
        return middle
    return f"{middle} ({values.min():.4g} to {values.max():.4g})"


def _median(steps: Sequence[dict[str, Any]], name: str, missing: float) -> str:
    """Return the median of what steps have, `missing` where they have nothing."""
    values = [missing if step.get(name) is None else step[name] for step in steps]
    median = float(np.median(values)) if values else math.nan
    return "" if math.isnan(median) else f"{median:.2g}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
