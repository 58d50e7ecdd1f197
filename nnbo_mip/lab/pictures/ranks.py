"""Ranks: their means in the course of the evaluations, and the critical-difference diagram."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.drawing.picture import Axis, Dots, Line, Picture, Series, Strokes, Texts
from nnbo_mip.lab.pictures.regret import Colors
from nnbo_mip.lab.statistics.findings import Findings, ProblemFindings
from nnbo_mip.lab.statistics.ranks import mean_ranks
from nnbo_mip.lab.statistics.tests import Friedman

MOMENTS = 51
"""At which mean ranks are taken, from the last shared start to the last evaluation."""


def mean_rank_course(findings: Findings, colors: Colors) -> Picture:
    """Return the mean ranks over problems and common instances; problems count alike."""
    whole = np.linspace(0.0, 100.0, MOMENTS)
    courses = [_course(problem) for problem in findings.complete if len(problem.common)]
    mean = np.mean(courses, axis=0) if courses else np.empty((MOMENTS, 0))
    series = [
        Series(method, (Line(whole, mean[:, place]),), colors[method])
        for place, method in enumerate(findings.ranked if courses else ())
    ]
    return Picture(
        "Mean rank in the course of the evaluations",
        Axis("% of the evaluations after the shared starts"),
        Axis("mean rank, 1 the best", turned=True),
        tuple(series),
        "Equal values share their mean rank; every problem counts alike.",
    )


def _course(problem: ProblemFindings) -> FloatArray:
    """Return the mean ranks (moments, methods) on one problem."""
    first = max(problem.starts - 1, 0)
    columns = np.linspace(first, problem.evaluations - 1, MOMENTS).round().astype(np.int64)
    ranked = mean_ranks(np.moveaxis(problem.paired[:, :, columns], 2, 0))
    made: FloatArray = np.mean(ranked, axis=1)
    return made


def critical_difference(
    title: str, methods: tuple[str, ...], outcome: Friedman, blocks: str, colors: Colors
) -> Picture:
    """Return mean ranks on a line; bars join methods that cannot be told apart.

    Parameters
    ----------
    title : str
    methods : tuple of str
        Those of the outcome, in its order.
    outcome : Friedman
    blocks : str
        What was ranked within, in the plural.
    colors : mapping of str to int
    """
    order = np.argsort(outcome.ranks, kind="stable")
    groups = outcome.groups()
    series = [
        Series(
            "not told apart",
            tuple(
                Strokes(
                    [float(outcome.ranks[group].min())],
                    [-1.0 - 0.35 * place],
                    [float(outcome.ranks[group].max())],
                    [-1.0 - 0.35 * place],
                    4.0,
                )
                for place, group in enumerate(groups)
            ),
            None,
            in_legend=False,
        )
    ]
    for place, method in enumerate(order):
        rank = float(outcome.ranks[method])
        series.append(
            Series(
                methods[method],
                (
                    Strokes([rank], [0.0 if not groups else -1.0], [rank], [float(place)], 1.0),
                    Dots([rank], [float(place)], (methods[method],)),
                ),
                colors[methods[method]],
                in_legend=False,
            )
        )
    reach = outcome.difference
    most = float(len(methods))
    # The length of the critical difference, from rank 1 on as far as there are ranks.
    cut = " It is longer than the line, as there are few ranks." if 1.0 + reach > most else ""
    top = -1.6 - 0.35 * len(groups)
    series.append(
        Series(
            "critical difference",
            (
                Strokes([1.0], [top], [min(1.0 + reach, most)], [top], 2.0),
                Texts([1.0], [top - 0.5], (f"critical difference {reach:.3g}",)),
            ),
            None,
            in_legend=False,
        )
    )
    return Picture(
        title,
        Axis("mean rank, 1 the best"),
        Axis("", ticks=tuple((float(k), methods[m]) for k, m in enumerate(order)), turned=True),
        tuple(series),
        f"Friedman over {outcome.blocks} {blocks}: chi² = {outcome.statistic:.4g}, "
        f"p = {outcome.p:.3g}. Grey bars join methods whose mean ranks differ by less than the "
        f"critical difference of Nemenyi at 5 %.{cut}",
        rows=len(methods) + 2 + (len(groups) + 2) // 3,
    )
