"""What a model learns from: signs, failures, and a bounded number of observations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.policies.batches import Liar, Thompson, batch_of
from nnbo_mip.loop.record.events import Observation
from nnbo_mip.loop.record.serialization import as_value
from nnbo_mip.loop.step.training_set import TrainingSet, best_and_spread, value_of_failures
from nnbo_mip.loop.warps.warping import warp_of


def observed(*values: float | None, noise: float | None = None) -> tuple[Observation, ...]:
    return tuple(
        Observation(i, None, y, y is None, "", noise, None, 0.0, np.array([i / 10.0]))
        for i, y in enumerate(values)
    )


def test_values_are_turned_once_and_failures_are_the_worst() -> None:
    found = observed(3.0, None, -1.0, 7.0)
    low, high = TrainingSet.of(found, 1, -1.0), TrainingSet.of(found, 1, 1.0)
    assert low.y.tolist() == [-3.0, -7.0, 1.0, -7.0]
    assert high.y.tolist() == [3.0, -1.0, -1.0, 7.0]
    assert low.told.tolist() == [True, False, True, True]
    assert low.X.tolist() == [[0.0], [0.1], [0.2], [0.3]]
    assert low.best(2).tolist() == [[0.2], [0.0]]
    assert high.best(1).tolist() == [[0.3]]


def test_failures_are_worse_than_values_that_are_all_equal() -> None:
    for value in (0.0, 5.0, -1e20, 1e-9):
        assert value_of_failures(np.array([value, value])) < value
    assert np.isfinite(value_of_failures(np.array([-1.7e308])))


def test_without_a_value_there_is_nothing_to_learn() -> None:
    assert not TrainingSet.of(observed(None, None), 1, 1.0).can_be_fitted
    assert not TrainingSet.of((), 3, 1.0).can_be_fitted
    assert TrainingSet.of((), 3, 1.0).X.shape == (0, 3)


def test_noise_is_kept_where_it_was_told() -> None:
    mixed = observed(1.0, 2.0, noise=0.5) + observed(3.0)
    sample = TrainingSet.of(mixed, 1, 1.0)
    assert sample.noise is not None
    assert np.array_equal(sample.noise, [0.5, 0.5, np.nan], equal_nan=True)
    assert sample.deviations is not None
    assert sample.deviations.tolist() == [0.5, 0.5]
    assert TrainingSet.of(observed(3.0), 1, 1.0).noise is None
    assert TrainingSet.of(observed(3.0), 1, 1.0).deviations is None


def test_deviations_are_bent_as_the_values_are() -> None:
    """asinh has the slope 1 / sqrt(1 + (gap / s)^2), and s is the median gap, 2."""
    told = observed(5.0, 3.0, -9.0, 4.0, 2.0, noise=1e-3)
    bent = TrainingSet.of(told, 1, 1.0).warped(warp_of("asinh:share=0.5"))
    gaps = np.array([0.0, 2.0, 14.0, 1.0, 3.0])
    assert bent.noise == pytest.approx(1e-3 / np.hypot(1.0, gaps / 2.0), rel=1e-3)
    assert bent.deviations is not None
    assert bent.deviations.tolist() == [1e-3] * 5
    assert bent.inward([5.0, 7.5]).tolist() == [5.0, 7.5]


def test_samples_are_the_same_with_the_same_deviations_only() -> None:
    plain, noisy = (
        TrainingSet.of(observed(1.0, 2.0), 1, 1.0),
        TrainingSet.of(observed(1.0, 2.0, noise=0.1), 1, 1.0),
    )
    assert noisy.equals(TrainingSet.of(observed(1.0, 2.0, noise=0.1), 1, 1.0))
    assert plain.equals(TrainingSet.of(observed(1.0, 2.0), 1, 1.0))
    assert not plain.equals(noisy)
    kept = TrainingSet.of(observed(*range(20), noise=0.1) + observed(3.5), 1, 1.0).fitted(6)
    assert kept.noise is not None
    assert len(kept.noise) == len(kept.y) == 6


def test_the_best_half_and_the_farthest_others_are_fitted() -> None:
    # On a line 0 … 9 with the largest values at 7 and 2: farthest from both is 9 or 0 (two and
    # two away, 4.5 has no point), and so on by hand.
    X = np.arange(10.0)[:, None]
    y = np.zeros(10)
    y[7], y[2] = 2.0, 1.0
    assert best_and_spread(X, y, 4).tolist() == [7, 2, 0, 4]


def test_the_spread_half_is_as_far_apart_as_a_greedy_choice_can_be() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    chosen = best_and_spread(X, y, 20).tolist()
    assert len(set(chosen)) == 20
    assert set(chosen[:10]) == set(np.argsort(-y)[:10])
    for count in range(10, 20):
        rest = [i for i in range(60) if i not in chosen[:count]]
        nearest = [min(np.linalg.norm(X[i] - X[j]) for j in chosen[:count]) for i in rest]
        assert rest[int(np.argmax(nearest))] == chosen[count]


def test_few_observations_are_all_fitted_and_many_repeated_ones_are_counted() -> None:
    few = TrainingSet.of(observed(1.0, 2.0, None), 1, 1.0)
    assert few.fitted(3) is few
    X = np.zeros((50, 2))
    assert sorted(best_and_spread(X, np.arange(50.0), 10).tolist()) == sorted(
        {*range(45, 50), *range(5)}
    )
    kept = TrainingSet.of(observed(1.0, None, 2.0, 1.5), 1, 1.0).fitted(2)
    assert (kept.y.tolist(), kept.told.tolist()) == ([1.0, 2.0], [True, True])


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (3, 3.0),
        (np.float32(0.5), 0.5),
        (np.array(2.5), 2.5),
        (np.array([[2.5]]), 2.5),
        (np.int64(-4), -4.0),
        (10**400, np.inf),
    ],
)
def test_numbers_are_values(given: Any, value: float) -> None:
    assert as_value(given) == value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "forget to return"),
        (np.array([1.0, 2.0]), r"shape \(2,\)"),
        (1 + 2j, "complex"),
        (np.complex64(1 + 2j), "complex64"),
        ("3.5", "'3.5' of type str"),
        (True, "bool"),
        (np.array(["3"]), "ndarray"),
        ([1.0], "list"),
        (object(), "object"),
    ],
)
def test_other_things_are_not(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        as_value(given)


def test_liars_say_one_of_the_told_values() -> None:
    told, pending = [3.0, -1.0, 1.0], np.zeros((2, 4))
    for value, said in (("worst", -1.0), ("mean", 1.0), ("best", 3.0)):
        values = Liar(value).values(pending, told, None)
        assert values is not None
        assert values.tolist() == [said, said]
    with pytest.raises(InputError, match="worst, mean, best"):
        Liar("min")
    for spec in (None, "none", "thompson"):
        assert batch_of(spec).values(pending, told, None) is None


def test_thompson_draws_only_while_something_is_pending() -> None:
    from nnbo_mip.acquisitions import create

    given = create("ei")
    names = [Thompson().acquisition(given, pending).name for pending in (1, 4)]
    assert names == ["ts", "ts"]
    optimizer = nm.BayesianOptimizer(
        [(0.0, 1.0)], "brvfl:n_hidden=4", "ei", batch="thompson", initial=2
    )
    for _ in range(2):
        optimizer.tell(one := optimizer.ask(), float(one.x[0]))
    assert [one.head for one in optimizer.ask(2)] == ["ei", "ts"]
    assert list(itertools.chain([batch_of("believer").acquisition(given, 3)])) == [given]
