"""A surrogate with its own std, from outside, is certified and proven again; no file is touched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample
from tests.surrogates import plug_ins

SURROGATES = {made.name: made for made in (plug_ins.NearestNets, plug_ins.WeighedNets)}
BOX = nm.Space.box([-1.0, -1.0], [1.0, 1.0])


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    for name, made in SURROGATES.items():
        nm.surrogates.register(name)(made)
    yield
    for name in SURROGATES:
        nm.surrogates.unregister(name)


def test_they_are_written_with_public_names_alone() -> None:
    source = Path(plug_ins.__file__).read_text(encoding="utf-8")
    assert re.findall(r"^.*import.*nnbo_mip.*$|^from nnbo_mip.*$", source, re.M) == [
        "import nnbo_mip as nm"
    ]


@pytest.mark.parametrize("name", SURROGATES)
@pytest.mark.parametrize("acquisition", ["ei", "ucb"])
def test_its_score_is_maximized_with_a_proof_that_is_confirmed(name: str, acquisition: str) -> None:
    X, y = sample(9, 2)
    belief = nm.surrogates.create(name, seed=4).fit(X, y)
    found = nm.maximize(belief, acquisition, BOX.model(), X=X, y=y)
    assert (found.status, found.kind) == ("optimal", "rigorous")
    sides = np.linspace(-1.0, 1.0, 201)
    grid = np.stack(np.meshgrid(sides, sides), axis=-1).reshape(-1, 2)
    scores = nm.maximize(belief, acquisition, BOX.model(), X=X, y=y, maximizer="grid").value
    assert scores <= found.bound
    assert found.certificate is not None
    assert found.objective is not None
    np.testing.assert_allclose(
        found.objective.posterior.std(grid), belief.std(grid), rtol=1e-9, atol=1e-12
    )
    assert found.certificate.check(found.objective).verdict == "confirmed"


@pytest.mark.parametrize("name", SURROGATES)
def test_a_loop_takes_it(name: str) -> None:
    X, y = sample(6, 2)
    optimizer = nm.BayesianOptimizer(BOX, surrogate=name, initial=0, seed=1)
    optimizer.tell(X, y)
    assert optimizer.ask().status == "optimal"


class TestNearest(SurrogateContract):
    def make(self, **options: Any) -> nm.surrogates.Surrogate:
        return plug_ins.NearestNets(**options)


class TestWeighed(SurrogateContract):
    def make(self, **options: Any) -> nm.surrogates.Surrogate:
        return plug_ins.WeighedNets(**options)
