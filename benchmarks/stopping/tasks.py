"""The functions, how exactly they are to be solved, and the budget that a stop is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.problems.problem import Problem

SHARE = 0.01
"""The tolerance: this part of what a uniform point loses in the mean."""

POINTS = 20_000
"""Uniform points for that mean."""


@dataclass(frozen=True)
class Task:
    """A function to be solved to a tolerance.

    Parameters
    ----------
    label : str
    spec : str or mapping
        What `nnbo_mip.problems.create` takes.
    budget : int
        Evaluations of a run that nothing stops.
    noisy : bool
        Whether values have a noise, which is told: its deviation is half of the tolerance.
    """

    label: str
    spec: str | Mapping[str, Any]
    budget: int
    noisy: bool = False

    def problem(self) -> Problem:
        """Return the function, free of noise."""
        return nm.problems.create(self.spec)

    def tolerance(self) -> float:
        """Return the regret that is small enough."""
        problem = self.problem()
        assert problem.optimum is not None
        rng = np.random.default_rng(0)
        domain = problem.space.numeric()
        points = domain.lower + (domain.upper - domain.lower) * rng.random(
            (POINTS, domain.dimension)
        )
        return SHARE * float(np.asarray(problem.regret(points)).mean())


TASKS = (
    Task("forrester 1", "forrester", 40),
    Task("branin 2", "branin", 60),
    Task("camelback 2", "camelback", 60),
    Task("hartmann3 3", "hartmann3", 80),
    Task("levy 4", "levy:dimension=4", 100),
    Task("styblinski_tang 5", "styblinski_tang:dimension=5", 120),
    Task("branin 2, noisy", "branin", 60, noisy=True),
    Task("hartmann3 3, noisy", "hartmann3", 80, noisy=True),
)
"""What the page shows."""

PILOTS = (
    Task("sinone 1", "sinone", 40),
    Task("mccormick 2", "mccormick", 60),
    Task("goldstein_price 2", "goldstein_price", 60),
    Task("three_hump_camel 2", "three_hump_camel", 60),
    Task("rosenbrock 3", "rosenbrock:dimension=3", 80),
    Task("michalewicz 2", "michalewicz:dimension=2", 60),
    Task("griewank 2", "griewank:dimension=2", 60),
    Task("ackley 3", "ackley:dimension=3", 80),
    Task("mccormick 2, noisy", "mccormick", 60, noisy=True),
)
"""By which the width of the band was chosen."""
