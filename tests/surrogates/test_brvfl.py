from __future__ import annotations

from typing import Any

from nnbo_mip.surrogates.brvfl import Brvfl
from nnbo_mip.testing.surrogate_contract import SurrogateContract


class TestBrvfl(SurrogateContract):
    def make(self, **options: Any) -> Brvfl:
        return Brvfl(**{"n_hidden": 60, **options})


class TestDirectLink(SurrogateContract):
    def make(self, **options: Any) -> Brvfl:
        return Brvfl(n_hidden=40, direct_link=True, alpha=2.0, **options)


class TestTanh(SurrogateContract):
    def make(self, **options: Any) -> Brvfl:
        return Brvfl(n_hidden=40, activation="tanh", include_noise=True, **options)


class TestCholesky(SurrogateContract):
    def make(self, **options: Any) -> Brvfl:
        return Brvfl(n_hidden=40, solver="cholesky", direct_link=True, **options)


class TestFewerFeaturesThanValues(SurrogateContract):
    def make(self, **options: Any) -> Brvfl:
        return Brvfl(n_hidden=1, **options)
