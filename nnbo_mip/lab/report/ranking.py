"""The section over all problems: ranks, counts of them, profiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nnbo_mip.drawing.page.html import NOTHING, number, paragraph, table
from nnbo_mip.drawing.page.pages import Page
from nnbo_mip.drawing.picture import Picture
from nnbo_mip.lab.pictures.profiles import TOLERANCES, data, performance
from nnbo_mip.lab.pictures.ranks import critical_difference, mean_rank_course
from nnbo_mip.lab.pictures.regret import Colors
from nnbo_mip.lab.report.answer import standings
from nnbo_mip.lab.statistics.findings import Findings, ProblemFindings
from nnbo_mip.lab.statistics.ranks import borda, firsts, ranks
from nnbo_mip.lab.statistics.tests import STAGE_LEVEL, least_instances
from nnbo_mip.lab.store.results import Results

AXES = ("surrogate", "acquisition", "maximizer")
"""What methods are made of; each has a column, and a filter of the page."""

MEANINGS = (
    "A Borda count is the number of methods ranked strictly worse, summed over problems; firsts "
    "are problems on which the rank is 1, ties included. By interval: beaten by those whose 95 % "
    "interval of the mean is wholly below. Friedman: ranks of mean ranks over instances."
)

MANN_WHITNEY = (
    " Mann-Whitney: beaten by those that are better at the level "
    f"{STAGE_LEVEL:g} at the end, or else by the area under the curve."
)


FEW = 12
"""Methods up to which nothing is folded."""


def add_ranking(page: Page, results: Results, findings: Findings, colors: Colors) -> None:
    """Write the section; nothing where fewer than two methods have results."""
    if len(findings.ranked) < 2:
        return
    page.section("Ranking")
    page.add(_ranks(results, findings))
    page.add(_pairs(results, findings))
    if not findings.complete:
        page.add(paragraph("No problem has results of all methods yet; nothing is counted."))
        return
    with page.folded("Counts over all problems", len(findings.ranked) > FEW):
        _add_counts(page, findings, colors)
    page.pictures(mean_rank_course(findings, colors))
    page.pictures(**_views(findings, colors, performance))
    page.pictures(**_views(findings, colors, data))


def _add_counts(page: Page, findings: Findings, colors: Colors) -> None:
    page.add(_counts(findings))
    silent = why_silent(findings.complete)
    page.add(paragraph(MEANINGS + (f" {silent}" if silent else MANN_WHITNEY), class_="note"))
    outcome = findings.friedman
    if outcome is not None:
        title = "Mean ranks of final medians over problems"
        page.pictures(critical_difference(title, findings.ranked, outcome, "problems", colors))


def _views(
    findings: Findings, colors: Colors, draw: Callable[[Findings, float, Colors], Picture]
) -> dict[str, Picture]:
    return {f"{tolerance:g}": draw(findings, tolerance, colors) for tolerance in TOLERANCES}


def why_silent(problems: Sequence[ProblemFindings]) -> str:
    """Return why Mann-Whitney tests are left out; empty where they can say something."""
    fewest = min((len(one) for problem in problems for one in problem.samples), default=0)
    if fewest >= least_instances():
        return ""
    return (
        f"Mann-Whitney tests are left out: at the level {STAGE_LEVEL:g} they need "
        f"{least_instances()} instances of each method to tell any two apart, and there are "
        f"{fewest}."
    )


def _ranks(results: Results, findings: Findings) -> str:
    found = standings(findings)
    order = findings.ranked if found is None else found.methods
    units = results.units
    rows = []
    for place, method in enumerate(order):
        own = units["method"] == method
        parts = [str(units[name][own][0]) or NOTHING for name in AXES]
        cells = []
        for problem in findings.problems:
            if method not in problem.methods:
                cells.append(NOTHING)
                continue
            k = problem.methods.index(method)
            cells.append(f"{problem.median_ranks[k]} / {problem.interval_ranks[k]}")
        mean = NOTHING
        if found is not None and found.is_ranks:
            mean = number(float(found.figures[place]))
        rows.append([method, *parts, mean, *cells])
    return table(
        ["method", *AXES, "mean rank of medians", *(one.problem for one in findings.problems)],
        rows,
        "Rank of the median / rank by the interval of the mean, after the last evaluation; press a "
        "heading to sort",
        sortable=True,
    )


def _pairs(results: Results, findings: Findings) -> str:
    """Return mean figures of surrogates by maximizers; nothing where there is one of either."""
    found = standings(findings)
    if found is None:
        return ""
    units = results.units
    of_pair: dict[tuple[str, str], list[float]] = {}
    for method, figure in zip(found.methods, found.figures, strict=True):
        own = units["method"] == method
        pair = str(units["surrogate"][own][0]), str(units["maximizer"][own][0])
        if all(pair):
            of_pair.setdefault(pair, []).append(float(figure))
    surrogates = list(dict.fromkeys(one for one, _ in of_pair))
    maximizers = list(dict.fromkeys(one for _, one in of_pair))
    if min(len(surrogates), len(maximizers)) < 2:
        return ""
    rows = [
        [
            surrogate,
            *(
                number(float(np.mean(of_pair.get((surrogate, maximizer), [np.nan]))))
                for maximizer in maximizers
            ),
        ]
        for surrogate in surrogates
    ]
    what = "Mean ranks of medians" if found.is_ranks else "Medians"
    title = f"{what} by surrogate and maximizer, the mean over the acquisitions of each pair"
    return table(["surrogate", *maximizers], rows, title, sortable=True)


def _counts(findings: Findings) -> str:
    kinds = {
        "interval": [problem.interval_ranks for problem in findings.complete],
        "median": [problem.median_ranks for problem in findings.complete],
    }
    if not why_silent(findings.complete):
        kinds["Mann-Whitney"] = [problem.stratified for problem in findings.complete]
    within = [problem.friedman for problem in findings.complete]
    by_friedman = [ranks(one.ranks) for one in within if one is not None]
    friedman = borda(by_friedman) if by_friedman else None
    counts = [borda(lists) for lists in kinds.values()]
    first = [firsts(lists) for lists in kinds.values()]
    rows = [
        [
            method,
            *(str(one[place]) for one in counts),
            NOTHING if friedman is None else str(friedman[place]),
            *(str(one[place]) for one in first),
            NOTHING if findings.friedman is None else number(float(findings.friedman.ranks[place])),
        ]
        for place, method in enumerate(findings.ranked)
    ]
    return table(
        [
            "method",
            *(f"Borda, {kind}" for kind in kinds),
            "Borda, Friedman",
            *(f"firsts, {kind}" for kind in kinds),
            "mean rank of medians",
        ],
        rows,
        f"Counts over {len(findings.complete)} of {len(findings.problems)} problems: those on "
        "which all methods have results",
        sortable=True,
    )
