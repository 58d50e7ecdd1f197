"""The section of one problem: curves, final losses, tests, where points were sampled."""

from __future__ import annotations

from nnbo_mip.drawing.page.html import NOTHING, number, paragraph, table
from nnbo_mip.drawing.page.pages import Page
from nnbo_mip.drawing.picture import Picture
from nnbo_mip.lab.pictures.contours import points
from nnbo_mip.lab.pictures.ranks import critical_difference
from nnbo_mip.lab.pictures.regret import Colors, boxes, regret
from nnbo_mip.lab.report.ranking import FEW, why_silent
from nnbo_mip.lab.report.surfaces import Surfaces
from nnbo_mip.lab.statistics.findings import ProblemFindings, Sample
from nnbo_mip.lab.statistics.intervals import Interval
from nnbo_mip.lab.store.results import Results


def add_problem(page: Page, found: ProblemFindings, results: Results, colors: Colors) -> None:
    """Write the section; a sentence where nothing is finished yet."""
    page.section(found.problem)
    units = results.units
    rows = units.where(units["problem"] == found.problem)
    finished = int((rows["status"] == "finished").sum())
    inputs = "1 input" if found.dimension == 1 else f"{found.dimension} inputs"
    page.add(
        paragraph(
            f"{inputs}, {found.starts} shared starts and {int(rows['steps'][0])} evaluations more; "
            f"{finished} of {len(rows)} units are finished."
        )
    )
    if not found.samples:
        page.add(paragraph("No method has results yet.", class_="empty"))
        return
    page.pictures(**{name: regret(found, name, colors) for name in ("median", "mean")})
    planned = {method: int((rows["method"] == method).sum()) for method in found.methods}
    count = len(found.methods)
    with page.folded(f"Final losses and ranks of all {count} methods", count > FEW):
        page.add(_finals(found, planned))
        page.pictures(boxes(found, colors))
        if found.friedman is not None and len(found.common) > 1:
            title = f"{found.problem}: mean ranks over instances"
            page.pictures(
                critical_difference(title, found.methods, found.friedman, "instances", colors)
            )
    page.pictures(**_sampled(found, results, colors))


def _finals(found: ProblemFindings, planned: dict[str, int]) -> str:
    friedman, silent = found.friedman, why_silent([found])
    rows = [
        [
            sample.method,
            f"{len(sample)} of {planned[sample.method]}",
            *_interval(sample.final_mean),
            *_interval(sample.final_median),
            number(float(sample.final.min())),
            number(float(sample.final.max())),
            str(found.interval_ranks[place]),
            str(found.median_ranks[place]),
            *([str(found.stratified[place])] if not silent else []),
            NOTHING if friedman is None else number(float(friedman.ranks[place])),
        ]
        for place, sample in enumerate(found.samples)
    ]
    head = ["method", "instances", "mean", "95 %", "median", "95 %", "least", "most"]
    head += ["rank by interval", "rank of median"]
    head += ["mean rank"] if silent else ["rank by Mann-Whitney", "mean rank"]
    title = f"{found.measure} after {found.evaluations} evaluations"
    return table(head, rows, title, sortable=True)


def _interval(interval: Interval) -> tuple[str, str]:
    return number(interval.value), f"{number(interval.low)} … {number(interval.high)}"


def _sampled(found: ProblemFindings, results: Results, colors: Colors) -> dict[str, Picture]:
    """Return where each method sampled, in its median instance."""
    made: dict[str, Picture] = {}
    surfaces = Surfaces(results)
    for sample in found.samples if found.dimension <= 2 else ():
        unit = _median_unit(sample)
        sampled = surfaces.of(unit)
        if sampled is None:
            return {}
        rows = results.observations["unit"] == unit
        instance = sample.instances[sample.units == unit][0]
        made[sample.method] = points(
            f"{found.problem}: {sample.method} in instance {instance}, that of its median",
            sampled.surface,
            sampled.points,
            results.observations["y"][rows],
            found.starts,
            colors[sample.method],
        )
    return made


def _median_unit(sample: Sample) -> int:
    order = sample.final.argsort(kind="stable")
    return int(sample.units[order[(len(sample) - 1) // 2]])
