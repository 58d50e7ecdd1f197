"""The columns and rows of a domain."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.formulation.builder import ModelBuilder
from nnbo_mip.exact.formulation.expression import Expressions
from nnbo_mip.exact.formulation.inputs import LARGEST_WHOLE, LONGEST_LIST, add_inputs, input_values
from nnbo_mip.exact.formulation.model import MARGIN, MilpModel
from nnbo_mip.space.domain import Domain, Grid
from tests.exact.random_problems import asymmetric_box, mixed_domain


def written(domain: Domain) -> tuple[MilpModel, object]:
    builder = ModelBuilder()
    inputs = add_inputs(builder, domain)
    nothing = Expressions(np.zeros(1), inputs.expressions.matrix[[0]] * 0.0, np.zeros(1))
    return builder.build(nothing, inputs.expressions), inputs


DOMAINS = {
    "mixed": mixed_domain(np.random.default_rng(3)),
    "box": asymmetric_box(np.random.default_rng(5), 3),
    "far": Domain([1e6, -3e-7], [1e6 + 1.0, 5e-7]),
    "fixed": Domain([2.5, -1.0], [2.5, 4.0]),
    "grids": Domain(
        [-0.7, 0.1, -4.0],
        [3.4, 5.0, 4.0],
        [Grid.listed([-0.5, 0.3, 3.3]), Grid.uniform(0.2, 0.3, 9), Grid.uniform(-7.0, 2.0, 8)],
    ),
    "pinned": Domain([0.0], [1.0], [Grid.uniform(0.0, 0.1, 11, 1.0)]),
    "thirds": Domain([-1.0], [1.0], [Grid.uniform(-1.0, 2.0 / 3.0, 4, 1.0)]),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_admissible_points_are_feasible_and_come_back(name: str) -> None:
    domain = DOMAINS[name]
    model, inputs = written(domain)
    for point in domain.sample(50, np.random.default_rng(1)):
        columns = input_values(inputs, point, model.n_columns)
        columns = np.where(model.integer, np.round(columns), columns)
        assert model.violation(columns) <= 1e-15
        np.testing.assert_allclose(model.point(columns), point, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("name", DOMAINS)
def test_columns_are_of_order_1(name: str) -> None:
    model, _ = written(DOMAINS[name])
    continuous = ~model.integer
    largest = np.maximum(np.abs(model.column_lower), np.abs(model.column_upper))
    assert largest[continuous].max(initial=0.0) <= 1.0 + 2.0 * MARGIN


def test_a_point_beyond_a_row_is_not_feasible() -> None:
    domain = Domain([-1.0, 0.5], [2.0, 3.0], A=[[2.0, 1.0]], b=[3.0])
    model, inputs = written(domain)
    inside, outside = np.array([1.0, 1.0]), np.array([1.0 + 1e-6, 1.0])
    assert model.violation(input_values(inputs, inside, 2)) == 0.0
    assert model.violation(input_values(inputs, outside, 2)) > 1e-7


def test_rows_are_relaxed_by_slack_and_margin_and_no_more() -> None:
    domain = Domain([-1.0, 0.5], [2.0, 3.0], A=[[2.0, 1.0]], b=[3.0])
    model, _ = written(domain)
    # Columns are x0 / 2 and x1 / 4, the row 4 c0 + 4 c1 <= 3 is divided by 4.
    assert model.row_upper[0] == pytest.approx(
        (3.0 + domain.row_slack[0]) / 4.0 + MARGIN, rel=1e-14
    )


def test_a_long_uniform_grid_becomes_continuous() -> None:
    short, _ = written(Domain([-1.0], [5.0], [Grid.uniform(-1.0, 6.0 / 1000, 1001, 5.0)]))
    assert short.integer.tolist() == [True]
    count = LARGEST_WHOLE + 2
    domain = Domain([-1.0], [5.0], [Grid.uniform(-1.0, 6.0 / (count - 1), count, 5.0)])
    model, inputs = written(domain)
    assert model.integer.tolist() == [False]
    assert model.violation(input_values(inputs, np.array([5.0]), 1)) == 0.0


def test_a_long_list_is_refused_by_name() -> None:
    values = np.sort(np.random.default_rng(0).normal(size=LONGEST_LIST + 1))
    domain = Domain([values[0]], [values[-1]], [Grid.listed(values)])
    with pytest.raises(UnsupportedError, match="the method 'bab'"):
        written(domain)


def test_a_list_is_one_choice() -> None:
    model, _ = written(Domain([-0.7], [3.4], [Grid.listed([-0.5, 0.3, 3.3])]))
    assert model.violation(np.array([0.0, 1.0, 0.0])) == 0.0
    assert model.violation(np.array([1.0, 1.0, 0.0])) == 1.0
    assert model.violation(np.zeros(3)) == 1.0


def test_a_group_with_a_level_switched_on_leaves_the_others_off() -> None:
    domain = Domain([0.0, 1.0, 0.0], [1.0, 1.0, 1.0], one_hot=((0, 1, 2),))
    model, _ = written(domain)
    assert model.violation(np.zeros(2)) == 0.0
    assert model.violation(np.array([0.0, 1.0])) == 1.0
