"""Networks as integer programs: the same function at every point, and nothing cut off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError, UncertifiedWarning, UnsupportedError
from nnbo_mip.exact.backends import SolveRequest, get_backend
from nnbo_mip.exact.bounds.interval import interval_bounds
from nnbo_mip.exact.formulation import Encoding, encode
from nnbo_mip.exact.formulation.model import MARGIN
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain
from tests.exact.random_problems import mixed_domain, random_network, random_problem

CERTIFYING = ["bigm", "partition", "sos1"]
WITH_BINARIES = ["bigm", "partition"]


def encoded(problem: Problem, formulation: str = "bigm", **options: float) -> Encoding:
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    return encode(problem, bounds, formulation, **options)


def problems() -> list[Problem]:
    rng = np.random.default_rng(11)
    return [
        random_problem(1, 3, (6, 5)),
        random_problem(2, 2, (4, 4, 4), skips=True),
        random_problem(3, 1, (9,)),
        Problem(random_network(rng, 6, (7, 5), skips=True), mixed_domain(rng)),
    ]


@pytest.mark.parametrize("formulation", CERTIFYING)
@pytest.mark.parametrize("index", range(4))
def test_a_forward_pass_is_a_feasible_solution_of_the_same_value(
    formulation: str, index: int
) -> None:
    problem = problems()[index]
    encoding = encoded(problem, formulation)
    assert encoding.certifies
    for point in problem.domain.sample(30, np.random.default_rng(index)):
        columns = encoding.complete(point)
        assert encoding.model.violation(columns) <= 1e-14
        assert encoding.model.value(columns) == pytest.approx(problem.value(point), rel=1e-12)
        np.testing.assert_allclose(encoding.model.point(columns), point, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("formulation", WITH_BINARIES)
@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_with_the_input_fixed_the_program_has_one_value(
    formulation: str, index: int, sign: float
) -> None:
    problem = problems()[index]
    encoding = encoded(problem, formulation)
    point = problem.domain.sample(1, np.random.default_rng(index + 7))[0]
    columns = encoding.complete(point)
    inputs = np.flatnonzero(abs(encoding.model.input_matrix).sum(axis=0))
    lower, upper = encoding.model.column_lower.copy(), encoding.model.column_upper.copy()
    lower[inputs] = upper[inputs] = columns[inputs]
    integer = encoding.model.integer.copy()
    integer[inputs] = False  # a fixed column need no longer be whole
    model = replace(
        encoding.model,
        column_lower=lower,
        column_upper=upper,
        integer=integer,
        objective=sign * encoding.model.objective,
        offset=sign * encoding.model.offset,
    )
    answer = get_backend("highs").solve(model, SolveRequest())
    assert answer.status == "optimal"
    # Rows are relaxed by 1e-8, so a tiny range is left.
    assert answer.objective == pytest.approx(sign * problem.value(point), abs=1e-5)
    assert answer.objective >= sign * problem.value(point) - 1e-12


def test_the_wrong_branch_is_not_feasible() -> None:
    problem = random_problem(1, 3, (6, 5))
    encoding = encoded(problem)
    columns = encoding.complete(problem.domain.sample(1, np.random.default_rng(0))[0])
    switches = encoding.blocks[0].switch
    assert switches is not None
    for switch in switches:
        flipped = columns.copy()
        flipped[switch] = 1.0 - flipped[switch]
        assert encoding.model.violation(flipped) > 1e-3


def test_rescaling_the_neurons_does_not_change_the_program() -> None:
    # relu(c z) = c relu(z): scaled by powers of two, the very same program comes out.
    plain = random_problem(4, 2, (5, 4))
    first, second = plain.network.layers
    big, small = 2.0**13, 2.0**-11
    layers = (
        Affine(first.bias * big, {0: first.dense(0) * big}),
        Affine(second.bias * small, {1: second.dense(1) * (small / big)}),
    )
    head = Affine(plain.network.head.bias, {2: plain.network.head.dense(2) / small})
    scaled = Problem(Network(2, layers, head), plain.domain)
    one, other = encoded(plain).model, encoded(scaled).model
    np.testing.assert_array_equal(one.matrix.toarray(), other.matrix.toarray())
    np.testing.assert_allclose(one.objective, other.objective, rtol=1e-12)


@pytest.mark.parametrize("formulation", CERTIFYING)
def test_coefficients_are_of_order_1_at_any_scale_of_weights(formulation: str) -> None:
    for scale in (1e-4, 1e4):
        plain = random_problem(6, 3, (5, 4)).network
        layers = tuple(
            Affine(layer.bias, {k: w * scale for k, w in layer.terms.items()})
            for layer in plain.layers
        )
        problem = Problem(Network(3, layers, plain.head), Domain([0.5, -2.0, 1.0], [2.0, 1.0, 9.0]))
        model = encoded(problem, formulation).model
        largest = abs(model.matrix).max(axis=1).toarray().ravel()
        assert np.all((largest > 0.5) & (largest <= 1.0))
        assert np.all(np.abs(model.matrix.data) > 1e-9)
        assert np.abs(model.column_upper).max() <= 1.0 + 2.0 * MARGIN


def test_rays_of_proven_sign_cost_nothing() -> None:
    # z0 = x - 5 < 0 and z1 = x + 7 > 0 on [-2, 3]; only z2 = x + 0.5 can be both.
    first = Affine(np.array([-5.0, 7.0, 0.5]), {0: np.ones((3, 1))})
    head = Affine(np.array([0.25]), {1: np.array([[100.0, 2.0, -3.0]])})
    problem = Problem(Network(1, (first,), head), Domain([-2.0], [3.0]))
    encoding = encoded(problem)
    assert encoding.n_switching == 1
    assert encoding.model.column_names == ("x0", "h1_2", "s1_2", "y1_2")
    columns = encoding.complete(np.array([1.5]))
    assert encoding.model.value(columns) == 0.25 + 2.0 * 8.5 - 3.0 * 2.0


def test_a_sign_that_is_only_nearly_proven_keeps_its_binary() -> None:
    layer = Affine(np.array([2.0 - 1e-9]), {0: np.ones((1, 1))})
    problem = Problem(
        Network(1, (layer,), Affine(np.zeros(1), {1: np.ones((1, 1))})), Domain([-2.0], [3.0])
    )
    assert encoded(problem).n_switching == 1


def test_near_zero_weights_are_left_out_and_paid_for() -> None:
    weights = np.array([[1.0, 1e-13, -1e-15], [0.5, 2.0, 1e-20]])
    layer = Affine(np.array([-0.25, 0.5]), {0: weights})
    network = Network(3, (layer,), Affine(np.zeros(1), {1: np.array([[1.0, -1.0]])}))
    problem = Problem(network, Domain([-2.0, -1.0, -4.0], [3.0, 5.0, 7.0]))
    model = encoded(problem).model
    rows = [i for i, name in enumerate(model.row_names) if name.startswith("z")]
    assert np.diff(model.matrix.indptr)[rows].tolist() == [3, 4]
    width = model.row_upper[rows] - model.row_lower[rows]
    without = Affine(layer.bias, {0: np.where(np.abs(weights) > 1e-12, weights, 0.0)})
    clean = encoded(Problem(Network(3, (without,), network.head), problem.domain)).model
    paid = (width - (clean.row_upper[rows] - clean.row_lower[rows])) / 2.0
    scale = 4.0  # of both rows: the largest coefficient is that of h, at most 4
    assert paid[0] == pytest.approx((1e-13 * 5.0 + 1e-15 * 7.0) / scale, rel=1e-3)
    assert 0.0 <= paid[1] < 1e-18


def test_values_too_large_for_any_solver_are_refused() -> None:
    layer = Affine(np.array([0.5]), {0: np.array([[1e150]])})
    network = Network(1, (layer,), Affine(np.zeros(1), {1: np.ones((1, 1))}))
    with pytest.raises(UnsupportedError, match="rescale"):
        encoded(Problem(network, Domain([-2.0], [3.0])))


def test_naive_warns_and_does_not_certify() -> None:
    problem = random_problem(1, 3, (6, 5))
    with pytest.warns(UncertifiedWarning, match="M=50"):
        encoding = encoded(problem, "naive", constant=50.0)
    assert not encoding.certifies
    assert encoding.n_switching == problem.network.n_relus
    point = problem.domain.sample(1, np.random.default_rng(0))[0]
    columns = encoding.complete(point)
    assert encoding.model.violation(columns) <= 1e-14
    assert encoding.model.value(columns) == pytest.approx(problem.value(point))


def test_too_small_a_naive_constant_cuts_the_optimum_off() -> None:
    layer = Affine(np.array([0.0]), {0: np.array([[4.0]])})
    network = Network(1, (layer,), Affine(np.zeros(1), {1: np.ones((1, 1))}))
    problem = Problem(network, Domain([-2.0], [3.0]))
    with pytest.warns(UncertifiedWarning):
        model = encoded(problem, "naive", constant=5.0).model
    answer = get_backend("highs").solve(model, SolveRequest())
    assert answer.objective == pytest.approx(5.0, abs=1e-6)
    assert problem.value([3.0]) == 12.0


def test_more_groups_make_partition_tighter() -> None:
    problem = random_problem(2, 5, (8, 8))
    relaxed = []
    for formulation, groups in (("bigm", 1), ("partition", 1), ("partition", 3), ("partition", 9)):
        model = encoded(problem, formulation, groups=groups).model
        model = replace(model, integer=np.zeros_like(model.integer))
        relaxed.append(get_backend("highs").solve(model, SolveRequest()).objective)
    assert relaxed[1] <= relaxed[0] + 1e-6
    assert relaxed[2] < relaxed[1] - 1e-3
    assert relaxed[3] < relaxed[2] - 1e-3
    assert relaxed[3] > max(problem.values(problem.domain.sample(500, np.random.default_rng(0))))


def test_an_unknown_formulation_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"bigm, naive, partition, sos1; got 'hull'"):
        encoded(random_problem(1, 2, (3,)), "hull")


def test_bounds_of_another_network_are_refused() -> None:
    problem = random_problem(1, 2, (3, 4))
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    with pytest.raises(InputError, match=r"widths \[3, 4\]; got \[3\]"):
        encode(problem, bounds[:1])
