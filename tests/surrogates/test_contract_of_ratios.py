"""The contract of surrogates catches density ratios that break a promise of theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates import Capability, ValueGradient
from nnbo_mip.surrogates.ratios.estimators.odds import RatioBelief
from nnbo_mip.surrogates.ratios.tpe import Tpe
from nnbo_mip.testing.surrogate_contract import SurrogateContract


def with_belief(**methods: Any) -> type[Tpe]:
    """Return Parzen estimators whose belief has other methods."""
    flawed = type("FlawedRatio", (RatioBelief,), methods)

    class Flawed(Tpe):
        def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> RatioBelief:
            made = super().fit(X, y)
            belief: RatioBelief = flawed(made.family, made.odds, made.share)
            return belief

    return Flawed


def _falling(self: RatioBelief, X: Any) -> FloatArray:
    return np.asarray(1.0 / self.share - RatioBelief.ratio(self, X))


def _rounded(self: RatioBelief, X: Any) -> FloatArray:
    return np.round(RatioBelief.ratio(self, X), 1)


def _backwards(self: RatioBelief, X: Any) -> ValueGradient:
    local = RatioBelief.differentiate(self, X)
    return replace(local, mean_gradient=-local.mean_gradient)


def _scaled_share(self: RatioBelief, factor: float) -> RatioBelief:
    return replace(RatioBelief.scaled(self, factor), share=self.share / (1.0 + factor))


def _wide_share(self: RatioBelief) -> dict[str, Any]:
    return {**RatioBelief.to_arrays(self), "share": np.array(0.5)}


RATIOS = "test_a_ratio_takes_the_place_of_mean_and_std"

BROKEN: dict[str, tuple[type[Tpe], str]] = {
    "a mean beside the ratio": (
        with_belief(
            capabilities=property(lambda self: frozenset({Capability.RATIO, Capability.MEAN}))
        ),
        RATIOS,
    ),
    "a ratio that falls": (with_belief(ratio=_falling), RATIOS),
    "a ratio in steps": (with_belief(ratio=_rounded), RATIOS),
    "a negative ratio": (with_belief(ratio=lambda self, X: -np.ones(len(X))), RATIOS),
    "a gradient of the wrong sign": (
        with_belief(differentiate=_backwards),
        "test_gradients_are_those_of_the_values",
    ),
    "a scale that changes what is certain": (
        with_belief(scaled=_scaled_share),
        "test_scaling_multiplies_the_uncertainty_and_nothing_else",
    ),
    "a file with another share": (
        with_belief(to_arrays=_wide_share),
        "test_a_saved_belief_comes_back_bit_for_bit",
    ),
}


def _run(surrogate: type[Tpe], test: str, tmp_path: Path) -> None:
    class Contract(SurrogateContract):
        def make(self, **options: Any) -> Tpe:
            return surrogate(**options)

    run: Callable[..., None] = getattr(Contract(), test)
    run(*((tmp_path,) if "tmp_path" in run.__code__.co_varnames[:2] else ()))


@pytest.mark.parametrize("flaw", BROKEN)
def test_the_contract_catches(flaw: str, tmp_path: Path) -> None:
    surrogate, test = BROKEN[flaw]
    _run(Tpe, test, tmp_path)  # the sound one passes the very same test
    with pytest.raises(AssertionError):
        _run(surrogate, test, tmp_path)
