"""`Claim` and `Evidence`: what a source says, what it prints, what was found here.

A verdict is a rule of its claim, applied to the runs that there are; how many there are stands
beside it. A claim that counts cases is *held* if it is true of all, *not held* if of none, and else
*in part*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.sources.runs import Runs
from nnbo_mip.lab.statistics.intervals import interval_of

HELD, PARTLY, NOT_HELD = "held", "in part", "not held"

FEW = 5
"""With fewer instances a verdict is shown in brackets and is not counted."""


@dataclass(frozen=True)
class Extent:
    """How much a claim rests on.

    Parameters
    ----------
    fewest, most : int
        Instances of the methods that it is about.
    published : int or None
        What the source has; None where it has nothing.
    """

    fewest: int
    most: int
    published: int | None

    def __str__(self) -> str:
        number = str(self.fewest)
        if self.fewest != self.most:
            number += f" to {self.most}"
        return number if self.published is None else f"{number} of {self.published}"


@dataclass(frozen=True)
class Claim:
    """A row of the table.

    Parameters
    ----------
    row : str
        Of the checklist.
    claim, published, ours : str
    extent : Extent
    verdict : str
        Empty where there is nothing to judge.
    """

    row: str
    claim: str
    published: str
    ours: str
    extent: Extent
    verdict: str

    @property
    def counts(self) -> bool:
        """Whether there are instances enough for its verdict."""
        return bool(self.verdict) and self.extent.fewest >= FEW

    @property
    def cells(self) -> list[str]:
        """Return the cells of the table."""
        verdict = self.verdict if self.counts or not self.verdict else f"({self.verdict})"
        return [self.row, self.claim, self.published, self.ours, str(self.extent), verdict]


@dataclass(frozen=True)
class Evidence:
    """Finds runs by what was chosen.

    Parameters
    ----------
    runs : sequence of Runs
    """

    runs: Sequence[Runs]

    def all(self, experiment: str, **chosen: object) -> list[Runs]:
        """Return the runs of an experiment whose attributes are as chosen.

        A problem is named with its options, or without where that is one problem.
        """
        found = []
        for one in self.runs:
            own = {name: getattr(one, name) for name in chosen}
            if "problem" in own and ":" not in str(chosen["problem"]):
                own["problem"] = one.problem.partition(":")[0]
            if one.experiment == experiment and own == chosen:
                found.append(one)
        return found

    def get(self, experiment: str, **chosen: object) -> Runs | None:
        """Return the only such runs; None where there are none."""
        found = self.all(experiment, **chosen)
        if len(found) > 1:
            raise ValueError(f"{chosen} of {experiment!r} must be one method; {len(found)} are.")
        return found[0] if found else None


def counted(cases: Sequence[bool]) -> str:
    """Return the verdict of a claim that is about many cases."""
    if not any(cases):
        return NOT_HELD
    return HELD if all(cases) else PARTLY


def share(cases: Sequence[bool]) -> str:
    """Return of how many cases a claim is true."""
    return f"{sum(cases)} of {len(cases)}"


def within(ours: float, published: float, factor: float) -> bool:
    """Whether two positive figures differ by a factor at most."""
    return published / factor <= ours <= published * factor


def mean(runs: Runs) -> float:
    """Return the mean final regret."""
    return float(np.mean(runs.finals))


def median(runs: Runs) -> float:
    """Return the median final regret."""
    return float(np.median(runs.finals))


def shared(runs: Sequence[Runs]) -> list[int]:
    """Return the instances that all have finished."""
    common = set(runs[0].instances)
    for one in runs[1:]:
        common &= set(one.instances)
    return sorted(common)


def best_budget(runs: Sequence[Runs], common: Sequence[int]) -> Runs:
    """Return those of one method, by budget, whose mean has the lowest upper end of its interval.

    On instances that all have; with a single one, whose regret is the least.
    """

    def upper(one: Runs) -> float:
        values = one.on(common)
        return interval_of(values).high if len(values) > 1 else float(values[0])

    return min(runs, key=upper)


def instances(runs: Sequence[Runs], published: int | None) -> Extent:
    """Return how many instances methods have."""
    numbers = [len(one.finals) for one in runs]
    return Extent(min(numbers), max(numbers), published)
