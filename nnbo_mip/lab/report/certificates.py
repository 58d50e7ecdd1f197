"""The section on what was proven of steps, and on the time that methods took."""

from __future__ import annotations

import numpy as np

from nnbo_mip.drawing.page.html import number, paragraph, percent, table
from nnbo_mip.drawing.page.pages import Page
from nnbo_mip.drawing.picture import Picture
from nnbo_mip.lab.pictures.doublings import doublings
from nnbo_mip.lab.pictures.gaps import Gaps, gaps_against_time
from nnbo_mip.lab.pictures.regret import Colors
from nnbo_mip.lab.statistics.misses import Misses, first_steps, misses
from nnbo_mip.lab.store.results import Results
from nnbo_mip.lab.store.step_totals import mean_doublings, sampled_gaps, step_totals

MOST_DOTS = 250
"""Of a method in one picture."""


MISSED = (
    "In the first step after the shared starts, methods that differ in the maximizer alone "
    "maximize the same function. Where one of them closed its proof the maximum is known, and "
    "whoever stayed more than 0.1 % below it missed it. Later steps of different runs are "
    "different questions, so that their misses are not known from a store; nnbo-mip compare asks "
    "all maximizers the same one."
)


def add_certificates(page: Page, results: Results, colors: Colors) -> None:
    """Write the section; nothing where no model chose a point."""
    totals = step_totals(results)
    if not len(totals):
        return
    page.section("Certificates")
    found = misses(first_steps(results))
    rows = [
        [
            row["method"],
            str(row["steps"]),
            _missed(found.get(row["method"])),
            percent(row["optimal"], row["steps"]),
            percent(row["proven"], row["steps"]),
            percent(row["time_limited"], row["steps"]),
            number(row["doublings"] / row["steps"]),
            number(row["seconds"] / row["steps"]),
            number(row["fit_seconds"] / row["steps"]),
            number(row["evaluations"] / row["steps"]),
            str(row["messages"]),
        ]
        for row in totals.rows()
    ]
    head = ["method", "steps", "missed the maximum (first steps)", "gap closed", "bound proven"]
    head += ["ended by time", "doublings a step"]
    head += ["seconds maximizing", "seconds fitting", "evaluations a step", "messages"]
    title = "Steps of finished units; figures a step are means"
    page.add(table(head, rows, title, sortable=True))
    page.add(paragraph(MISSED, class_="note"))
    proven = [row["method"] for row in totals.rows() if row["proven"]]
    if proven:
        page.pictures(**{name: _gaps(results, name, proven, colors) for name in results.problems})
    if totals["doublings"].any():
        page.pictures(
            **{
                name: doublings(name, mean_doublings(results, name), colors)
                for name in results.problems
            }
        )


def add_times(page: Page, results: Results) -> None:
    """Write how long the units of each method took."""
    units = results.units.where(results.units["status"] == "finished")
    if not len(units):
        return
    page.section("Time")
    rows = []
    for method in results.methods:
        chosen = units.where(units["method"] == method)
        if len(chosen):
            seconds = chosen["seconds"]
            rows.append(
                [
                    method,
                    str(len(chosen)),
                    number(float(np.mean(seconds))),
                    number(float(np.median(seconds))),
                    number(float(np.max(seconds))),
                    number(float(np.mean(chosen["cpu_seconds"]))),
                ]
            )
    head = ["method", "units", "mean wall", "median wall", "longest", "mean CPU"]
    page.add(table(head, rows, "Seconds a unit", sortable=True))


def _missed(found: Misses | None) -> str:
    if found is None or not found.known:
        return "not known"
    return f"{found.missed / found.known:.0%}: {found.missed} of {found.known}"


def _gaps(results: Results, problem: str, methods: list[str], colors: Colors) -> Picture:
    parts = []
    for method in methods:
        found = sampled_gaps(results, problem, method, MOST_DOTS)
        parts.append(Gaps(method, found["seconds"], found["gap"]))
    note = f"Of many steps, up to {MOST_DOTS} a method are shown."
    return gaps_against_time(problem, parts, colors, note)
