"""`Plan`: the units of an experiment, each with what a report calls it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nnbo_mip.lab.plan.unit import Unit


@dataclass(frozen=True)
class PlannedUnit:
    """A unit and its labels.

    Parameters
    ----------
    unit : Unit
    problem, method : str
        Labels; the method's is unique within an experiment.
    surrogate, acquisition, maximizer : str
        As the experiment's file has them; empty for a baseline.
    budget : float or None
        Of the mean width; None where the uncertainty is not scaled to one.
    variant : str
        The other options, as in ``escape=none, gap=0.01``; empty where there are none.
    dimension : int
        Of the problem.
    direction : {"minimize", "maximize"}
        Of y, which is "maximize" in a scaled problem.
    optimum : float or None
        The best value of y; None where it is not known.
    """

    unit: Unit
    problem: str
    method: str
    surrogate: str
    acquisition: str
    maximizer: str
    budget: float | None
    variant: str
    dimension: int
    direction: str
    optimum: float | None


@dataclass(frozen=True)
class Plan:
    """What an experiment's file asks for.

    Parameters
    ----------
    name, description : str
    file : str
        Its text.
    metrics : tuple of str
        What is to be reported.
    units : tuple of PlannedUnit
        In the order in which they are begun; no two are the same unit.
    skipped : tuple of str
        Why pairs of a problem and a method were left out, where the file has ``skip = true``.
    """

    name: str
    description: str
    file: str
    metrics: tuple[str, ...]
    units: tuple[PlannedUnit, ...]
    skipped: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.units)

    def __iter__(self) -> Iterator[PlannedUnit]:
        return iter(self.units)
