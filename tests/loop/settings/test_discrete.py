"""What is taken over binaries, integers and categories."""

from __future__ import annotations

from typing import Any

import pytest

import nnbo_mip as nm
from nnbo_mip.loop.settings.discrete import FAMILY, FEWEST, REGION, is_discrete
from nnbo_mip.loop.settings.settings import Settings


def binaries(d: int) -> list[Any]:
    return [nm.Integer(f"b{i}", 0, 1) for i in range(d)]


def test_categories_count_once_and_continuous_ones_may_be_half() -> None:
    levels = [nm.Categorical(f"c{i}", list("abcdefgh")) for i in range(2)]
    reals = [nm.Real(f"r{i}", 0.0, 1.0) for i in range(3)]
    assert is_discrete(nm.Space(binaries(3)).model())
    assert is_discrete(nm.Space([*levels, binaries(1)[0], *reals]).model())
    assert not is_discrete(nm.Space([*levels, *reals]).model())
    assert not is_discrete(nm.Space.box([0.0] * 30, [1.0] * 30).model())


@pytest.mark.parametrize("d", [FEWEST - 1, FEWEST, 60])
def test_the_family_the_acquisition_and_the_region_of_binaries(d: int) -> None:
    settings = Settings.planned(nm.Space(binaries(d)))
    if d < FEWEST:
        assert settings.surrogate.name == "gp"
        return
    assert settings.surrogate.name == FAMILY
    assert settings.acquisition.name == "ts"
    assert settings.region == Settings.planned(nm.Space(binaries(3)), region=REGION).region


def test_a_run_of_the_default_is_proven_in_the_coordinates_that_move() -> None:
    space = nm.Space([*binaries(22), nm.Categorical("c", list("abc"))])

    def cost(x: Any) -> float:
        on = [x[f"b{i}"] for i in range(22)]
        return float(sum(on[:11]) - sum(on[11:]) + (x["c"] == "a") - 2 * on[0] * on[20])

    run = nm.optimize(cost, space, 20, seed=0)
    steps = [step for step in run.steps if step.status != "initial"]
    assert len(steps) == 10
    assert all(step.status == "optimal" for step in steps)
    assert all(step.region is not None and step.region.moving <= 10 for step in steps)
    assert "within a region" in str(steps[-1])
    assert "one function that was drawn" in str(steps[-1])
