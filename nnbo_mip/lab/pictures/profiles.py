"""Performance and data profiles over all runs of an experiment."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.drawing.picture import Axis, Line, Picture, Series
from nnbo_mip.lab.pictures.regret import Colors
from nnbo_mip.lab.statistics.findings import Findings
from nnbo_mip.lab.statistics.profiles import data_profile, evaluations_to_solve, performance_profile

TOLERANCES = (1e-1, 1e-2, 1e-4)

LEAST_RATIO = 2.0
"""Up to which a performance profile goes at least."""

SHARES = (0.0, 1.0)
"""Ends of the axis of shares."""


def times(findings: Findings, tolerance: float) -> tuple[FloatArray, FloatArray]:
    """Return evaluations that methods take on runs (n, k), and the runs' dimensions (n,).

    A run is an instance that all methods with results have finished.
    """
    taken, dimensions = [np.empty((0, len(findings.ranked)))], [np.empty(0)]
    for problem in findings.complete:
        if len(problem.common):
            curves = np.nan_to_num(problem.paired, nan=np.inf)
            taken.append(evaluations_to_solve(curves, max(problem.starts, 1), tolerance))
            dimensions.append(np.full(len(problem.common), float(problem.dimension)))
    return np.concatenate(taken), np.concatenate(dimensions)


def performance(findings: Findings, tolerance: float, colors: Colors) -> Picture:
    """Return the share of runs solved within a multiple of the quickest method's evaluations."""
    taken, _ = times(findings, tolerance)
    ratios, shares = performance_profile(taken) if len(taken) else _nothing(findings)
    # Beyond the last step, so that it can be seen.
    end = max(LEAST_RATIO, 1.1 * float(np.max(ratios, initial=1.0)))
    return Picture(
        f"Performance profile at {tolerance:g}",
        Axis("evaluations, as a multiple of the quickest method's", "log", switchable=True),
        Axis("share of runs solved", ends=SHARES),
        _series(findings, np.append(ratios, end), shares, colors),
        _note(tolerance, len(taken)),
    )


def data(findings: Findings, tolerance: float, colors: Colors) -> Picture:
    """Return the share of runs solved within a budget in units of d + 1 evaluations."""
    taken, dimensions = times(findings, tolerance)
    budgets, shares = data_profile(taken, dimensions) if len(taken) else _nothing(findings)
    whole = [one.evaluations / (one.dimension + 1.0) for one in findings.complete]
    at = np.concatenate([[0.0], budgets, [max(whole, default=1.0)]])
    none = np.zeros((len(shares), 1 if len(taken) else 0))
    return Picture(
        f"Data profile at {tolerance:g}",
        Axis("evaluations / (dimension + 1)", switchable=True),
        Axis("share of runs solved", ends=SHARES),
        _series(findings, at, np.concatenate([none, shares], axis=1), colors),
        _note(tolerance, len(taken)),
    )


def _series(
    findings: Findings, at: FloatArray, shares: FloatArray, colors: Colors
) -> tuple[Series, ...]:
    """Return stairs (k, m) that go on level to the last of the places (m + 1,)."""
    made = []
    for place, method in enumerate(findings.ranked):
        steps = np.append(shares[place], shares[place][-1:])
        kept = np.flatnonzero(np.diff(steps, prepend=-1.0) != 0.0)
        kept = np.union1d(kept, [len(steps) - 1]) if len(steps) else kept
        line = Line(at[: len(steps)][kept], steps[kept], style="stairs")
        made.append(Series(method, (line,), colors[method]))
    return tuple(made)


def _nothing(findings: Findings) -> tuple[FloatArray, FloatArray]:
    return np.empty(0), np.empty((len(findings.ranked), 0))


def _note(tolerance: float, runs: int) -> str:
    return (
        f"Solved: of the distance between the shared starts and the best value known, at most "
        f"{tolerance:g} is left. {runs} runs."
    )
