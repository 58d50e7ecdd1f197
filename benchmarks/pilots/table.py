"""The table of pilots: for each group the ratio to a way, and the mean rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.pilots.tasks import PILOT_TASKS

FLOOR = 1e-4
"""Regret, in units of a function's spread, below which runs count as equally good."""

Row = Mapping[str, Any]


def table(rows: Sequence[Row], ways: Sequence[str], readings: Sequence[int]) -> str:
    """Return the lines of each group, over the tasks and seeds that all ways have.

    A line has geometric means of regrets (for losses, of these) relative to those of the first
    way, and mean ranks, at each reading; lower is better.
    """
    head = [*(f"ratio at {n}" for n in readings), *(f"rank at {n}" for n in readings)]
    lines = [
        "| group | way | runs | "
        + " | ".join([*head, "CPU s a run", "CPU s an ask", "proven"])
        + " |"
    ]
    lines.append("|---|---|" + "---|" * (len(head) + 4))
    for group in dict.fromkeys(PILOT_TASKS[row["task"]].group for row in rows):
        cells = _shared([row for row in rows if PILOT_TASKS[row["task"]].group == group], ways)
        if not cells:
            continue
        reached = np.array([[row["reached"] for row in cell] for cell in cells])  # cells, ways, n
        floored = np.log(reached + FLOOR)
        ratios = np.exp((floored - floored[:, :1]).mean(axis=0))
        ranks = rankdata(floored, axis=1).mean(axis=0)
        cpu = np.array([[row["cpu"] for row in cell] for cell in cells]).mean(axis=0)
        ask = np.array([[row.get("ask", 0.0) for row in cell] for cell in cells])
        steps = np.array([[row.get("steps", 0) for row in cell] for cell in cells]).sum(axis=0)
        proven = np.array([[row.get("proven", 0) for row in cell] for cell in cells]).sum(axis=0)
        for k, way in enumerate(ways):
            numbers = [*(f"{one:.3g}" for one in ratios[k]), *(f"{one:.2f}" for one in ranks[k])]
            line = [group, way, str(len(cells)), *numbers, f"{cpu[k]:.1f}"]
            line.append(f"{np.median(ask[:, k]):.2g}" if ask[:, k].any() else "")
            line.append(f"{proven[k] / steps[k]:.0%}" if steps[k] else "")
            lines.append("| " + " | ".join(line) + " |")
    return "\n".join(lines)


def each(rows: Sequence[Row], ways: Sequence[str]) -> str:
    """Return a line a task: what each way had reached in the end, seed by seed."""
    lines = ["| task | " + " | ".join(ways) + " |", "|---|" + "---|" * len(ways)]
    for task in dict.fromkeys(row["task"] for row in rows):
        cells = []
        for way in ways:
            mine = [row for row in rows if (row["task"], row["way"]) == (task, way)]
            ends = [row["reached"][-1] for row in sorted(mine, key=lambda row: row["seed"])]
            cells.append(" ".join(f"{end:.2g}" for end in ends))
        lines.append(f"| {task} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _shared(rows: Sequence[Row], ways: Sequence[str]) -> list[list[Row]]:
    """Return the rows of each task and seed that all ways have, in the order of the ways."""
    found = {(row["task"], row["seed"], row["way"]): row for row in rows}
    pairs = sorted({(row["task"], row["seed"]) for row in rows})
    return [
        [found[*pair, way] for way in ways]
        for pair in pairs
        if all((*pair, way) in found for way in ways)
    ]
