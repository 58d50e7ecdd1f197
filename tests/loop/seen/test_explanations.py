"""`explain`: the numbers of an explanation against the model that they are of."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import nnbo_mip as nm
from tests.loop.runs import advance, bowl, optimizer
from tests.loop.seen.runs import mixed_run


def asked(**options: object) -> tuple[nm.BayesianOptimizer, nm.Suggestion]:
    run = optimizer(surrogate="gp", acquisition="ei", maximizer="auto", **options)
    advance(run, 6)
    return run, run.ask()


def test_the_promise_and_the_bound_are_those_of_the_suggestion() -> None:
    _, step = asked()
    why = step.explain()
    assert (why.value, why.bound, why.status) == (step.value, step.bound, "optimal")
    assert why.improvement == pytest.approx(step.value)
    assert why.about == "the whole space"
    assert "proven over the whole space" in str(why)
    assert (why.mean, why.std) == (step.mean, step.std)


def test_weights_say_how_the_mean_moves() -> None:
    run, step = asked(warp=None)
    why = step.explain()
    assert why.is_weighted
    assert step.why is not None
    belief, sample = step.why.belief, step.why.sample
    place = run.space.encode(step.x)
    weights = belief.value_weights(place)[0]
    moved = np.array([0.0, 1.0, -2.0, 0.5, 3.0, -1.0])
    units = belief.units
    mean = units.y_center + weights @ (sample.y - units.y_center)
    assert mean == pytest.approx(belief.mean(place)[0])
    assert np.isfinite(weights @ moved)
    assert [abs(one.weight) for one in why.leans_on] == sorted(
        np.abs(weights).tolist(), reverse=True
    )[: len(why.leans_on)]
    for one in why.leans_on:
        assert one.y == pytest.approx(bowl(one.x))


def test_other_families_name_their_nearest_points() -> None:
    run = optimizer()
    advance(run, 6)
    why = run.ask().explain()
    assert not why.is_weighted
    far = [one.distance for one in why.leans_on]
    assert far == sorted(far)
    assert "nearest known points" in str(why)
    assert "nothing was proven" in str(why)


def test_limits_that_are_reached_are_named() -> None:
    both = nm.LinearConstraint({"x0": 1.0, "x1": 1.0}, "<=", 1.0)
    space = nm.Space.box([0.0, 0.0], [1.0, 1.0], both)
    run = nm.BayesianOptimizer(space, "gp", "mean", initial=5)
    for x in ([0.1, 0.1], [0.5, 0.2], [0.2, 0.6], [0.4, 0.4], [0.0, 0.9]):
        run.tell(x, -x[0] - x[1])
    why = run.ask().explain()
    assert any("x0" in said and "equality" in said for said in why.binding)


def test_a_region_is_named() -> None:
    run = optimizer(region="trust")
    advance(run, 6)
    assert "a region whose sides are" in run.ask().explain().about


def test_what_was_read_from_the_record_says_so() -> None:
    run = optimizer()
    advance(run, 6)
    with pytest.raises(nm.InputError, match="read from the record"):
        run.suggestions[-1].explain()
    with pytest.raises(nm.InputError, match="initial point"):
        run.suggestions[0].explain()


def test_a_copy_that_was_pickled_has_the_record_but_no_model() -> None:
    _, step = asked()
    copy = pickle.loads(pickle.dumps(step))
    assert str(copy) == str(step)
    with pytest.raises(nm.InputError, match="model is at hand"):
        copy.explain()


def test_notebooks_show_results_suggestions_certificates_and_runs() -> None:
    result = mixed_run(n=12)
    step = result.optimizer.ask()
    assert step.certificate is not None
    for shown in (result, step, step.certificate, step.explain(), result.optimizer):
        text = shown._repr_html_()
        assert text.startswith("<div><strong>")
        assert "<table>" in text
    assert "<svg" in result._repr_html_()
