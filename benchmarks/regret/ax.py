"""Scores of Ax's benchmark registry, beside figures of peers that were published before.

    score = 100 (baseline - f) / (baseline - optimum),  f the best value of a run at the budget

with the mean of the runs and its standard error. The baseline is what the best of five Sobol
points has.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from benchmarks.regret.problems import SUITES, Case
from benchmarks.regret.results import Results
from benchmarks.regret.table import markdown
from nnbo_mip.core.arrays import FloatArray

PUBLISHED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "sobol": {
            "branin": "76.3 ± 5.1",
            "hartmann6": "35.5 ± 8.1",
            "ackley4": "12.7 ± 2.9",
            "levy4": "71.4 ± 3.3",
            "rosenbrock4": "88.5 ± 3.2",
        },
        "Optuna 5.0.0 TPE": {
            "branin": "97.0 ± 2.4",
            "hartmann6": "75.0 ± 6.8",
            "ackley4": "42.5 ± 8.6",
            "levy4": "87.8 ± 3.8",
            "rosenbrock4": "98.7 ± 0.3",
        },
        "Optuna 5.0.0 GP": {
            "branin": "99.9 ± 0.0",
            "hartmann6": "84.2 ± 12.3",
            "ackley4": "78.2 ± 2.9",
            "levy4": "94.6 ± 3.2",
            "rosenbrock4": "98.9 ± 0.4",
        },
        "BoTorch 0.18.1 LogEI": {
            "branin": "99.9 ± 0.0",
            "hartmann6": "93.7 ± 2.2",
            "ackley4": "62.4 ± 16.5",
            "levy4": "84.6 ± 5.6",
            "rosenbrock4": "97.7 ± 1.0",
        },
        "bayes_opt 3.4.0": {
            "branin": "92.6 ± 3.2",
            "hartmann6": "83.1 ± 6.4",
            "ackley4": "74.0 ± 3.3",
            "levy4": "86.8 ± 3.0",
            "rosenbrock4": "93.4 ± 3.2",
        },
        "scikit-optimize 0.10.2 GP": {
            "branin": "99.9 ± 0.0",
            "hartmann6": "79.2 ± 9.0",
            "ackley4": "50.4 ± 12.7",
            "levy4": "73.9 ± 11.6",
            "rosenbrock4": "98.5 ± 0.7",
        },
    }
)
"""Measured before with five seeds, each library with initial points of its own."""


def scores(results: Results, case: Case, method: str) -> FloatArray:
    """Return the scores (seeds,) of a method."""
    if case.baseline is None:
        raise ValueError(f"a score needs a baseline; {case.label!r} has none")
    problem = case.problem
    optimum = problem.sign * float(problem.optimum or 0.0)
    made: FloatArray = 100.0 * (1.0 - results.final(case, method) / (case.baseline - optimum))
    return made


def score_table(results: Results) -> str:
    """Return the scores, a row a method, and the published ones where the budget is the same."""
    rows = []
    for method in results.methods:
        row = [method]
        for case in results.cases:
            seeds = len(results.runs(case, method))
            row.append(_shown(scores(results, case, method)) if seeds else "")
        rows.append(row)
    whole = [case.evaluations == SUITES["ax"][case.label].evaluations for case in results.cases]
    for name, figures in PUBLISHED.items() if any(whole) else ():
        shown = [
            figures.get(case.label, "") if at_budget else ""
            for case, at_budget in zip(results.cases, whole, strict=True)
        ]
        rows.append([f"{name}, published", *shown])
    head = [f"{case.label} @{case.evaluations}" for case in results.cases]
    return markdown(["score", *head], rows)


def _shown(values: FloatArray) -> str:
    mean = f"{np.mean(values):.1f}"
    if len(values) < 2:
        return mean
    return f"{mean} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.1f}"
