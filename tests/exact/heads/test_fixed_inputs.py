"""Proofs about few coordinates of many: sound, and no dearer than these coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.units import moving
from nnbo_mip.space import Domain, Space


def learned(d: int, n: int = 40, form: str = "matern") -> tuple[Any, FloatArray, FloatArray]:
    rng = np.random.default_rng(d)
    X = rng.uniform(-1.0, 1.0, (n, d))
    y = np.sin(3.0 * X[:, 3]) - np.square(X[:, 5] - 0.2) + 0.1 * X.sum(axis=1) / np.sqrt(d)
    options = "ard=True,length_scale_prior=hierarchical,starts=screened,alpha=1e-6"
    return nm.surrogates.create(f"gp:kernel={form},{options}").fit(X, y), X, y


def slice_of(d: int, at: FloatArray) -> Domain:
    lower, upper = at.copy(), at.copy()
    lower[[3, 5]], upper[[3, 5]] = -1.0, 1.0
    return Space.box([-1.0] * d, [1.0] * d).model().restrict(lower, upper)


@pytest.mark.parametrize("form", ["matern", "rbf"])
@pytest.mark.parametrize("acquisition", ["ei", "ucb", "mean"])
def test_the_bound_of_a_slice_is_the_largest_score_of_a_fine_grid(
    form: str, acquisition: str
) -> None:
    belief, X, y = learned(30, form=form)
    domain = slice_of(30, X[int(y.argmax())])
    best = nm.maximize(belief, acquisition, domain, maximizer="bab", X=X, y=y, gap=1e-3)
    assert best.status == "optimal"
    axis = np.linspace(-1.0, 1.0, 101)
    points = np.tile(domain.lower, (len(axis) ** 2, 1))
    points[:, [3, 5]] = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    assert best.objective is not None
    scores = best.objective.score(points)
    assert scores.max() <= best.bound
    assert best.value >= scores.max() - 2e-3 * max(1.0, abs(best.value))
    assert best.check().confirmed


def test_matrices_are_of_the_coordinates_that_move(monkeypatch: pytest.MonkeyPatch) -> None:
    belief, X, y = learned(600)
    sizes = []
    wanted = np.linalg.eigvalsh

    def counted(matrices: FloatArray) -> FloatArray:
        sizes.append(matrices.shape[-1])
        return wanted(matrices)

    monkeypatch.setattr(np.linalg, "eigvalsh", counted)
    domain = slice_of(600, X[int(y.argmax())])
    best = nm.maximize(belief, "ei", domain, maximizer="bab", X=X, y=y)
    assert best.status == "optimal"
    assert sizes
    assert max(sizes) == 2


def test_what_moves_in_any_box_moves() -> None:
    lower = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    upper = np.array([[0.0, 0.5], [1.0, 1.0], [2.0, 2.0], [4.0, 3.0]])
    center = 0.5 * lower + 0.5 * upper
    assert np.asarray(moving(lower, upper, center)).tolist() == [0, 3]
    center[2] += 1e-16 + np.spacing(2.0)  # of a middle that rounding moved away
    assert np.asarray(moving(lower, upper, center)).tolist() == [0, 2, 3]
    assert moving(lower, upper + 1.0, center) == slice(None)
