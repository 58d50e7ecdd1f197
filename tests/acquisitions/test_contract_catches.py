"""The contract catches acquisitions and heads that break a promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from nnbo_mip.acquisitions import Acquisition, Context, Head, Trend
from nnbo_mip.acquisitions.ei import Ei
from nnbo_mip.acquisitions.mean import Mean
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.noisy import QuantileImprovement
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.surrogates import Belief, Capability
from nnbo_mip.testing.acquisition_contract import AcquisitionContract


@dataclass(frozen=True)
class LoweredByStd(LinearHead):
    """Says that it rises with the std, and falls."""

    std_weight: float = -1.0

    @property
    def std_trend(self) -> Trend:
        return Trend.RISING


@dataclass(frozen=True)
class SteepEi(ExpectedImprovement):
    """Has twice the gradient it should have."""

    def _gradient(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        by_mean, by_std = super()._gradient(mean, std)
        return 2.0 * by_mean, by_std


@dataclass(frozen=True)
class ShiftedLevel(ExpectedImprovement):
    """Looks for its level a little too high."""

    def _mean_at_level(self, std: FloatArray, level: FloatArray) -> FloatArray:
        return super()._mean_at_level(std, level) + 1e-3


@dataclass(frozen=True)
class WrongRatio(ProbabilityOfImprovement):
    """Takes the other tail."""

    def ratio_at_level(self, level: float) -> float:
        return -super().ratio_at_level(level)


@dataclass(frozen=True)
class LooseQuantile(QuantileImprovement):
    """Bounds by the widest std alone, which is no bound."""

    noise: float = 0.5

    def largest(self, mean: Any, std_low: Any, std_high: Any) -> FloatArray:
        return self.score(mean, std_high)


@dataclass(frozen=True)
class ConcaveEi(ExpectedImprovement):
    """Declares a convexity that it has not."""

    def _score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        return -np.square(mean) + std

    @property
    def std_trend(self) -> Trend:
        return Trend.RISING


@dataclass(frozen=True)
class Patched(Ei):
    """EI whose head is of another kind."""

    kind: ClassVar[type[Head]] = ExpectedImprovement

    def head(self, belief: Belief, context: Context) -> Head:
        return self.kind(context.incumbent(self.incumbent))  # type: ignore[call-arg]


@dataclass(frozen=True)
class Forgetful(Mean):
    """Checks no incumbent."""

    def __post_init__(self) -> None:
        pass


@dataclass(frozen=True)
class Nameless(Mean):
    """Has another name than its head."""

    name: ClassVar[str] = "nameless"


@dataclass(frozen=True)
class Curious(Mean):
    """Reads the std and does not say so."""

    def head(self, belief: Belief, context: Context) -> Head:
        return LinearHead(1.0, 1.0, called=self.name)


@dataclass(frozen=True)
class WithoutIncumbent(Acquisition):
    """Has no option at all."""

    name: ClassVar[str] = "bare"

    @property
    def needs(self) -> frozenset[Capability]:
        return frozenset({Capability.MEAN})

    def head(self, belief: Belief, context: Context) -> Head:
        return LinearHead(called=self.name)


@dataclass(frozen=True)
class Moody(Mean):
    """Uses global randomness."""

    def head(self, belief: Belief, context: Context) -> Head:
        return LinearHead(constant=np.random.random())  # noqa: NPY002 - what is to be caught


@dataclass(frozen=True)
class Greedy(Ei):
    """Writes into the observations."""

    def head(self, belief: Belief, context: Context) -> Head:
        if context.y is not None:
            context.y[:] = 0.0
        return super().head(belief, context)


class TestASoundPlugIn(AcquisitionContract):
    def make(self, **options: Any) -> Acquisition:
        return Patched(**options)


def contract_of(made: type[Acquisition]) -> AcquisitionContract:
    class Contract(AcquisitionContract):
        def make(self, **options: Any) -> Acquisition:
            return made(**options)

    return Contract()


def patched(head: type[Head]) -> AcquisitionContract:
    return contract_of(type("Patched", (Patched,), {"kind": head}))


@pytest.mark.parametrize(
    ("contract", "promise"),
    [
        (patched(LoweredByStd), "test_the_score_moves_as_its_trends_say"),
        (patched(LoweredByStd), "test_largest_bounds_every_score_of_its_range"),
        (patched(SteepEi), "test_gradients_are_those_of_the_scores"),
        (patched(ShiftedLevel), "test_levels_are_reached_from_their_means_on"),
        (patched(WrongRatio), "test_a_ratio_head_is_a_half_plane_at_every_level"),
        (patched(LooseQuantile), "test_largest_bounds_every_score_of_its_range"),
        (patched(ConcaveEi), "test_the_score_moves_as_its_trends_say"),
        (contract_of(Moody), "test_the_head_is_frozen_numbers_and_the_same_for_the_same_data"),
        (contract_of(Moody), "test_resolving_leaves_data_and_global_randomness_alone"),
        (contract_of(Greedy), "test_resolving_leaves_data_and_global_randomness_alone"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_broken_promises_are_caught(contract: AcquisitionContract, promise: str) -> None:
    with pytest.raises(AssertionError):
        getattr(contract, promise)()


def test_an_unchecked_incumbent_is_caught() -> None:
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        contract_of(Forgetful).test_an_incumbent_that_is_no_number_is_refused(np.nan)


@pytest.mark.parametrize(
    "promise",
    [
        lambda contract: contract.test_equal_options_make_equal_acquisitions(),
        lambda contract: contract.test_an_incumbent_that_is_no_number_is_refused(np.nan),
        lambda contract: contract.test_what_a_belief_lacks_is_said_in_a_sentence(),
        lambda contract: contract.test_without_data_an_incumbent_is_enough(),
    ],
)
def test_a_missing_incumbent_is_said_in_a_sentence(
    promise: Callable[[AcquisitionContract], None],
) -> None:
    with pytest.raises(AssertionError, match="must have the option incumbent; bare has none; add"):
        promise(contract_of(WithoutIncumbent))


def test_a_head_of_another_name_is_said_in_a_sentence() -> None:
    with pytest.raises(AssertionError, match="must be called 'nameless'; got 'mean'; pass called="):
        contract_of(Nameless).test_a_proposal_shows_the_name_of_the_acquisition()


def test_what_is_read_and_not_declared_is_said_in_a_sentence() -> None:
    sentence = "needs must name all that the score of mean reads; it names mean, but .*'std'"
    with pytest.raises(pytest.fail.Exception, match=sentence):
        contract_of(Curious).test_a_belief_that_offers_what_is_needed_and_nothing_else_is_enough()
