"""The corners that supporting lines leave."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from nnbo_mip.exact.heads.polygon import Line, Polygon
from nnbo_mip.exact.search.result import SearchResult, Step
from nnbo_mip.exact.search.rounding import rounded_up


def line(first: float, second: float, bound: float) -> Line:
    return Line(first, second, Step({}, SearchResult(bound=bound, kind="rigorous")), None)


@pytest.mark.parametrize("seed", range(20))
def test_corners_hold_the_polygon(seed: int) -> None:
    """What all lines allow lies below a chord between two corners."""
    rng = np.random.default_rng(seed)
    polygon = Polygon()
    angles = np.concatenate([[0.0, 0.5 * np.pi], rng.uniform(0.0, 0.5 * np.pi, 6)])
    weights = np.column_stack([np.cos(angles), np.sin(angles)])
    weights[0], weights[1] = [1.0, 0.0], [0.0, 1.0]
    bounds = rng.uniform(0.5, 1.0, 8)
    for (first, second), bound in zip(weights, bounds, strict=True):
        polygon.add(line(float(first), float(second), float(bound)))
    corners = np.array([[float(c) for c in corner] for _, _, corner in polygon.corners()])
    points = rng.uniform(-2.0, 1.2, (3000, 2))
    allowed = points[(points @ weights.T <= bounds).all(axis=1)]
    assert len(allowed)
    # The hull of the corners and of the falling directions, by its own support function.
    for angle in np.linspace(0.0, 0.5 * np.pi, 50):
        normal = np.array([np.cos(angle), np.sin(angle)])
        assert (allowed @ normal).max() <= (corners @ normal).max() + 1e-9


def test_a_parallel_line_counts_only_if_it_is_tighter() -> None:
    polygon = Polygon()
    for one in (line(1.0, 0.0, 2.0), line(0.0, 1.0, 1.0), line(2.0, 0.0, 3.0), line(1.0, 0.0, 9.0)):
        polygon.add(one)
    assert [corner for _, _, corner in polygon.corners()] == [(Fraction(3, 2), Fraction(1))]


def test_rounding_goes_up() -> None:
    for number in (Fraction(1, 3), Fraction(-1, 3), Fraction(1, 10)):
        assert Fraction(rounded_up(number)) >= number
        assert rounded_up(number) == pytest.approx(float(number), rel=1e-15)
