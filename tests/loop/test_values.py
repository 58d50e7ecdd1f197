"""What is a value, a point or a reason, whatever kind of object it comes as."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nnbo_mip as nm
from nnbo_mip.loop.evaluation import evaluated
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.record.serialization import as_value
from nnbo_mip.space import Categorical, Integer, Real, Space
from tests.loop.runs import BOX, QUICK, optimizer

NAMED = Space([Real("r", 0.1, 0.7), Integer("n", 2, 9), Categorical("c", ["text", 1])])


class Unprintable:
    def __repr__(self) -> str:
        raise KeyError("repr")


class Unconvertible:
    def __float__(self) -> float:
        raise KeyError("float")


class Silent(Exception):
    def __str__(self) -> str:
        raise ValueError("str")


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (torch.tensor(2.0, requires_grad=True), 2.0),
        (torch.tensor([[2.5]], dtype=torch.bfloat16), 2.5),
        (torch.tensor([3]), 3.0),
        (np.ma.array([2.5], mask=[False]), 2.5),
        (Decimal("2.5"), 2.5),
        (Fraction(5, 2), 2.5),
        (np.longdouble(2.5), 2.5),
    ],
)
def test_numbers_are_values_in_any_coat(given: Any, value: float) -> None:
    assert as_value(given) == value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.ma.masked, "got a masked one; fill it"),
        (np.ma.array([2.5], mask=[True]), "got a masked one"),
        (np.timedelta64(5, "ns"), "timedelta64"),
        (np.array([5], dtype="m8[ns]"), "ndarray"),
        (np.datetime64(5, "ns"), "datetime64"),
        (bytearray(b"3.5"), "bytearray"),
        (memoryview(b"3.5"), "memoryview"),
        (torch.tensor([1.0, 2.0]), r"an array of shape \(2,\)"),
        (torch.tensor(True), "Tensor"),
        (torch.tensor(1j), "Tensor"),
        (Unprintable(), "an object of type Unprintable that cannot be printed"),
        (Unconvertible(), "Unconvertible"),
    ],
)
def test_what_only_looks_like_a_number_is_none(given: Any, said: str) -> None:
    with pytest.raises(nm.InputError, match=said):
        as_value(given)
    outcome = evaluated(lambda x: given, {"a": 1.5})
    assert outcome.y is None
    assert outcome.reason.startswith("a value must be one real number; got ")


def test_an_exception_without_words_is_a_failed_evaluation(tmp_path: Path) -> None:
    def says_nothing(x: Any) -> float:
        raise Silent

    path = tmp_path / "run.db"
    with pytest.warns(nm.EvaluationWarning, match="the run goes on: Silent"):
        result = nm.optimize(says_nothing, BOX, 2, journal=path, **QUICK)
    assert [told.reason for told in result.history] == ["Silent"] * 2
    returned: list[Any] = [Unprintable(), Unconvertible(), 2.5]
    with pytest.warns(nm.EvaluationWarning, match="cannot be printed"):
        result = nm.optimize(lambda x: returned.pop(0), BOX, 3, **QUICK)
    assert (result.nfev, result.n_failed, result.fun) == (3, 2, 2.5)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("the pump stopped", "the pump stopped"),
        ("", "told as failed"),
        (None, "told as failed"),
        (3, "3"),
        (b"x", "b'x'"),
        (ValueError("too hot\nby far"), "ValueError: too hot"),
        (ValueError(), "ValueError"),
        (Silent(), "Silent"),
        (Unprintable(), "an object of type Unprintable that cannot be printed"),
    ],
)
def test_reasons_are_kept_as_text(tmp_path: Path, given: Any, kept: str) -> None:
    path = tmp_path / "run.db"
    run = optimizer(journal=path)
    run.tell([100.0, -2.0], failed=True, reason=given)
    run.tell([100.0, -2.0], float("nan"), reason=given)
    told = BayesianOptimizer.open(path).history
    assert told[0].reason == kept
    assert told[1].reason in (kept, "the value was NaN")


POINT = torch.tensor([100.0, -2.0])


@pytest.mark.parametrize(
    "x",
    [
        POINT,
        POINT.clone().requires_grad_(),
        POINT.to(torch.bfloat16),
        list(POINT.clone().requires_grad_()),
        np.ma.array([100.0, -2.0], mask=[False, False]),
    ],
)
def test_points_may_be_tensors(x: Any) -> None:
    run = optimizer(initial=[[100.0, -2.0]])
    asked = run.ask()
    run.tell(x, torch.tensor(1.0, requires_grad=True))
    assert run.history[0].x.tolist() == [100.0, -2.0]
    assert run.history[0].suggestion is not None
    assert run.history[0].suggestion.number == asked.number
    assert BOX.encode(x).tolist() == BOX.encode([100.0, -2.0]).tolist()


def test_batches_may_be_tensors() -> None:
    run = optimizer()
    run.tell(torch.stack([POINT, POINT]).requires_grad_(), torch.tensor([1.0, 2.0]), noise=None)
    run.tell([POINT, POINT.clone().requires_grad_()], torch.tensor([3.0, 4.0], requires_grad=True))
    assert [told.y for told in run.history] == [1.0, 2.0, 3.0, 4.0]
    for one in (np.array(1.0), torch.tensor(1.0)):
        with pytest.raises(nm.InputError, match="one entry a point; got 1 for 2 points"):
            run.tell([[100.0, -2.0]] * 2, one)
    run.tell([[100.0, -2.0]] * 2, [5.0, 6.0], noise=np.float64(0.5))
    assert [told.noise for told in run.history][4:] == [0.5, 0.5]


def test_named_values_may_be_tensors() -> None:
    run = optimizer(NAMED)
    x = {"r": torch.tensor(0.5, requires_grad=True), "n": torch.tensor(4), "c": "text"}
    run.tell(x, 1.0)
    assert run.history[0].x == {"r": 0.5, "n": 4, "c": "text"}


@pytest.mark.parametrize(
    ("space", "x"),
    [
        (BOX, np.ma.array([100.0, -2.0], mask=[True, False])),
        (BOX, [np.ma.masked, -2.0]),
        (NAMED, {"r": np.ma.masked, "n": 4, "c": "text"}),
        (NAMED, {"r": 0.5, "n": np.timedelta64(4, "ns"), "c": "text"}),
        (NAMED, {"r": 0.5, "n": 4, "c": np.timedelta64(1, "ns")}),
    ],
)
def test_points_with_masked_entries_or_times_are_refused(space: Space, x: Any) -> None:
    run = optimizer(space)
    with pytest.raises(nm.InputError, match=r"a value in every entry|made of numbers"):
        run.tell(x, 1.0)
    with pytest.raises(nm.InputError, match=r"a value in every entry|made of numbers"):
        space.encode(x)
    assert run.history == ()


def test_a_masked_value_of_a_batch_refuses_all_of_it() -> None:
    run = optimizer()
    with pytest.raises(nm.InputError, match="a masked one"):
        run.tell([[100.0, -2.0]] * 2, np.ma.array([1.0, 2.0], mask=[False, True]))
    assert run.history == ()
