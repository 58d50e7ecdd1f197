"""Every maximizer of the package keeps the contract."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import nnbo_mip as nm
from nnbo_mip.maximizers import Abilities, Maximizer, Request
from nnbo_mip.maximizers.heuristics.heuristic import Heuristic
from nnbo_mip.maximizers.heuristics.search import Search
from nnbo_mip.testing.maximizer_contract import MaximizerContract


class Named(MaximizerContract):
    spec = ""

    def make(self, **options: Any) -> Maximizer:
        return dataclasses.replace(nm.maximizers.create(self.spec), **options)


class TestAuto(Named):
    spec = "auto"


class TestBab(Named):
    spec = "bab"


class TestMip(Named):
    spec = "mip"


class TestEnumerate(Named):
    spec = "enumerate"


class TestGrid(Named):
    spec = "grid:points=21"


class TestDirect(Named):
    spec = "direct:evaluations=400"


class TestDirectAsItWas(Named):
    spec = "direct:variant=original,log=True,evaluations=400"


class TestExchange(Named):
    spec = "exchange:raw_samples=64"


class TestLbfgs(Named):
    spec = "lbfgs:raw_samples=64,starts=4"


class TestLbfgsOfPlainScores(Named):
    spec = "lbfgs:raw_samples=64,starts=4,log=False,choice=best"


class TestLbfgsClassic(Named):
    spec = "lbfgs:classic"


class TestLbfgsWeak(Named):
    spec = "lbfgs:weak"


class TestCandidates(Named):
    spec = "candidates"


class TestPga(Named):
    spec = "pga:starts=16,climbers=2"


class TestRandom(Named):
    spec = "random:evaluations=400"


class TestSobol(Named):
    spec = "sobol:evaluations=400"


class TestEpsilonRandom(Named):
    spec = "epsilon_random:share=0.0,inner=lbfgs:raw_samples=64"


@dataclass(frozen=True)
class Boxed(Heuristic):
    """A plug-in that knows a box and nothing else."""

    name: ClassVar[str] = "boxed"
    abilities: ClassVar[Abilities] = Abilities(integers=False, constraints=False, exclusions=False)

    evaluations: int = 50

    def _search(self, search: Search, request: Request) -> None:
        low, high = search.domain.lower, search.domain.upper
        rng = np.random.default_rng(request.seed)
        search.values(rng.uniform(low, high, (self.evaluations, len(low))))


class TestBoxed(MaximizerContract):
    def make(self, **options: Any) -> Maximizer:
        return Boxed(**options)


def test_every_name_is_tried() -> None:
    tried = {kind.spec.partition(":")[0] for kind in Named.__subclasses__()}
    elsewhere = {"scipydirect"}  # tests/maximizers/heuristics/test_scipydirect_build.py
    assert {name.partition(":")[0] for name in nm.maximizers.available()} == tried | elsewhere
