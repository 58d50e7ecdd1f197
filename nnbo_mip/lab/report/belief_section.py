"""The section on what models believed, on problems of one variable."""

from __future__ import annotations

from functools import partial

from nnbo_mip.core.errors import NnboError
from nnbo_mip.drawing.page.html import paragraph
from nnbo_mip.drawing.page.pages import Page, Part
from nnbo_mip.drawing.picture import Picture
from nnbo_mip.lab.pictures.belief import acquisition, belief
from nnbo_mip.lab.pictures.regret import Colors
from nnbo_mip.lab.report.repeated import repeated_beliefs
from nnbo_mip.lab.statistics.findings import Findings, Sample
from nnbo_mip.lab.store.results import Results


def belief_parts(
    page: Page, results: Results, findings: Findings, steps: int, colors: Colors
) -> list[Part]:
    """Return what takes first steps of one instance of each method again, and draws them."""
    units = results.units
    baselines = set(units["method"][units["surrogate"] == ""].tolist())
    chosen = [
        (problem.problem, sample)
        for problem in findings.problems
        if problem.dimension == 1
        for sample in problem.samples
        if sample.method not in baselines
    ]
    return [
        Part("beliefs", partial(_begin, page, bool(chosen))),
        *(
            Part(
                f"beliefs of {sample.method} on {problem}",
                partial(_add, page, results, problem, sample, steps, colors[sample.method]),
            )
            for problem, sample in chosen
        ),
    ]


def _begin(page: Page, is_any: bool) -> None:
    page.section("Beliefs")
    if not is_any:
        page.add(paragraph("No method with a model has finished a problem of one variable."))


def _add(
    page: Page, results: Results, problem: str, sample: Sample, steps: int, color: int
) -> None:
    title = f"{problem}, {sample.method}, instance {sample.instances[0]}"
    try:
        lines = repeated_beliefs(results, int(sample.units[0]), steps)
    except NnboError as error:
        page.add(paragraph(f"{title}: not drawn. {error}", class_="warning"))
        return
    views: dict[str, Picture] = {}
    scores: dict[str, Picture] = {}
    for number, line in enumerate(lines, start=1):
        views[f"step {number}"] = belief(f"{title}, step {number}", line, color)
        scores[f"step {number}"] = acquisition(f"{title}, step {number}", line, color)
    page.pictures(**views)
    page.pictures(**scores)
