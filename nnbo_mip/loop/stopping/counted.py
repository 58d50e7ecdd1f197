"""Rules that count: evaluations, seconds, evaluations without progress, a value that is reached."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.core.checks import check_count, check_number
from nnbo_mip.loop.stopping.rule import Standing, StopRule, Verdict


@dataclass(frozen=True)
class Budget(StopRule):
    """Stop after so many evaluations.

    Parameters
    ----------
    evaluations : int
        Of the whole run, initial points and failures included.
    """

    name: ClassVar[str] = "budget"

    evaluations: int

    def __post_init__(self) -> None:
        """Refuse a count that is none."""
        check_count("evaluations", self.evaluations)

    def verdict(self, run: Standing) -> Verdict:
        """Compare the evaluations that were made."""
        made = run.evaluations
        said = f"{made} evaluations were made, of {self.evaluations}"
        return self._says(made >= self.evaluations, said, made)


@dataclass(frozen=True)
class Time(StopRule):
    """Stop after so much wall time; an evaluation that has begun is finished.

    Parameters
    ----------
    seconds : float
        Of all calls that worked on the run, evaluations included. Where `ask` and `tell` are
        called by hand, since the first of them in this process.
    """

    name: ClassVar[str] = "time"

    seconds: float

    def __post_init__(self) -> None:
        """Refuse a time that is none."""
        check_number("seconds", self.seconds, above=0.0)

    def verdict(self, run: Standing) -> Verdict:
        """Compare the time that has passed."""
        said = f"the run has taken {run.seconds:.1f} s, of {self.seconds:g} s"
        return self._says(run.seconds >= self.seconds, said, run.seconds)


@dataclass(frozen=True)
class Patience(StopRule):
    """Stop after so many evaluations in a row that improved nothing.

    Parameters
    ----------
    evaluations : int
        Of points that a model chose.
    least : float
        An improvement of the best value that is no larger does not count; in units of y.
    """

    name: ClassVar[str] = "patience"

    evaluations: int
    least: float = 0.0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_count("evaluations", self.evaluations)
        check_number("least", self.least, least=0.0)

    def verdict(self, run: Standing) -> Verdict:
        """Count the values since the last one that improved the best one of before."""
        sign = 1.0 if run.direction == "maximize" else -1.0
        best, since = -math.inf, 0
        for value, is_chosen in zip(run.values, run.chosen, strict=True):
            improves = value is not None and sign * value > best + self.least
            since = 0 if improves else since + is_chosen
            if improves and value is not None:
                best = sign * value
        than = f" by more than {self.least:g}" if self.least else ""
        said = f"{since} evaluations in a row improved nothing{than}, of {self.evaluations}"
        return self._says(since >= self.evaluations, said, since)


@dataclass(frozen=True)
class Target(StopRule):
    """Stop where a value is reached.

    Parameters
    ----------
    value : float
        In the user's units and direction. Where values are noisy, the model's mean at the best
        evaluated point has to reach it: the best value alone may be luck.
    """

    name: ClassVar[str] = "target"

    value: float

    def __post_init__(self) -> None:
        """Refuse a value that is none."""
        check_number("value", self.value)

    def verdict(self, run: Standing) -> Verdict:
        """Compare the best value."""
        best = run.best_value()
        if best is None:
            return self._says(False, "no evaluation has a value", math.nan)
        stops = best <= self.value if run.direction == "minimize" else best >= self.value
        said = f"the best value is {best:.6g}, the target {self.value:g}"
        return self._says(stops, said, best)
