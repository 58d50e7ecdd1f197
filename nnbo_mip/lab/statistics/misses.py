"""How often a maximizer missed the maximum, where several of them faced the same question.

The first step of a run depends on its shared starts, its surrogate, its acquisition and its seed,
which is the instance: methods of an instance that differ in the maximizer alone maximize the same
function there. Where one of them closed its proof, whoever stayed more than 0.1 % below missed the
maximum. Later steps are different questions, as what was observed differs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.lab.store.database import reading
from nnbo_mip.lab.store.results import Results
from nnbo_mip.maximizers.comparison import missed


@dataclass(frozen=True)
class FirstStep:
    """The first step of a unit.

    Parameters
    ----------
    method : str
    question : tuple
        What it depends on: equal for those who maximized the same function.
    head : str
        What values are.
    value : float
    is_certified : bool
        Whether the maximizer closed its proof.
    """

    method: str
    question: tuple[object, ...]
    head: str
    value: float
    is_certified: bool


@dataclass(frozen=True)
class Misses:
    """Of one method.

    Parameters
    ----------
    missed, known, faced : int
        First steps whose maximum was missed, those whose maximum is certified by somebody, and all.
    """

    missed: int
    known: int
    faced: int


def misses(steps: Iterable[FirstStep]) -> dict[str, Misses]:
    """Return how often each method missed the maximum of a first step."""
    asked: dict[tuple[object, ...], list[FirstStep]] = defaultdict(list)
    for step in steps:
        asked[*step.question, step.head].append(step)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for answers in asked.values():
        certified = [one.value for one in answers if one.is_certified]
        best = max(certified, default=math.nan)
        for one in answers:
            counts[one.method][2] += 1
            if certified:
                counts[one.method][1] += 1
                logarithmic = one.head in ("logei", "logpi")
                counts[one.method][0] += missed(one.value, best, logarithmic)
    return {method: Misses(*count) for method, count in counts.items()}


def first_steps(results: Results) -> list[FirstStep]:
    """Return them; a question is the problem, its instance and starts, surrogate, acquisition."""
    with reading(results.path) as connection:
        rows = connection.execute(
            "SELECT p.method, p.problem, u.instance, u.starts, p.surrogate, p.acquisition, "
            "p.budget, p.variant, t.head, t.value, t.status FROM plan p "
            "JOIN units u ON u.id = p.unit JOIN steps t ON t.unit = p.unit "
            "WHERE p.experiment = ? AND p.surrogate != '' AND t.number = "
            "(SELECT min(number) FROM steps WHERE unit = p.unit)",
            (results.experiment.id,),
        ).fetchall()
    return [
        FirstStep(method, tuple(question), head, _number(value), status == "optimal")
        for method, *question, head, value, status in rows
    ]


def _number(value: object) -> float:
    if value is not None and not isinstance(value, int | float):
        raise FileFormatError(
            f"the value of a step must be a number; the store holds {value!r:.60}; restore it from "
            "a copy."
        )
    return -math.inf if value is None else float(value)
