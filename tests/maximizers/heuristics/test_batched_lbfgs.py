"""Batched L-BFGS against what is known of quadratics, and against SciPy's L-BFGS-B."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.maximizers.heuristics.batched_lbfgs import ascend

LOWER, UPPER = np.array([-1.0, -2.0, 0.0, 0.5]), np.array([1.0, 3.0, 4.0, 0.5])


def concave(seed: int) -> tuple[FloatArray, FloatArray]:
    """Return the matrix and center of a concave quadratic whose maximum often lies on a face."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((4, 4))
    return root @ root.T + 0.1 * np.eye(4), rng.uniform(-3.0, 3.0, 4)


def rosenbrock(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    x, y = points[:, 0], points[:, 1]
    value = (1.0 - x) ** 2 + 100.0 * (y - x**2) ** 2
    slopes = np.column_stack([-2.0 * (1.0 - x) - 400.0 * x * (y - x**2), 200.0 * (y - x**2)])
    return -value, -slopes


@pytest.mark.parametrize("seed", range(8))
def test_concave_quadratics_end_where_scipy_ends(seed: int) -> None:
    matrix, center = concave(seed)

    def function(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        off = points - center
        return -0.5 * np.einsum("ni,ij,nj->n", off, matrix, off), -off @ matrix

    starts = np.random.default_rng(1).uniform(LOWER, UPPER, (12, 4))
    points, values, steps = ascend(function, starts, LOWER, UPPER)
    found = minimize(
        lambda x: -function(x[None, :])[0][0],
        starts[0],
        jac=lambda x: -function(x[None, :])[1][0],
        bounds=np.column_stack([LOWER, UPPER]),
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-12},
    )
    np.testing.assert_allclose(points, np.tile(found.x, (12, 1)), atol=2e-3)
    np.testing.assert_allclose(values, -found.fun, rtol=1e-6, atol=1e-6)
    assert np.all((points >= LOWER) & (points <= UPPER))
    assert np.array_equal(function(points)[0], values)
    assert 12 <= steps <= 12 * 60


def test_a_curved_valley_is_followed() -> None:
    starts = np.random.default_rng(0).uniform(-2.0, 2.0, (10, 2))
    box = np.full(2, -2.0), np.full(2, 2.0)
    points, values, _ = ascend(rosenbrock, starts, *box, iterations=500)
    assert (values > -1e-6).all()
    np.testing.assert_allclose(points, 1.0, atol=2e-3)


def test_starts_do_not_know_of_each_other() -> None:
    starts = np.random.default_rng(0).uniform(-2.0, 2.0, (6, 2))
    box = np.full(2, -2.0), np.full(2, 2.0)
    together = ascend(rosenbrock, starts, *box, iterations=40)[0]
    alone = [ascend(rosenbrock, start[None, :], *box, iterations=40)[0][0] for start in starts]
    np.testing.assert_allclose(together, alone, atol=1e-12)


def test_each_start_keeps_to_its_own_box_and_its_fixed_coordinates() -> None:
    starts = np.array([[-1.0, 0.3], [0.2, 0.4], [1.5, -0.7]])
    lower, upper = starts - np.array([0.1, 0.0]), starts + np.array([0.2, 0.0])
    points, _, _ = ascend(rosenbrock, starts, lower, upper)
    assert np.array_equal(points[:, 1], starts[:, 1])
    # With y fixed the valley is at x = sqrt(y), where there is one; else at x = 0.
    np.testing.assert_allclose(points[:, 0], [-0.8, 0.4, 1.4], atol=1e-2)


def test_a_ridge_of_two_planes_is_no_trap_for_the_others() -> None:
    def roof(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        return -np.abs(points).sum(axis=1), -np.sign(points)

    starts = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 3))
    points, values, _ = ascend(roof, starts, np.full(3, -1.0), np.full(3, 1.0))
    assert np.isfinite(points).all()
    assert (values >= roof(starts)[0]).all()
