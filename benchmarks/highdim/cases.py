"""The functions of many variables, their budgets, and what others published about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchmarks.regret.problems import Case


@dataclass(frozen=True)
class Published:
    """A trace that somebody else printed; one run each.

    Parameters
    ----------
    label : str
        Method and setting.
    source : str
        Where it was printed.
    best : mapping of int to float
        Best value after so many evaluations.
    """

    label: str
    source: str
    best: Mapping[int, float]

    def after(self, evaluations: int) -> float | None:
        """Return the last printed value of the first `evaluations`; None before the first."""
        known = [count for count in self.best if count <= evaluations]
        return self.best[max(known)] if known else None


@dataclass(frozen=True)
class WideCase(Case):
    """A function of many variables.

    Parameters
    ----------
    label, spec, starts, evaluations, baseline
        As those of `Case`.
    effective : int
        Variables that matter.
    checkpoints : tuple of int
        Evaluations after which best values are shown.
    published : tuple of Published
    """

    effective: int = 0
    checkpoints: tuple[int, ...] = ()
    published: tuple[Published, ...] = ()

    @property
    def has_idle_variables(self) -> bool:
        """Whether few variables matter, so that an embedding may hold a good point."""
        return self.effective < self.problem.dimension


SAASBO = Published(
    "SAASBO, 10 Sobol points, NUTS 512/256/16, seed 0",
    "martinjankowiak/saasbo, Branin100.ipynb",
    {10: 4.320, 17: 0.915, 26: 0.617, 34: 0.404, 40: 0.399, 47: 0.398},
)

TURBO = "BoTorch tutorial turbo_1"

TUTORIAL = (
    Published("TuRBO-1, 40 starts, q = 4", TURBO, {100: 8.39, 200: 4.92}),
    Published("LogEI, 40 starts, q = 4", TURBO, {100: 7.41, 200: 3.82}),
    Published("EI, 40 starts, q = 4", TURBO, {100: 9.79, 200: 8.07}),
)

NARROWER = Published(
    "TuRBO-1 on Levy in 10 variables, [-5, 10]^10, 20 starts, q = 10",
    "TuRBO, Turbo1.ipynb",
    {20: 20.98, 100: 8.29},
)

CASES: Mapping[str, WideCase] = MappingProxyType(
    {
        case.label: case
        for case in (
            WideCase(
                "branin100",
                "embedded:problem=branin,dimension=100,coordinates=(19,64)",
                10,
                50,
                effective=2,
                checkpoints=(10, 20, 30, 40, 50),
                published=(SAASBO,),
            ),
            WideCase(
                "hartmann50",
                "embedded:problem=hartmann6,dimension=50,coordinates=(1,7,11,23,41,49)",
                15,
                50,
                effective=6,
                checkpoints=(15, 20, 30, 40, 50),
            ),
            WideCase(
                "ackley20",
                "ackley:dimension=20,lower=-5,upper=10",
                40,
                200,
                effective=20,
                checkpoints=(40, 60, 100, 150, 200),
                published=TUTORIAL,
            ),
            WideCase(
                "levy20",
                "levy:dimension=20",
                40,
                100,
                effective=20,
                checkpoints=(40, 50, 60, 80, 100),
                published=(NARROWER,),
            ),
        )
    }
)
"""Branin and Hartmann on the unit cube, Levy on [-10, 10]^20."""

QUICK = ("branin100", "ackley20")
QUICK_STEPS = 6
QUICK_SEEDS = 1
"""What `--quick` runs."""
