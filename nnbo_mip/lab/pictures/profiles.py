"""Performance and data profiles over all runs of an experiment."""

from __future__ import annotations

import numpy as np

from nnbo_mip.lab.findings import Findings
from nnbo_mip.lab.pictures.picture import Axis, Line, Picture, Series
from nnbo_mip.lab.pictures.regret import Colors
from nnbo_mip.lab.statistics_profiles import (
    data_profile,
    evaluations_to_solve,
    performance_profile,
)
from nnbo_mip.network.affine import FloatArray

TOLERANCES = (1e-1, 1e-2, 1e-4)


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
    return Picture(
        f"Performance profile at {tolerance:g}",
        Axis("evaluations, as a multiple of the quickest method's", "log", switchable=True),
        Axis("share of runs solved"),
        _series(findings, ratios, shares, colors),
        _note(tolerance, len(taken)),
    )


def data(findings: Findings, tolerance: float, colors: Colors) -> Picture:
    """Return the share of runs solved within a budget in units of d + 1 evaluations."""
    taken, dimensions = times(findings, tolerance)
    budgets, shares = data_profile(taken, dimensions) if len(taken) else _nothing(findings)
    return Picture(
        f"Data profile at {tolerance:g}",
        Axis("evaluations / (dimension + 1)", switchable=True),
        Axis("share of runs solved"),
        _series(findings, budgets, shares, colors),
        _note(tolerance, len(taken)),
    )


def _series(
    findings: Findings, at: FloatArray, shares: FloatArray, colors: Colors
) -> tuple[Series, ...]:
    made = []
    for place, method in enumerate(findings.ranked):
        corners = np.flatnonzero(np.diff(shares[place], prepend=-1.0, append=2.0)[:-1] > 0.0)
        kept = np.union1d(corners, [len(at) - 1]) if len(at) else corners
        line = Line(at[kept], shares[place][kept], style="stairs")
        made.append(Series(method, (line,), colors[method]))
    return tuple(made)


def _nothing(findings: Findings) -> tuple[FloatArray, FloatArray]:
    return np.empty(0), np.empty((len(findings.ranked), 0))


def _note(tolerance: float, runs: int) -> str:
    return (
        f"Solved: of the distance between the shared starts and the best value known, at most "
        f"{tolerance:g} is left. {runs} runs."
    )
