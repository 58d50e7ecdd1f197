"""The table of finished runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.stopping.runs import NAMES
from benchmarks.stopping.tasks import Task

Run = Mapping[str, Any]

SAID = {"certified": "proven", "sampled": "2048 points", "uncalibrated": "proven, not calibrated"}


def report(tasks: Sequence[Task], runs: Sequence[Run]) -> str:
    """Return a row a task and rule, and the totals."""
    lines = [
        "| function | bound | stopped | evaluations, median | of a budget of | regret / tolerance "
        "at the stop, median (worst) | premature |",
        "|---|---|---|---|---|---|---|",
    ]
    for task in tasks:
        own = [run for run in runs if run["task"] == task.label]
        if own:
            lines += [_row(task.label, name, own) for name in NAMES]
    if runs:
        lines += [_row("all", name, runs) for name in NAMES]
        checks = [run["stops"]["certified"]["check"] for run in runs if "certified" in run["stops"]]
        counted = {verdict: checks.count(verdict) for verdict in sorted(set(checks))}
        lines += ["", f"Certificates of stops, checked again: {counted}."]
        lines += [_contradicted(runs)]
        used = sum(run["cpu"] for run in runs)
        lines += [f"{len(runs)} runs, {used:.0f} CPU seconds."]
    return "\n".join(lines)


def _contradicted(runs: Sequence[Run]) -> str:
    """Count sampled stops where ascents find a point of the same band above the tolerance."""
    found = [
        row["reached"] > run["tolerance"]
        for run in runs
        for row in run["trace"]
        if row["n"] == run["stops"].get("sampled", {}).get("n") and "reached" in row
    ]
    return (
        f"Sampled stops of a band that exceeds the tolerance at a point that ascents find: "
        f"{sum(found)} of {len(found)}."
    )


def _row(label: str, name: str, runs: Sequence[Run]) -> str:
    """Return the row of a rule; a run that it did not stop has its whole budget."""
    stops = [run["stops"].get(name) for run in runs]
    stopped = [stop for stop in stops if stop is not None]
    spent = [
        run["budget"] if stop is None else stop["n"] for run, stop in zip(runs, stops, strict=True)
    ]
    shares = [count / run["budget"] for count, run in zip(spent, runs, strict=True)]
    relative = [
        stop["regret"] / run["tolerance"]
        for run, stop in zip(runs, stops, strict=True)
        if stop is not None
    ]
    premature = sum(one > 1.0 for one in relative)
    budgets = {run["budget"] for run in runs}
    budget = f"{budgets.pop()}" if len(budgets) == 1 else "their own"
    middle = "none" if not relative else f"{median(relative):.2g} ({max(relative):.2g})"
    count = f"{median(spent):g}" if budget != "their own" else f"{100 * median(shares):.0f} %"
    return (
        f"| {label} | {SAID[name]} | {len(stopped)} of {len(runs)} | {count} | {budget} | {middle} "
        f"| {premature} |"
    )
