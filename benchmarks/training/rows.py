"""Rows of the training benchmark: what was measured, the target, met or missed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Parameters
    ----------
    what : str
        What was measured.
    reached : str
        The figure, with its unit.
    target : str
        What was aimed at; empty where there is none.
    met : bool, optional
        Whether it was reached; None where there is no target.
    """

    what: str
    reached: str
    target: str = ""
    met: bool | None = None

    @staticmethod
    def below(what: str, seconds: float, limit: float) -> Row:
        """Return the row of a time that is to stay below a limit, both in seconds."""
        return Row(what, duration(seconds), f"< {duration(limit)}", seconds < limit)

    @property
    def verdict(self) -> str:
        """``met``, ``MISSED`` or nothing."""
        return "" if self.met is None else "met" if self.met else "MISSED"


def duration(seconds: float) -> str:
    """Format a time."""
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the CPU seconds of this process that one call takes."""
    before = time.process_time()
    call()
    return time.process_time() - before


def median_cpu_seconds(*calls: Callable[[], object], repeats: int = 5) -> list[float]:
    """Return each call's median, the calls taking turns after one round that warms up."""
    for call in calls:
        call()
    rounds = [[cpu_seconds(call) for call in calls] for _ in range(repeats)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def markdown(rows: Sequence[Row]) -> str:
    """Return the table."""
    lines = [("what", "reached", "target", ""), ("---",) * 4]
    lines += [(row.what, row.reached, row.target, row.verdict) for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
