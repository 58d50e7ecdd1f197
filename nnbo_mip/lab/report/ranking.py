"""The section over all problems: ranks, counts of them, profiles."""

from __future__ import annotations

from collections.abc import Callable

from nnbo_mip.drawing.page.html import NOTHING, number, paragraph, table
from nnbo_mip.drawing.page.pages import Page
from nnbo_mip.drawing.picture import Picture
from nnbo_mip.lab.pictures.profiles import TOLERANCES, data, performance
from nnbo_mip.lab.pictures.ranks import critical_difference, mean_rank_course
from nnbo_mip.lab.pictures.regret import Colors
from nnbo_mip.lab.statistics.findings import Findings
from nnbo_mip.lab.statistics.ranks import borda, firsts, ranks
from nnbo_mip.lab.statistics.tests import STAGE_LEVEL, least_instances

MEANINGS = (
    "A Borda count is the number of methods ranked strictly worse, summed over problems; firsts "
    "are problems on which the rank is 1, ties included. By interval: beaten by those whose 95 % "
    "interval of the mean is wholly below. Mann-Whitney: beaten by those that are better at the "
    f"level {STAGE_LEVEL:g} at the end, or else by the area under the curve; that takes "
    f"{least_instances()} instances of each method at least, with fewer all are tied. Friedman: "
    "ranks of mean ranks over instances."
)


def add_ranking(page: Page, findings: Findings, colors: Colors) -> None:
    """Write the section; nothing where fewer than two methods have results."""
    if len(findings.ranked) < 2:
        return
    page.section("Ranking")
    page.add(_ranks(findings))
    if not findings.complete:
        page.add(paragraph("No problem has results of all methods yet; nothing is counted."))
        return
    page.add(_counts(findings))
    page.add(paragraph(MEANINGS, class_="note"))
    outcome = findings.friedman
    if outcome is not None:
        title = "Mean ranks of final medians over problems"
        page.pictures(critical_difference(title, findings.ranked, outcome, "problems", colors))
    page.pictures(mean_rank_course(findings, colors))
    page.pictures(**_views(findings, colors, performance))
    page.pictures(**_views(findings, colors, data))


def _views(
    findings: Findings, colors: Colors, draw: Callable[[Findings, float, Colors], Picture]
) -> dict[str, Picture]:
    return {f"{tolerance:g}": draw(findings, tolerance, colors) for tolerance in TOLERANCES}


def _ranks(findings: Findings) -> str:
    rows = []
    for problem in findings.problems:
        cells = dict.fromkeys(findings.ranked, NOTHING)
        for place, method in enumerate(problem.methods):
            cells[method] = f"{problem.interval_ranks[place]} / {problem.median_ranks[place]}"
        rows.append([problem.problem, *cells.values()])
    return table(
        ["problem", *findings.ranked],
        rows,
        "Rank by the interval of the mean / rank of the median, after the last evaluation",
    )


def _counts(findings: Findings) -> str:
    by_interval = [problem.interval_ranks for problem in findings.complete]
    by_median = [problem.median_ranks for problem in findings.complete]
    by_tests = [problem.stratified for problem in findings.complete]
    within = [problem.friedman for problem in findings.complete]
    by_friedman = [ranks(one.ranks) for one in within if one is not None]
    counts = [borda(by_interval), borda(by_median), borda(by_tests)]
    first = [firsts(by_interval), firsts(by_median), firsts(by_tests)]
    friedman = borda(by_friedman) if by_friedman else None
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
    kinds = ["interval", "median", "Mann-Whitney"]
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
    )
