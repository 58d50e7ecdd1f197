"""Runs with a warp: the size of bad values does not matter, and models speak the user's units."""

from __future__ import annotations

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError

X = [0.05, 0.3, 0.45, 0.6, 0.7, 0.95]
SURROGATE = {"name": "brvfl", "n_hidden": 30}


def run(values: list[float], warp: object, direction: str = "minimize") -> nm.BayesianOptimizer:
    optimizer = nm.BayesianOptimizer(
        [(0.0, 1.0)], SURROGATE, "ei", initial=len(X), warp=warp, direction=direction
    )
    for x, y in zip(X, values, strict=True):
        optimizer.tell([x], y)
    return optimizer


MILD = [9.0, 1.0, 0.2, 0.5, 3.0, 8.0]
WILD = [9e8, 1.0, 0.2, 0.5, 3.0, 8e3]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_size_of_bad_values_does_not_matter(sign: float) -> None:
    direction = "minimize" if sign == 1.0 else "maximize"
    mild = run([sign * y for y in MILD], "half_rank", direction).ask()
    wild = run([sign * y for y in WILD], "half_rank", direction).ask()
    assert mild.x.tolist() == wild.x.tolist()
    assert mild.bound == wild.bound
    assert mild.mean == wild.mean


def test_without_a_warp_it_does() -> None:
    assert run(MILD, None).ask().mean != run(WILD, None).ask().mean


def test_the_mean_is_in_the_units_that_were_told() -> None:
    """At a bad point the model expects a bad value again, not its warped one."""
    optimizer = run(WILD, "half_rank")
    belief_at = nm.BayesianOptimizer(
        [(0.0, 0.05)], SURROGATE, "mean", initial=1, warp="half_rank", escape=None
    )
    belief_at.tell([0.05], 7.0)
    assert optimizer.ask().mean < 3.0
    assert belief_at.ask().mean == pytest.approx(7.0, abs=1e-6)


def test_half_a_band_is_that_of_the_units_told() -> None:
    from nnbo_mip.loop.step.answer import expected
    from nnbo_mip.loop.step.training_set import TrainingSet
    from nnbo_mip.loop.warps.warping import warp_of

    told = -np.array(WILD)
    sample = TrainingSet(np.array(X)[:, None], told, None, None, np.ones(6, dtype=np.bool_))
    warped = sample.warped(warp_of("half_rank"))
    belief = nm.surrogates.create(SURROGATE).fit(warped.X, warped.y)
    worst, _ = expected(belief, np.array([[0.05]]), warped.outward)
    assert worst == pytest.approx(-9e8, rel=0.2)
    best, std = expected(belief, np.array([[0.45]]), warped.outward)
    assert best == pytest.approx(-0.2, abs=0.1)
    assert std == pytest.approx(float(belief.std([[0.45]])[0]), rel=1e-6)


def test_an_unknown_warp_is_refused() -> None:
    with pytest.raises(InputError, match="half_rank"):
        nm.BayesianOptimizer([(0.0, 1.0)], warp="halfrank")
