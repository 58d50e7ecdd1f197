"""What of an initial design is still asked for, where values were told before."""

from __future__ import annotations

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.space import Space
from tests.loop.runs import BOX, optimizer


def test_a_grid_is_asked_whole_but_for_what_is_known() -> None:
    """Values elsewhere stand for none of its points."""
    space = Space.box([0.0, 0.0], [4.0, 4.0])
    grid = [[float(a), float(b)] for a in range(5) for b in range(5)]
    for known in ([], grid[:5], grid[3:16], [[0.5, 0.5], [1.5, 0.3], [2.2, 2.2]]):
        run = optimizer(space, initial="grid:per_side=5")
        for x in known:
            run.tell(x, 1.0)
        wanted = [x for x in grid if x not in known]
        asked = run.ask(len(wanted))
        assert [np.asarray(one.x).tolist() for one in asked] == wanted
        for one in asked:
            assert one.is_initial
            run.tell(one, 1.0)
        assert not run.ask().is_initial
    result = nm.optimize(
        lambda x: float(x[0]),
        space,
        8,
        initial="grid:per_side=3",
        past=([[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]], [0.0, 1.0, 2.0]),
        surrogate="brvfl:n_hidden=12",
        maximizer="random:evaluations=200",
    )
    places = {tuple(np.asarray(told.x).tolist()) for told in result.optimizer.history}
    assert {(a, b) for a in (0.0, 2.0, 4.0) for b in (0.0, 2.0, 4.0)} <= places
    assert sum(step.is_initial for step in result.optimizer.suggestions) == 6


def test_a_known_point_stands_for_one_given_point_that_it_is_meant_as() -> None:
    given = [[99.0 + 1.0 / 3.0, -1.0 - 2.0 / 3.0], [99.5, -2.5], [99.5, -2.5]]
    run = optimizer(initial=given)
    run.tell([99.333333, -1.666667], 1.0)  # as a file has it
    run.tell([99.5, -2.5], 1.0)
    asked = run.ask(2)
    assert [one.is_initial for one in asked] == [True, False]
    assert np.asarray(asked[0].x).tolist() == [99.5, -2.5]
    # What follows is fewer by what was told beside the given ones.
    run = optimizer(initial={"name": "given", "given": given[:2], "then": "sobol:n=4"})
    run.tell([99.5, -2.5], 1.0)
    run.tell([99.1, -2.1], 1.0)
    assert [one.is_initial for one in run.ask(5)] == [True] * 4 + [False]


def test_failures_at_given_points_take_nothing_from_the_values_elsewhere() -> None:
    given = {"name": "given", "given": [[99.1, -2.9], [99.5, -2.5]], "then": "sobol:n=2"}
    run = optimizer(initial=given)
    for x in given["given"]:  # type: ignore[attr-defined]
        run.tell(x, failed=True)
    for x in ([99.2, -2.2], [99.3, -2.3]):
        run.tell(x, 1.0)
    assert not run.ask().is_initial


@pytest.mark.filterwarnings("ignore::nnbo_mip.core.errors.ModelWarning")
@pytest.mark.parametrize(
    ("rows", "starts"), [(0, 10), (1, 9), (5, 5), (8, 2), (10, 0), (14, 0), (40, 0)]
)
def test_values_of_before_are_a_design_of_their_own(rows: int, starts: int) -> None:
    space = Space.box([0.0] * 8, [1.0] * 8)
    X = space.sample(rows + 2, 1)
    run = optimizer(space, initial=None, region=None)
    for number, x in enumerate(X):
        run.tell(x, float(number), failed=number >= rows)  # failures stand for nothing
    assert all(one.is_initial for one in run.ask(starts)) if starts else True
    assert not rows or not run.ask().is_initial
    assert run.starts == starts


def test_a_number_of_points_that_was_named_is_that_number() -> None:
    run = optimizer(initial="sobol:n=20")
    for x in BOX.sample(14, 1):
        run.tell(x, float(x[0]))
    assert [one.is_initial for one in run.ask(7)] == [True] * 6 + [False]


def test_three_evaluations_after_fourteen_rows_are_choices_of_a_model() -> None:
    space = Space.box([0.0] * 8, [1.0] * 8)
    X = space.sample(14, 1)
    result = nm.optimize(
        lambda x: float(x.sum()),
        space,
        n_evals=3,
        past=(X, X.sum(axis=1)),
        surrogate="brvfl:n_hidden=12",
        maximizer="random:evaluations=200",
    )
    assert len(result.steps) == result.nfev == 3
