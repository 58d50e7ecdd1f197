"""Misses of first steps: who faced the same question, and who stayed below the known maximum."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from nnbo_mip.lab.statistics.misses import FirstStep, Misses, first_steps, misses
from nnbo_mip.lab.store.results import Results
from nnbo_mip.lab.store.store import opened
from tests.lab.stores import STEP, answer, plan_of, planned


def step(method: str, value: float, closed: bool = False, instance: int = 0) -> FirstStep:
    return FirstStep(method, ("branin", instance), "ei", value, closed)


def test_a_miss_is_more_than_a_thousandth_below_what_is_certified() -> None:
    found = misses(
        [step("exact", 1.0, True), step("near", 0.9995), step("far", 0.9), step("above", 1.00001)]
    )
    assert {name: one.missed for name, one in found.items()} == {
        "exact": 0,
        "near": 0,
        "far": 1,
        "above": 0,
    }


def test_nothing_is_known_without_a_proof_or_of_another_question() -> None:
    found = misses([step("a", 0.1), step("b", 1.0), step("a", 0.5, instance=1)])
    assert found == {"a": Misses(0, 0, 2), "b": Misses(0, 0, 1)}
    alone = misses([step("a", 0.1), step("b", 1.0, True, instance=1)])
    assert alone["a"] == Misses(0, 0, 1)


def test_logarithms_are_compared_as_ratios() -> None:
    pair = [
        dataclasses.replace(step("exact", -50.0, True), head="logei"),
        dataclasses.replace(step("other", -50.0005), head="logei"),
        dataclasses.replace(step("far", -50.01), head="logei"),
    ]
    assert [one.missed for one in misses(pair).values()] == [0, 0, 1]


@pytest.mark.parametrize("instances", [1, 3])
def test_first_steps_are_read_from_a_store(tmp_path: Path, instances: int) -> None:
    values = {"auto": (1.0, "optimal"), "lbfgs": (0.5, "heuristic")}
    units, answers = [], []
    for instance in range(instances):
        for maximizer, (value, status) in values.items():
            one = planned("branin", f"gp, {maximizer}", instance, 2, 3)
            one = dataclasses.replace(one, surrogate="gp", maximizer=maximizer)
            made = answer(one.unit, [5.0, 4.0, 3.0, 2.0, 1.0])
            assert made.result is not None
            first = {"number": 2, **STEP, "value": value, "status": status}
            made.result["steps"][0] = first
            units.append(one)
            answers.append(made)
    with opened(tmp_path / "results.db") as store:
        store.write_plan(plan_of(units))
        store.add(answers)
    found = misses(first_steps(Results.open(tmp_path / "results.db")))
    assert found["gp, auto"] == Misses(0, instances, instances)
    assert found["gp, lbfgs"] == Misses(instances, instances, instances)
