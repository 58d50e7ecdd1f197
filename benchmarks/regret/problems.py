"""The suites: which functions, from how many starts, for how many evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import nnbo_mip as nm

FEW_INPUTS = 3
"""Up to which dimension a function counts as one of few inputs."""


@dataclass(frozen=True)
class Case:
    """A function of a suite.

    Parameters
    ----------
    label, spec : str
        Its name in tables, and for `nm.problems.create`.
    starts, evaluations : int
        Shared starts, and evaluations with them.
    baseline : float, optional
        Value that a score of 0 stands for.
    """

    label: str
    spec: str
    starts: int
    evaluations: int
    baseline: float | None = None

    @property
    def problem(self) -> nm.problems.Problem:
        """The function itself."""
        return nm.problems.create(self.spec)

    @property
    def has_few_inputs(self) -> bool:
        """Whether its dimension is at most `FEW_INPUTS`."""
        return self.problem.dimension <= FEW_INPUTS

    @property
    def domain(self) -> str:
        """Its box, as a person writes it."""
        box = self.problem.space.numeric()
        sides = [f"[{low:g}, {high:g}]" for low, high in zip(box.lower, box.upper, strict=True)]
        return f"{sides[0]}^{len(sides)}" if len(set(sides)) == 1 else " x ".join(sides)


def with_budget(label: str, spec: str, dimension: int, steps: int = 50) -> Case:
    """Return a function with 8 + 2 d starts and so many evaluations after them."""
    starts = 8 + 2 * dimension
    return Case(label, spec, starts, starts + steps)


FUNCTIONS = (
    with_budget("branin", "branin", 2),
    with_budget("camelback", "camelback", 2),
    with_budget("goldstein_price", "goldstein_price", 2),
    with_budget("hartmann3", "hartmann3", 3),
    with_budget("levy5", "levy:dimension=5", 5),
    with_budget("rosenbrock5", "rosenbrock:dimension=5", 5),
    with_budget("hartmann6", "hartmann6", 6),
    with_budget("ackley10", "ackley:dimension=10", 10),
)
"""On their usual boxes, those of BoTorch's test functions."""

AX_STARTS = 5

AX = (
    Case("branin", "branin", AX_STARTS, 30, 10.930455),
    Case("camelback", "camelback", AX_STARTS, 30, 0.457550),
    Case("three_hump_camel", "three_hump_camel", AX_STARTS, 30, 3.732168),
    Case("hartmann3", "hartmann3", AX_STARTS, 30, -2.342317),
    Case("ackley4", "ackley:dimension=4", AX_STARTS, 40, 19.837274),
    Case("griewank4", "griewank:dimension=4", AX_STARTS, 40, 60.037068),
    Case("levy4", "levy:dimension=4", AX_STARTS, 40, 14.198811),
    Case("powell4", "powell:dimension=4", AX_STARTS, 40, 932.310287),
    Case("rosenbrock4", "rosenbrock:dimension=4", AX_STARTS, 40, 30143.768),
    Case("hartmann6", "hartmann6", AX_STARTS, 35, -0.796988),
    Case("hartmann30", "embedded:problem=hartmann6,dimension=30", AX_STARTS, 25, -0.835946),
)
"""Budgets and baselines of Ax's benchmark registry; the starts are part of the budget."""

SUITES: Mapping[str, Mapping[str, Case]] = MappingProxyType(
    {
        "functions": MappingProxyType({case.label: case for case in FUNCTIONS}),
        "ax": MappingProxyType({case.label: case for case in AX}),
    }
)

QUICK = ("branin", "hartmann3", "hartmann6")
QUICK_STEPS = 15
QUICK_SEEDS = 2
"""What `--quick` runs of a suite."""
