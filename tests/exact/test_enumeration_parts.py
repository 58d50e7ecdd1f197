"""What enumeration is built of: covers without gaps, forms and errors that are true."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnbo_mip.exact.enumeration.forms import FormPropagation
from nnbo_mip.exact.enumeration.gains import error_gains
from nnbo_mip.exact.enumeration.plan import make_plan
from nnbo_mip.exact.enumeration.planes import upper_plane
from nnbo_mip.exact.enumeration.rows import Rows
from nnbo_mip.exact.enumeration.simplices import Geometry, children
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain, Grid
from nnbo_mip.testing import exact_maximum
from tests.exact.random_problems import random_network, random_problem

RECTANGLE = Domain([-2.0, 0.5], [1.0, 3.25])


def exact_points(triangle):
    return [[Fraction(float(value)) for value in vertex] for vertex in triangle]


def cross(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def contains(triangle, point):
    """Whether a triangle holds a point, in rational arithmetic."""
    a, b, c = exact_points(triangle)
    sides = [cross(a, b, point), cross(b, c, point), cross(c, a, point)]
    return all(s >= 0 for s in sides) or all(s <= 0 for s in sides)


def exact_value(network, point):
    return exact_maximum(network, Domain(point, point)).value


# -- geometry ---------------------------------------------------------------------------------


def test_a_rectangle_is_covered_by_two_triangles():
    cover = Geometry(RECTANGLE, (0, 1)).cover(RECTANGLE.lower[None, :], RECTANGLE.upper[None, :])
    assert cover.shape == (3, 2, 2)
    rng = np.random.default_rng(3)
    for point in RECTANGLE.sample(200, rng):
        exact = [Fraction(float(value)) for value in point]
        assert any(contains(cover[:, i], exact) for i in range(2))


@given(st.integers(0, 2**32 - 1), st.floats(1e-9, 1.0), st.integers(0, 2))
def test_the_children_of_a_triangle_cover_it_exactly(seed, size, edge):
    rng = np.random.default_rng(seed)
    center = rng.uniform(RECTANGLE.lower, RECTANGLE.upper)
    triangle = np.clip(
        center + size * rng.uniform(-1.0, 1.0, (3, 2)), RECTANGLE.lower, RECTANGLE.upper
    )
    vertices = triangle[:, None, :]
    geometry = Geometry(RECTANGLE, (0, 1))
    pair = (np.array([edge]), np.array([(edge + 1) % 3]))
    margin = geometry.end_share(triangle[edge], triangle[(edge + 1) % 3])
    share = np.array([margin + rng.random() * (1.0 - 2.0 * margin)])
    new = geometry.new_vertices(vertices, pair, share)
    first, second = children(vertices, pair, np.stack([new.points, new.points])).swapaxes(0, 1)
    weights = rng.integers(1, 1000, (60, 3))
    weights[:40, (edge + 2) % 3] = 0  # most of them on the edge that was cut
    corners = exact_points(triangle)
    for weight in weights.tolist() if new.drifts[0] == 0 else []:
        shares = [Fraction(w, sum(weight)) for w in weight]
        point = [sum(s * c[j] for s, c in zip(shares, corners, strict=True)) for j in range(2)]
        assert contains(first, point) or contains(second, point)
    on_edge = triangle[edge] + share * (triangle[(edge + 1) % 3] - triangle[edge])
    assert np.abs(new.points[0] - on_edge).max() < 2e-14


def test_almost_no_cut_of_a_large_triangle_drifts():
    rng = np.random.default_rng(8)
    vertices = rng.uniform(RECTANGLE.lower, RECTANGLE.upper, (3, 10_000, 2))
    pair = (np.zeros(10_000, dtype=int), np.full(10_000, 2))
    new = Geometry(RECTANGLE, (0, 1)).new_vertices(vertices, pair, rng.uniform(0.1, 0.9, 10_000))
    assert new.drifts.sum() < 10


def test_rows_keep_every_admissible_point():
    rng = np.random.default_rng(11)
    A, b = [[1.0, 0.7], [-1.0, 0.2], [0.3, -1.0]], [1.5, 1.1, -1.0]
    domain = Domain(RECTANGLE.lower, RECTANGLE.upper, A=A, b=b)
    geometry = Geometry(domain, (0, 1))
    rows = Rows(domain, geometry)
    kept, drifts = rows.clip(geometry.cover(domain.lower[None, :], domain.upper[None, :]))
    assert not drifts.any()
    assert (rows.excess(kept) <= 4.0 * rows.margin).all()
    candidates = rng.uniform(domain.lower, domain.upper, (2000, 2))
    inside = candidates[domain.admissible(candidates)]
    assert 100 < len(inside) < 1900
    for point in inside[:300]:
        exact = [Fraction(float(value)) for value in point]
        assert any(contains(kept[:, i], exact) for i in range(kept.shape[1]))


def test_vertices_outside_a_row_move_inside_by_next_to_nothing():
    domain = Domain(RECTANGLE.lower, RECTANGLE.upper, A=[[1.0, 0.7], [0.3, -1.0]], b=[1.5, -1.0])
    geometry = Geometry(domain, (0, 1))
    rows = Rows(domain, geometry)
    kept, _ = rows.clip(geometry.cover(domain.lower[None, :], domain.upper[None, :]))
    vertices = kept.reshape(-1, 2)
    moved = rows.moved_inside(vertices, np.tile(kept, (1, 3, 1)))
    assert not domain.admissible(vertices).all()
    assert domain.admissible(moved).all()
    assert np.abs(moved - vertices).max() < 1e-11


# -- plans ------------------------------------------------------------------------------------


def test_plans_list_what_is_discrete_and_sweep_the_rest():
    grids = [None, Grid.uniform(0.0, 0.5, 5), Grid.uniform(-3.0, 1.0, 900), None, None, None]
    domain = Domain(
        [1.0, 0.5, -3.0, 0.0, 0.0, 7.0], [2.0, 2.0, 400.0, 1.0, 1.0, 7.0], grids, [(3, 4)]
    )
    plan = make_plan(domain, 10_000)
    assert (plan.free, plan.swept_grid, plan.slices) == ((0,), None, 4 * 404 * 2)
    no_real = Domain(domain.lower[1:], domain.upper[1:], grids[1:], [(2, 3)])
    plan = make_plan(no_real, 10_000)
    assert (plan.free, plan.slices) == ((1,), 8)
    assert plan.swept_grid is grids[2]
    boxes = [np.concatenate(part) for part in zip(*plan.blocks(3), strict=True)]
    assert boxes[0].shape == (8, 5)
    assert {tuple(row) for row in boxes[0][:, [0, 2, 3]]} == {
        (x, *group) for x in (0.5, 1.0, 1.5, 2.0) for group in ((1.0, 0.0), (0.0, 1.0))
    }
    assert (boxes[0][:, 1] == -3.0).all()
    assert (boxes[1][:, 1] == 400.0).all()


def test_slices_without_admissible_points_are_left_out():
    grids = [Grid.uniform(0.0, 1.0, 4), None]
    domain = Domain([0.0, -1.0], [3.0, 2.0], grids, A=[[1.0, 1.0]], b=[1.2])
    ((lower, upper),) = make_plan(domain, 100).blocks(10)
    assert lower[:, 0].tolist() == [0.0, 1.0, 2.0]
    assert upper[:, 1] == pytest.approx([1.2, 0.2, -0.8])


# -- bounds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("seed", range(6))
def test_forms_and_planes_hold_inside_their_simplices(seed, size):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 2, (6, 5, 4), skips=seed % 2 == 0)
    problem = Problem(network, RECTANGLE)
    vertices = rng.uniform(RECTANGLE.lower, RECTANGLE.upper, (3, 5, 2))
    vertices[1:] = vertices[0] + size * (vertices[1:] - vertices[0])
    forms = FormPropagation(network, error_gains(problem)).run(vertices)
    plane = upper_plane(problem, vertices, forms.layers)
    for simplex in range(5):
        triangle = vertices[:, simplex]
        points = np.vstack([triangle, rng.dirichlet(np.ones(3), 40) @ triangle])
        inside = [p for p in points if contains(triangle, [Fraction(float(c)) for c in p])]
        assert len(inside) > 30
        best = max(exact_value(network, point) for point in inside)
        assert best <= Fraction(forms.upper[simplex])
        assert best <= Fraction(plane.upper[simplex])


def test_forms_without_an_open_relu_are_the_network_itself():
    problem = random_problem(3, 2, (8, 8))
    corner = problem.domain.lower
    vertices = corner + 1e-9 * np.array([[[0.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]]])
    forms = FormPropagation(problem.network, error_gains(problem)).run(vertices)
    assert all(layer.radius is None for layer in forms.layers)
    assert forms.upper[0] == pytest.approx(problem.values(vertices[:, 0]).max(), abs=1e-12)
    assert 0.0 < forms.error[0] < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_errors_at_points_are_covered(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 3, (30, 20), skips=True)
    scaled = Network(3, network.layers, network.head.combine(np.array([[10.0 ** (3 * seed)]])))
    problem = Problem(scaled, Domain([-7.0, 100.0, 3.0], [9.0, 350.0, 3.5]))
    points = problem.domain.sample(20, rng)
    forms = FormPropagation(scaled, error_gains(problem)).run(points[None, :, :])
    for point, upper, error in zip(points, forms.upper, forms.error, strict=True):
        exact = exact_value(scaled, point)
        assert exact <= Fraction(upper)
        assert Fraction(upper) - exact <= Fraction(2.0 * error)
        assert error <= 1e-11 * problem.rounding.magnitude
