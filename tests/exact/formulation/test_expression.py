"""Affine expressions of columns: what they stand for, and how far they may be from it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from nnbo_mip.exact.formulation.expression import (
    NEGLIGIBLE,
    Expressions,
    apply_affine,
    scale_rows,
)
from nnbo_mip.exact.formulation.model import SMALLEST_SCALE, power_of_two_above
from nnbo_mip.network.graph.affine import Affine


def exact_dot(row: np.ndarray, values: np.ndarray) -> Fraction:
    pairs = zip(row.tolist(), values.tolist(), strict=True)
    return sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))


@pytest.mark.parametrize(
    ("value", "power"),
    [(0.0, 1.0), (1.0, 1.0), (0.75, 1.0), (-3.0, 4.0), (4.0, 4.0), (5e-324, SMALLEST_SCALE)],
)
def test_the_next_power_of_two(value: float, power: float) -> None:
    assert power_of_two_above(value) == power


@pytest.mark.parametrize("seed", range(20))
def test_an_expression_is_within_its_error_of_the_exact_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    magnitudes = np.array([1.0, 0.7, 3.0])
    inner = Expressions(
        rng.normal(size=4) * 1e3,
        csr_array(rng.normal(size=(4, 3))),
        np.zeros(4),
    )
    affine = Affine(rng.normal(size=2), {0: rng.normal(size=(2, 4)) * 10.0 ** rng.uniform(-4, 4)})
    outer = apply_affine(affine, [inner], magnitudes)
    columns = rng.uniform(-magnitudes, magnitudes)
    sources = [
        Fraction(float(inner.constants[k])) + exact_dot(inner.matrix.toarray()[k], columns)
        for k in range(4)
    ]
    for i in range(2):
        weights = [Fraction(float(w)) for w in affine.dense(0)[i]]
        exact = Fraction(float(affine.bias[i])) + sum(
            (w * s for w, s in zip(weights, sources, strict=True)), Fraction(0)
        )
        got = Fraction(float(outer.constants[i])) + exact_dot(outer.matrix.toarray()[i], columns)
        assert abs(got - exact) <= Fraction(float(outer.errors[i]))
        assert outer.errors[i] < 1e-9 * (1.0 + abs(float(exact)) + 1e7)


def test_errors_of_the_sources_arrive_weighed() -> None:
    source = Expressions(np.zeros(2), csr_array(np.eye(2)), np.array([0.5, 0.25]))
    z = apply_affine(Affine(np.zeros(1), {0: np.array([[2.0, -3.0]])}), [source], np.ones(2))
    assert z.errors[0] == pytest.approx(2.0 * 0.5 + 3.0 * 0.25)


def test_rows_are_scaled_to_order_1_and_lose_their_negligible_coefficients() -> None:
    matrix = csr_array(np.array([[300.0, 0.5 * NEGLIGIBLE * 512.0, 0.0], [0.0, 1e-7, 2e-7]]))
    magnitudes = np.array([1.0, 4.0, 1.0])
    rows = scale_rows(matrix, np.array([1024.0, 0.0]), np.array([0.0, 0.0]), magnitudes)
    assert rows.scales.tolist() == [512.0, 2.0**-22]
    assert rows.constants[0] == 2.0
    assert rows.matrix.nnz == 3
    largest = abs(rows.matrix).max(axis=1).toarray().ravel()
    assert np.all((largest > 0.5) & (largest <= 1.0))
    # What was left out can add up to |coefficient| times the largest |column|.
    assert rows.errors[0] == pytest.approx(0.5 * NEGLIGIBLE * 4.0)
    assert rows.errors[1] == 0.0
