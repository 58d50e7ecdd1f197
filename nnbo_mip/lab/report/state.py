"""The sections on how far the experiment is, what failed, and what it was run with."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from html import escape

import numpy as np

from nnbo_mip.drawing.page.html import paragraph, table, tag
from nnbo_mip.drawing.page.pages import Page
from nnbo_mip.lab.statistics.findings import Findings
from nnbo_mip.lab.store.results import Results

SHOWN_FAILURES = 20

FEW = 12
"""Methods whose units are shown without being asked for, while there are some to be run."""


def add_state(page: Page, results: Results, findings: Findings) -> None:
    """Write what there is, and say it where a part is missing."""
    page.section("State")
    experiment, status = results.experiment, results.units["status"]
    if experiment.description:
        page.add(paragraph(experiment.description))
    finished, failed = (int((status == name).sum()) for name in ("finished", "failed"))
    page.add(
        paragraph(
            f"{finished} of {len(status)} units are finished, {failed} failed, "
            f"{len(status) - finished - failed} are still to be run. The plan was written "
            f"{_moment(experiment.changed)}."
        )
    )
    for sentence in warnings(findings, finished, len(status)):
        page.add(paragraph(sentence, class_="warning"))
    if len(status):
        summary = tag("summary", f"Units of each of {len(results.methods)} methods")
        opened = {"open": ""} if finished < len(status) and len(results.methods) <= FEW else {}
        page.add(tag("details", summary, _units(results), **opened))


def warnings(findings: Findings, finished: int, planned: int) -> list[str]:
    """Return what a reader must know before believing the figures."""
    if not finished:
        return ["Nothing is finished yet, so that there is nothing to draw or to rank."]
    said = []
    if finished < planned:
        said.append("The experiment is not finished: figures, ranks and tests may still change.")
    missing = [method for method in findings.methods if method not in findings.ranked]
    if missing:
        said.append(f"No results yet of {', '.join(missing)}.")
    lost = sum(sample.without_values for problem in findings.problems for sample in problem.samples)
    if lost:
        said.append(
            f"{lost} finished units have no value at all, because every evaluation failed; they "
            "are left out."
        )
    alone = any(len(sample) < 2 for problem in findings.problems for sample in problem.samples)
    if alone:
        said.append("Intervals need two instances at least; some methods have one.")
    return said


def add_failures(page: Page, results: Results) -> None:
    """Write the units that failed, with what they said."""
    failed = results.units.where(results.units["status"] == "failed")
    if not len(failed):
        return
    page.section("Failures")
    for row in failed.where(np.arange(min(len(failed), SHOWN_FAILURES))).rows():
        lines = row["message"].strip().splitlines() or ["no message"]
        head = f"{row['problem']}, {row['method']}, instance {row['instance']}: {lines[-1]}"
        body = tag("pre", escape(row["message"]), tabindex="0")
        page.add(tag("details", tag("summary", escape(head)), body))
    if len(failed) > SHOWN_FAILURES:
        page.add(paragraph(f"And {len(failed) - SHOWN_FAILURES} more."))


def add_settings(page: Page, results: Results) -> None:
    """Write the experiment's file and the machines and versions that it was run with."""
    page.section("Settings")
    page.add(
        tag(
            "details",
            tag("summary", "The experiment's file"),
            tag("pre", escape(results.experiment.file), tabindex="0"),
        )
    )
    used = results.units["environment"]
    for environment in np.unique(used[~np.isnan(used)]):
        content = json.dumps(results.environment(float(environment)), indent=2)
        count = int((used == environment).sum())
        page.add(
            tag(
                "details",
                tag("summary", f"Machine and versions of {count} units"),
                tag("pre", escape(content), tabindex="0"),
            )
        )


def _units(results: Results) -> str:
    units = results.units
    rows = []
    for method in results.methods:
        chosen = units.where(units["method"] == method)
        counts = [
            int((chosen["status"] == name).sum()) for name in ("finished", "failed", "planned")
        ]
        rows.append([method, *map(str, counts)])
    return table(["method", "finished", "failed", "to be run"], rows, "Units")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
