"""What is run: one method on one problem with one seed, and the task that it is given.

    starts = first n points of the Sobol sequence that is scrambled by the seed

Every method begins with the very same array of starts and their values, and minimizes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.stats import qmc

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.problems import Problem

DIGEST_LENGTH = 20


@dataclass(frozen=True)
class Unit:
    """One run; everything that its outcome depends on.

    Parameters
    ----------
    suite, problem, method : str
        Labels.
    spec : str
        From which `nm.problems.create` makes the problem.
    starts, evaluations : int
        Points that are shared by all methods, and evaluations with them.
    seed : int
    time_limit : float
        Wall seconds of an ask, for methods that can keep one.
    runner : str
        Module whose ``begin(task, **options)`` starts the method.
    options : mapping
        Of the method, JSON-able.
    versions : mapping of str to str
        Of the packages that the method rests on.
    """

    suite: str
    problem: str
    method: str
    spec: str
    starts: int
    evaluations: int
    seed: int
    time_limit: float
    runner: str
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """Digest of all of it: runs of other options or versions have another one."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]

    @property
    def label(self) -> str:
        """What a person calls it."""
        return f"{self.suite} {self.problem} {self.method} seed {self.seed}"


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is given.

    Parameters
    ----------
    problem : Problem
        For its space; values come by `Loop.tell`.
    X : (n, d) array
        Shared starts, in the problem's own units.
    y : (n,) array
        Their values, to be minimized.
    evaluations : int
        Of the whole run.
    seed : int
    time_limit : float
    """

    problem: Problem
    X: FloatArray
    y: FloatArray
    evaluations: int
    seed: int
    time_limit: float

    @property
    def lower(self) -> FloatArray:
        """Lower ends of the box (d,)."""
        return self.problem.space.numeric().lower

    @property
    def upper(self) -> FloatArray:
        """Upper ends of the box (d,)."""
        return self.problem.space.numeric().upper


class Loop(Protocol):
    """A method at work on a task."""

    def ask(self) -> tuple[FloatArray, dict[str, Any]]:
        """Return the next point (d,), and what is to be recorded of the step."""

    def tell(self, y: float) -> None:
        """Take the value at the point that was asked last."""


def task_of(unit: Unit) -> Task:
    """Return the problem of a unit with its starts evaluated."""
    problem = nm.problems.create(unit.spec)
    box = problem.space.numeric()
    X = sobol_points(unit.starts, box.lower, box.upper, unit.seed)
    y = problem.sign * problem.truth(X)
    return Task(problem, X, y, unit.evaluations, unit.seed, unit.time_limit)


def sobol_points(n: int, lower: FloatArray, upper: FloatArray, seed: int) -> FloatArray:
    """Return the first n points of a scrambled Sobol sequence in a box, (n, d)."""
    sequence = qmc.Sobol(len(lower), scramble=True, rng=np.random.default_rng(seed))
    drawn = sequence.random_base2(max(n - 1, 0).bit_length())[:n]
    return lower + drawn * (upper - lower)
