"""Options that change from step to step: an xi that decays, a beta that grows.

An option that takes a schedule takes a number, a schedule, or its name with options:
``xi="decay:start=0.1,rate=0.8"``; inside another string it is written with brackets,
``"pi:xi=decay(start=0.1,rate=0.8)"``. Step k counts from 0, the first step with a model.

References
----------
Srinivas et al. (2010), the schedule of GP-UCB, `confidence` [Srinivas2010].
Brochu et al. (2010), its form with delta and nu [Brochu2010].
"""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nnbo_mip.core.checks import check_count, check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.registry import Registry


class Schedule(abc.ABC):
    """A number >= 0 for each step."""

    @abc.abstractmethod
    def value(self, step: int, n_inputs: int) -> float:
        """Return the number of step k = 0, 1, … in a space of `n_inputs` dimensions."""


@dataclass(frozen=True)
class Decay(Schedule):
    """``end + (start - end) rate^k``.

    Parameters
    ----------
    start, end : float
        First number, and the one that is approached; at least zero.
    rate : float
        Of each step, between 0 and 1.
    """

    start: float
    rate: float = 0.9
    end: float = 0.0

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("start", self.start, least=0.0)
        check_number("rate", self.rate, least=0.0, below=1.0)
        check_number("end", self.end, least=0.0)

    def value(self, step: int, n_inputs: int) -> float:
        """Return the number of step k."""
        return self.end + (self.start - self.end) * self.rate**step


@dataclass(frozen=True)
class Ramp(Schedule):
    """From `start` to `end` in equal steps, then constant.

    Parameters
    ----------
    start, end : float
        At least zero.
    steps : int
        Number of the step that reaches `end`.
    """

    start: float
    end: float
    steps: int

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("start", self.start, least=0.0)
        check_number("end", self.end, least=0.0)
        check_count("steps", self.steps)

    def value(self, step: int, n_inputs: int) -> float:
        """Return the number of step k."""
        share = min(step / self.steps, 1.0)
        return (1.0 - share) * self.start + share * self.end


@dataclass(frozen=True)
class Confidence(Schedule):
    r"""The beta with which upper confidence bounds of a Gaussian process have bounded regret.

    ``sqrt(2 nu log(t^(d/2 + 2) pi^2 / (3 delta)))``, t = k + 1, in d dimensions.

    Parameters
    ----------
    delta : float
        Probability that a bound fails, between 0 and 1.
    nu : float
        The theory needs 1; smaller ones explore less.
    """

    delta: float = 0.1
    nu: float = 1.0

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("delta", self.delta, above=0.0, below=1.0)
        check_number("nu", self.nu, above=0.0)

    def value(self, step: int, n_inputs: int) -> float:
        """Return the number of step k."""
        size = (0.5 * n_inputs + 2.0) * math.log(step + 1.0)
        return math.sqrt(2.0 * self.nu * (size + math.log(math.pi**2 / (3.0 * self.delta))))


Scheduled = float | str | Mapping[str, Any] | Schedule
"""What an option that may change from step to step can be given as."""

registry: Registry[Schedule] = Registry(
    "schedule",
    Schedule,
    {
        "decay": f"{__name__}:Decay",
        "ramp": f"{__name__}:Ramp",
        "confidence": f"{__name__}:Confidence",
    },
    group="nnbo_mip.schedules",
)
"""Filled by this module, by entry points, and by `register`."""


def number_in_step(
    name: str, given: str | Mapping[str, Any] | Schedule, step: int, n_inputs: int
) -> float:
    """Return the number that a schedule gives an option in a step."""
    if isinstance(given, str) and given.endswith(")"):
        head, bracket, options = given[:-1].partition("(")
        if bracket and head.strip().isidentifier():
            given = f"{head}:{options}"
    value = registry.create(given).value(step, n_inputs)
    if not (math.isfinite(value) and value >= 0.0):
        raise InputError(
            f"the schedule of {name} must give finite numbers >= 0; got {value!r} at step {step}; "
            f"mend {given!r:.60}."
        )
    return float(value)
