"""The tasks of pilots: those of `benchmarks.everyday.tasks.PILOTS`, and more functions.

None is a task of `benchmarks.everyday` or of `benchmarks.regret`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks.everyday.tasks import PILOTS, Everyday, noisy
from benchmarks.pilots.wide import wide_tasks
from benchmarks.regret.problems import FUNCTIONS

SMALLER = (
    "styblinski_tang:dimension=2",
    "michalewicz:dimension=2",
    "mccormick",
    "styblinski_tang:dimension=3",
    "griewank:dimension=6",
    "levy:dimension=6",
)
"""In place of those pilots of `benchmarks.everyday` that `benchmarks.regret` judges by."""

LARGER = (
    "rosenbrock:dimension=8",
    "griewank:dimension=8",
    "michalewicz:dimension=8",
    "styblinski_tang:dimension=8",
    "levy:dimension=8",
    "ackley:dimension=12",
    "rosenbrock:dimension=20",
    "g_function:dimension=10",
)
"""With seven inputs and more, of which the other pilots have few."""

FEW_THAT_MATTER = "embedded:problem=hartmann3,dimension=8"
"""Three of its eight inputs."""

NOISY: Mapping[str, float] = MappingProxyType(
    {
        "bohachevsky": 21190.0,
        "rosenbrock:dimension=3": 884200.0,
        "michalewicz:dimension=4": 1.327,
        "g_function:dimension=4": 5.202,
        "embedded:problem=hartmann3,dimension=6": 2.948,
        "powell:dimension=8": 43180.0,
        "styblinski_tang:dimension=8": 291.7,
    }
)
"""More functions with noise, and their spreads, as those of `benchmarks.everyday.tasks.SPREADS`."""

JUDGED = tuple(case.spec for case in FUNCTIONS)

PILOT_TASKS: Mapping[str, Everyday] = MappingProxyType(
    {
        task.label: task
        for task in (
            *(task for task in PILOTS if task.spec not in JUDGED),
            *(Everyday(spec.replace(":dimension=", ""), "physics", spec) for spec in SMALLER),
            *(Everyday(spec.replace(":dimension=", ""), "larger", spec) for spec in LARGER),
            Everyday("hartmann3 of 8", "larger", FEW_THAT_MATTER),
            Everyday("shifted", "levels", "pilot_shifted", is_loss=True),
            Everyday("additive", "levels", "pilot_additive", is_loss=True),
            *wide_tasks(),
            *(task for spec, spread in NOISY.items() for task in noisy(spec, spread)),
        )
    }
)
"""By their labels."""

GROUPS = tuple(dict.fromkeys(task.group for task in PILOT_TASKS.values()))
