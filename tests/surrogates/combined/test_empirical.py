"""The forecast that learns nothing: the contract, and its two numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.combined.empirical import Empirical
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample


class TestEmpirical(SurrogateContract):
    def make(self, **options: Any) -> Empirical:
        return Empirical(**options)


def test_it_is_average_and_biased_deviation() -> None:
    X, y = sample(9, 2)
    mean, std = Empirical().fit(X, y).predict(X[:3], return_std=True)
    assert mean == pytest.approx(np.full(3, y.mean()))
    assert std == pytest.approx(np.full(3, y.std()))


def test_a_seed_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="seed"):
        Empirical(seed=-1)
