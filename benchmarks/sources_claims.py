"""`Claim` and `Evidence`: what a source says, what it prints, what was found here.

A verdict is a rule of its claim, applied to the runs that there are; how many there are stands
beside it. A claim that counts cases is *held* if it is true of all, *not held* if of none, and else
*in part*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.sources_runs import Runs
from nnbo_mip.lab.statistics_intervals import interval_of

HELD, PARTLY, NOT_HELD = "held", "in part", "not held"


@dataclass(frozen=True)
class Claim:
    """A row of the table.

    Parameters
    ----------
    row : str
        Of the checklist.
    claim, published, ours : str
    runs : str
        How many instances it rests on, of those that were published.
    verdict : str
    """

    row: str
    claim: str
    published: str
    ours: str
    runs: str
    verdict: str

    @property
    def cells(self) -> list[str]:
        """Return the cells of the table."""
        return [self.row, self.claim, self.published, self.ours, self.runs, self.verdict]


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

        A problem is named without its options.
        """
        found = []
        for one in self.runs:
            own = {name: getattr(one, name) for name in chosen}
            if "problem" in own:
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

    def problems(self, experiment: str) -> list[str]:
        """Return names of problems without their options, in the order of the plan."""
        return list(dict.fromkeys(one.problem.partition(":")[0] for one in self.all(experiment)))


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


def instances(runs: Sequence[Runs], published: int) -> str:
    """Return how many instances there are, the fewest and the most, of those published."""
    least, most = (pick(len(one.finals) for one in runs) for pick in (min, max))
    number = str(least) if least == most else f"{least} to {most}"
    return f"{number} of {published}"
