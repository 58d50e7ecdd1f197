"""Whether the targets are met: not wholly worse than the best peer, never worse than random.

On a function a method is wholly worse than another one if the 95 % interval of the paired
difference at the end is all above 0, for one at least of four intervals: of regrets and of their
logarithms, bootstrapped and of Student.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.regret.methods import RANDOM
from benchmarks.regret.problems import FEW_INPUTS, Case
from benchmarks.regret.results import Results
from nnbo_mip.lab.statistics.paired import Difference

SHARE_OF_FEW, SHARE_OF_MANY = 1.0 / 2.0, 2.0 / 3.0
"""Part of the functions of few and of many inputs on which the best peer is to be held."""


@dataclass(frozen=True)
class Held:
    """On how many functions a method is not wholly worse.

    Parameters
    ----------
    held, functions, aim : int
    by_interval : str
        How many each of the four intervals alone would count.
    """

    held: int
    functions: int
    aim: int
    by_interval: str

    @classmethod
    def of(cls, differences: Sequence[Difference], share: float) -> Held:
        """Count them."""
        held = sum(not one.is_wholly_worse for one in differences)
        names = list(differences[0].intervals) if differences else []
        counts = [
            f"{name} {sum(not one.intervals[name].is_above_zero for one in differences)}"
            for name in names
        ]
        aim = math.ceil(share * len(differences))
        return cls(held, len(differences), aim, ", ".join(counts))

    @property
    def met(self) -> bool:
        """Whether the aim was reached."""
        return self.held >= self.aim

    def line(self, what: str) -> str:
        """Return it as a sentence with its verdict."""
        return (
            f"    {_verdict(self.met)} {what}: not wholly worse than the best peer on "
            f"{self.held} of {self.functions} (aim {self.aim}; {self.by_interval})"
        )


def verdict_lines(results: Results, method: str) -> list[str]:
    """Return what is to be said of one method of ours."""
    lines = [f"{method}:"]
    for what, share, few in (
        (f"d <= {FEW_INPUTS}", SHARE_OF_FEW, True),
        (f"d > {FEW_INPUTS}", SHARE_OF_MANY, False),
    ):
        cases = [case for case in results.cases if case.has_few_inputs == few]
        pairs = (results.difference(case, method, results.best_peer(case)) for case in cases)
        known = [difference for difference in pairs if difference is not None]
        if known:
            lines.append(Held.of(known, share).line(what))
    against = _against_random(results, method)
    if against:
        lines.append(against)
    return lines if len(lines) > 1 else [f"{method}: no shared seeds yet"]


def _against_random(results: Results, method: str) -> str:
    """Return the verdict on never being worse than random points."""
    worse: list[str] = []
    wholly: list[str] = []
    cases: list[Case] = []
    for case in results.cases:
        difference = results.difference(case, method, RANDOM)
        if difference is None:
            continue
        cases.append(case)
        if difference.regret.value > 0.0:
            worse.append(case.label)
        if difference.is_wholly_worse:
            wholly.append(case.label)
    if not cases:
        return ""
    return (
        f"    {_verdict(not worse)} worse than random in the mean on {len(worse)} of {len(cases)}"
        f"{_named(worse)} (aim 0); wholly worse on {len(wholly)}{_named(wholly)}"
    )


def _named(labels: Sequence[str]) -> str:
    return f", {', '.join(labels)}" if labels else ""


def _verdict(met: bool) -> str:
    return "met   " if met else "MISSED"
