"""Whether the targets are met, cell by cell: a cell is a task and a number of evaluations.

In a cell a method is wholly worse than a rival, or wholly better, if all four 95 % intervals of
the paired difference are above 0, or below: of regrets and of their logarithms, bootstrapped and of
Student, after Holm's correction over the cells of the group.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.everyday.methods import RANDOM
from benchmarks.everyday.results import Results
from benchmarks.everyday.tasks import Everyday
from nnbo_mip.lab.statistics.paired import Difference
from nnbo_mip.lab.statistics.tests import holm

LEVEL = 0.05

HELD, BETTER = 9.0 / 10.0, 1.0 / 3.0
"""Share of the cells on which the best peer is to be held, and to be beaten."""


@dataclass(frozen=True)
class Cell:
    """A method beside a rival.

    Parameters
    ----------
    task : Everyday
    evaluations : int
    rival : str
    difference : Difference
    p : float
        After Holm's correction.
    """

    task: Everyday
    evaluations: int
    rival: str
    difference: Difference
    p: float

    @property
    def verdict(self) -> str:
        """``worse``, ``better`` or nothing."""
        if self.p > LEVEL:
            return ""
        return "worse" if self.difference.regret.value > 0.0 else "better"


def cells_of(results: Results, group: str, method: str, rival: str = "") -> list[Cell]:
    """Return the cells of a group, beside the best peer of each, or beside one rival."""
    found = []
    for task in results.of_group(group):
        for count in results.readings:
            other = rival or results.best_peer(task, count)
            difference = results.difference(task, method, other, count)
            if difference is not None and other is not None:
                found.append((task, count, other, difference))
    corrected = holm([one[-1].p for one in found])
    return [Cell(*one, float(p)) for one, p in zip(found, corrected, strict=True)]


def verdict_lines(results: Results, method: str) -> list[str]:
    """Return what is to be said of a method of ours, a line a group and rival."""
    lines = [f"{method}:"]
    for group in results.groups:
        cells = cells_of(results, group, method)
        if not cells:
            continue
        worse = [cell for cell in cells if cell.verdict == "worse"]
        better = [cell for cell in cells if cell.verdict == "better"]
        held = len(cells) - len(worse)
        lines += [
            _line(
                held >= math.ceil(HELD * len(cells)),
                f"{group}: not wholly worse than the best peer in {held} of {len(cells)} cells "
                f"(aim {math.ceil(HELD * len(cells))})",
                worse,
            ),
            _line(
                len(better) >= math.ceil(BETTER * len(cells)),
                f"{group}: wholly better in {len(better)} of {len(cells)} "
                f"(aim {math.ceil(BETTER * len(cells))})",
            ),
        ]
        drawn = cells_of(results, group, method, RANDOM)
        below = [cell for cell in drawn if cell.verdict == "worse"]
        if drawn:
            lines.append(
                _line(
                    not below,
                    f"{group}: wholly worse than random points in {len(below)} of {len(drawn)} "
                    "(aim 0)",
                    below,
                )
            )
    return lines if len(lines) > 1 else [f"{method}: no two shared seeds yet"]


def _line(met: bool, text: str, cells: Sequence[Cell] = ()) -> str:
    named = ", ".join(f"{cell.task.label} @{cell.evaluations}" for cell in cells)
    return f"    {'met   ' if met else 'MISSED'} {text}{': ' + named if named else ''}"
