"""Starts for many length-scales: few inputs that matter are found, and many alike do not vanish."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.gp.gp import MOST_SEARCHED, GaussianProcess
from nnbo_mip.surrogates.gp.screening import MOST

OPTIONS = GaussianProcess(
    kernel="matern",
    ard=True,
    length_scale_prior="hierarchical",
    amplitude_bounds=(1e-5, 100.0),
    alpha=1e-6,
    starts="screened",
)


def cube(n: int, d: int, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (n, d))


@pytest.mark.parametrize("n", [70, MOST_SEARCHED + 30])
def test_two_inputs_of_two_hundred_are_found(n: int) -> None:
    X = cube(n, 200)
    y = np.sin(3.0 * X[:, 17]) + 2.0 * X[:, 140] ** 2
    belief = OPTIONS.fit(X, y)
    shortest = np.argsort(belief.length_scales)
    assert set(shortest[:2].tolist()) == {17, 140}
    assert belief.length_scales[shortest[2]] > 5.0 * belief.length_scales[shortest[1]]
    places = cube(200, 200, seed=1)
    truth = np.sin(3.0 * places[:, 17]) + 2.0 * places[:, 140] ** 2
    assert np.square(belief.mean(places) - truth).mean() < 0.1 * truth.var()


def test_three_hundred_inputs_alike_are_learned_and_do_not_vanish() -> None:
    """From length-scales of 1 correlations are 0, and a climb alone may stay where it began."""
    X = cube(150, 300)
    y = -np.square(X - 0.3).sum(axis=1)
    places = cube(200, 300, seed=1)
    truth = -np.square(places - 0.3).sum(axis=1)

    def error(options: GaussianProcess) -> float:
        belief = options.fit(X, y)
        assert belief.length_scales.max() < 2.0 * belief.length_scales.min()
        return float(np.square(belief.mean(places) - truth).mean() / truth.var())

    assert error(OPTIONS) < 0.95
    assert error(replace(OPTIONS, starts="around", n_restarts=0)) > 0.99


def test_levels_of_a_category_stay_tied_and_few_inputs_are_chosen() -> None:
    X = cube(60, 30)
    X[:, 3:6] = np.eye(3)[np.random.default_rng(2).integers(3, size=60)]
    y = 3.0 * X[:, 4] + X[:, 0]
    belief = GaussianProcess(
        kernel="matern",
        ard=True,
        length_scale_prior="hierarchical",
        starts="screened",
        categories=((3, 4, 5),),
    ).fit(X, y)
    assert len(set(belief.length_scales[3:6].tolist())) == 1
    assert belief.length_scales[4] < np.median(belief.length_scales)
    assert MOST < 30


@pytest.mark.parametrize(
    "options",
    [
        {"ard": False, "length_scale_prior": "hierarchical"},
        {"ard": True},
        {"ard": True, "length_scale_prior": "dimension", "length_scale_bounds": "fixed"},
        {"ard": True, "length_scale_prior": "dimension", "groups": ((0,), (1,))},
    ],
)
def test_what_cannot_be_screened_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match="screened starts need"):
        GaussianProcess(starts="screened", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "d"), [(1, 40), (3, 5000), (5, 40)])
def test_few_and_constant_values_are_learned_too(n: int, d: int) -> None:
    X = cube(n, d)
    for y in (np.full(n, 2.0), np.arange(n, dtype=float)):
        belief = OPTIONS.fit(X, y)
        assert np.isfinite(belief.mean(X)).all()
        assert np.isfinite(belief.std(X)).all()
    alike = OPTIONS.fit(np.zeros((n, d)), np.arange(n, dtype=float))
    assert np.isfinite(alike.mean(X)).all()
