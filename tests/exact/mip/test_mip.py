"""The mip engine against the exact maximum, and against solvers that lie."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError, SolverError, UncertifiedWarning
from nnbo_mip.exact.backends import SolverAnswer, SolveRequest, get_backend
from nnbo_mip.exact.backends.highs import Highs
from nnbo_mip.exact.bounds.interval import interval_bounds
from nnbo_mip.exact.formulation import MilpModel
from nnbo_mip.exact.mip import mip
from nnbo_mip.exact.mip.emptiness import is_empty
from nnbo_mip.exact.mip.mip import MipOptions
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain, Grid
from nnbo_mip.testing.exact_maximum import exact_maximum
from tests.exact.backends.extras import needs_gurobi, needs_scip
from tests.exact.random_problems import mixed_domain, random_network, random_problem

GAP = 1e-4
PAIRS = [
    ("highs", "bigm"),
    ("highs", "partition"),
    pytest.param("scip", "bigm", marks=needs_scip),
    pytest.param("scip", "sos1", marks=needs_scip),
    pytest.param("scip", "partition", marks=needs_scip),
    pytest.param("gurobi", "bigm", marks=needs_gurobi),
    pytest.param("gurobi", "sos1", marks=needs_gurobi),
    pytest.param("gurobi", "partition", marks=needs_gurobi),
    ("cbc", "bigm"),
    ("cbc", "partition"),
    ("pyomo:highs", "bigm"),
]


def checked(problem: Problem, result: SearchResult) -> None:
    """A claim of optimality, checked against the exact maximum without any slack."""
    exact = exact_maximum(problem.network, problem.domain, budget=3_000_000).value
    assert exact is not None
    assert result.x is not None
    assert problem.domain.admissible(result.x[None, :])[0]
    assert result.value == problem.value(result.x)
    assert exact <= Fraction(result.bound)
    assert result.status == "optimal"
    assert result.bound - result.value <= GAP * max(1.0, abs(result.value))


def scaled(problem: Problem, scale: float) -> Problem:
    layers = tuple(
        Affine(layer.bias, {k: w * scale for k, w in layer.terms.items()})
        for layer in problem.network.layers
    )
    return Problem(Network(problem.dimension, layers, problem.network.head), problem.domain)


def dead_and_active() -> Problem:
    """Two ReLUs dead, two always on, one a constant, two equal and one tied at a corner."""
    weights = np.array([[1.0, 2], [-1, 0.5], [3, 1], [1, -1], [0, 0], [2, -3], [2, -3], [1, 1]])
    bias = np.array([-50.0, -40.0, 60.0, 30.0, 0.75, 0.5, 0.5, -3.5])
    head = Affine(np.array([1.0]), {1: np.array([[5.0, -2, 0.1, -0.3, 2, 1, -0.5, -4]])})
    return Problem(Network(2, (Affine(bias, {0: weights}),), head), Domain([-1.0, 0.5], [3.0, 4.5]))


def problems() -> dict[str, Problem]:
    rng = np.random.default_rng(5)
    return {
        "deep": random_problem(1, 2, (4, 3, 3)),
        "skips": random_problem(2, 3, (5, 4), skips=True),
        "wide": random_problem(3, 2, (9,)),
        "mixed": Problem(random_network(rng, 6, (5, 4), skips=True), mixed_domain(rng)),
        "small weights": scaled(random_problem(4, 2, (5, 4)), 1e-4),
        "large weights": scaled(random_problem(4, 2, (5, 4)), 1e4),
        "dead and active": dead_and_active(),
        "linear": Problem(
            Network(2, (), Affine(np.array([0.5]), {0: np.array([[2.0, -3.0]])})),
            Domain([-1.0, 2.0], [4.0, 7.0], A=[[1.0, 1.0]], b=[5.0]),
        ),
        "one point": Problem(random_network(rng, 2, (3,)), Domain([1.5, -2.0], [1.5, -2.0])),
        "grids": Problem(
            random_network(rng, 2, (6, 4)),
            Domain(
                [-1.5, 0.2], [2.0, 3.0], [Grid.listed([-1.5, 0.4, 1.1]), Grid.uniform(0.2, 0.4, 8)]
            ),
        ),
    }


@pytest.mark.parametrize(("solver", "formulation"), PAIRS)
@pytest.mark.parametrize("name", problems())
def test_the_maximum_is_exact(name: str, solver: str, formulation: str) -> None:
    problem = problems()[name]
    result = mip.solve(
        problem, MipOptions(solver=solver, formulation=formulation), Monitor(problem, GAP)
    )
    checked(problem, result)
    claims = f"{solver} is a claimant: its points count, its bounds are not read"
    proves = get_backend(solver).proves
    asked = result.counters.get("solves", 0) > 0  # else the bounds of the relaxation were enough
    assert result.message == (claims if asked and not proves else "")
    prover = solver if proves else "highs"
    assert result.engine == ("mip" if result.kind == "rigorous" else f"mip:{prover}")


@pytest.mark.parametrize("solver", ["highs", "cbc"])
@pytest.mark.parametrize("seed", range(8))
def test_without_a_primal_heuristic_the_solver_finds_the_point(
    seed: int, solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mip, "climb", lambda problem, monitor, seed: None)
    problem = random_problem(seed, 2, (6, 4))
    checked(problem, mip.solve(problem, MipOptions(solver=solver), Monitor(problem, GAP)))


@pytest.mark.parametrize("presolve", [True, False])
def test_bounds_may_be_given(presolve: bool) -> None:
    problem = random_problem(1, 2, (5, 4))
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    options = MipOptions(presolve=presolve)
    result = mip.solve(problem, options, Monitor(problem, GAP), preactivation_bounds=bounds)
    checked(problem, result)
    assert result.counters["switching"] == sum(
        int(np.sum((low < 0) & (high > 0))) for low, high in bounds
    )


@pytest.mark.parametrize(
    "domain",
    [
        Domain([-1.0, 0.5], [2.0, 3.0], A=[[1.0, 1.0]], b=[-2.0]),
        Domain(
            [-1.0, 0.0],
            [5.0, 5.0],
            [Grid.uniform(-1.0, 1.0, 7), Grid.uniform(0.0, 1.0, 6)],
            A=[[2.0, -2.0], [-2.0, 2.0]],
            b=[1.0, -1.0],
        ),
    ],
    ids=["by propagation", "by parity"],
)
@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_an_empty_domain_is_infeasible(domain: Domain, solver: str) -> None:
    problem = Problem(random_network(np.random.default_rng(0), 2, (4,)), domain)
    result = mip.solve(problem, MipOptions(solver=solver), Monitor(problem, GAP))
    assert result.status == "infeasible"
    assert result.x is None
    assert result.bound == -math.inf
    assert result.message == ""


def test_naive_never_certifies() -> None:
    problem = random_problem(1, 2, (4, 3))
    with pytest.warns(UncertifiedWarning):
        result = mip.solve(problem, MipOptions(formulation="naive"), Monitor(problem, GAP))
    assert (result.kind, result.status, result.bound) == ("none", "heuristic", math.inf)
    exact = float(exact_maximum(problem.network, problem.domain).value)
    assert result.value == pytest.approx(exact, abs=1e-6)


def test_a_wrong_naive_claim_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mip, "climb", lambda problem, monitor, seed: None)
    layer = Affine(np.array([0.5]), {0: np.array([[-4.0]])})
    network = Network(1, (layer,), Affine(np.zeros(1), {1: np.array([[-1.0]]), 0: np.ones((1, 1))}))
    problem = Problem(network, Domain([-2.0], [3.0]))
    # With M = 0.1 the program cannot hold relu(z) > 0.1 and is feasible for x > 0.1 only.
    with pytest.warns(UncertifiedWarning):
        result = mip.solve(
            problem, MipOptions(formulation="naive", constant=0.1), Monitor(problem, GAP)
        )
    assert result.status == "heuristic"


# -- solvers that lie -----------------------------------------------------------------


class Liar(Highs):
    """HiGHS whose first answers are bent."""

    def __init__(self, bend: Callable[[SolverAnswer], SolverAnswer], times: int = 100) -> None:
        self.bend, self.left = bend, times
        self.requests: list[SolveRequest] = []

    def solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        self.requests.append(request)
        answer = super().solve(model, request)
        self.left -= 1
        return self.bend(answer) if self.left >= 0 else answer


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Liar]:
    """Put a liar in the place of HiGHS; other solvers are not installed."""

    def install(bend: Callable[[SolverAnswer], SolverAnswer], times: int = 100) -> Liar:
        liar = Liar(bend, times)
        monkeypatch.setattr(mip, "get_backend", lambda name: liar)
        monkeypatch.setattr(mip, "second_opinions", lambda claimants: iter(()))
        return liar

    return install


LIES: dict[str, tuple[Callable[[SolverAnswer], SolverAnswer], str]] = {
    "bound below a known value": (
        lambda a: replace(a, bound=a.bound - 1.0, objective=a.objective - 1.0),
        "below the known value",
    ),
    "objective that no pass confirms": (
        lambda a: replace(a, objective=a.objective + 0.5, bound=a.bound + 0.5),
        "no forward pass confirms",
    ),
    "infeasible": (
        lambda a: SolverAnswer("infeasible", bound=-math.inf, native_status="no"),
        "feasible problem infeasible",
    ),
    "failure": (lambda a: SolverAnswer("failed", native_status="kSolveError"), "kSolveError"),
}


@pytest.mark.parametrize("lie", LIES)
def test_after_one_lie_the_solver_is_asked_again_with_presolve_off(
    lie: str, lying: Callable[..., Liar]
) -> None:
    bend, sentence = LIES[lie]
    liar = lying(bend, times=1)
    problem = random_problem(1, 2, (5, 4))
    result = mip.solve(problem, MipOptions(), Monitor(problem, GAP))
    checked(problem, result)
    assert sentence in result.message
    assert [request.presolve for request in liar.requests] == [True, False]


@pytest.mark.parametrize("lie", LIES)
def test_a_solver_that_keeps_lying_loses_its_bound(lie: str, lying: Callable[..., Liar]) -> None:
    bend, sentence = LIES[lie]
    lying(bend)
    problem = random_problem(1, 2, (5, 4))
    result = mip.solve(problem, MipOptions(), Monitor(problem, GAP))
    exact = exact_maximum(problem.network, problem.domain).value
    assert exact is not None
    # What is left is the interval bound: true, and far from the value.
    assert (result.status, result.kind) == ("feasible", "rigorous")
    assert exact <= Fraction(result.bound)
    assert result.value == pytest.approx(float(exact), abs=1e-9)
    assert sentence in result.message
    assert "withdrawn" in result.message


@needs_scip
def test_another_solver_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    liar = Liar(LIES["bound below a known value"][0])
    monkeypatch.setattr(
        mip, "get_backend", lambda name: liar if name == "highs" else get_backend(name)
    )
    problem = random_problem(1, 2, (5, 4))
    result = mip.solve(problem, MipOptions(), Monitor(problem, GAP))
    checked(problem, result)
    assert result.engine == "mip:scip"


class Claimant(Liar):
    """A solver whose bounds do not count, and who claims too little."""

    name = "claimant"
    proves = False


def test_a_false_claim_is_found_by_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mip, "climb", lambda problem, monitor, seed: None)
    problem = random_problem(1, 2, (5, 4))
    centre = 0.5 * (problem.domain.lower + problem.domain.upper)
    worse = problem.value(centre)
    assert worse < float(exact_maximum(problem.network, problem.domain).value) - 0.1

    def propose_the_centre(answer: SolverAnswer) -> SolverAnswer:
        bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
        columns = mip.encode(problem, bounds).complete(centre)
        return replace(answer, columns=columns, objective=worse, bound=math.inf)

    claimant = Claimant(propose_the_centre)
    claimant.solve = lambda model, request: propose_the_centre(  # type: ignore[method-assign]
        SolverAnswer("optimal")
    )
    monkeypatch.setattr(mip, "ensure_sound", lambda backend: None)
    monkeypatch.setattr(
        mip, "get_backend", lambda name: claimant if name == "cbc" else get_backend(name)
    )
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    monitor = Monitor(problem, GAP)
    result = mip.solve(problem, MipOptions(solver="cbc"), monitor, preactivation_bounds=bounds)
    checked(problem, result)
    assert result.engine == "mip:highs"
    assert result.counters["solves"] >= 2


def test_claims_may_be_proven_by_somebody_else() -> None:
    problem = random_problem(1, 2, (5, 4))
    seen: list[float] = []

    def prover(asked: Problem, monitor: Monitor) -> SearchResult:
        assert asked is problem
        seen.append(monitor.best_value)
        return monitor.result(Proof("elsewhere"), monitor.best_value, "rigorous", counters={})

    result = mip.solve(problem, MipOptions(solver="cbc"), Monitor(problem, GAP), prover=prover)
    assert result.engine == "elsewhere"
    assert seen[0] == pytest.approx(float(exact_maximum(problem.network, problem.domain).value))


# -- time, options --------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_without_time_there_is_a_value_and_a_bound(solver: str) -> None:
    problem = random_problem(7, 8, (40, 40))
    monitor = Monitor(problem, GAP)
    monitor.offer(problem.domain.sample(5, np.random.default_rng(0)))
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    late = Monitor(problem, GAP, time_limit=0.02)
    late.offer(monitor.best_x[None, :])
    result = mip.solve(problem, MipOptions(solver=solver), late, preactivation_bounds=bounds)
    assert result.status == "feasible"
    assert result.time_limited
    assert result.value >= monitor.best_value
    assert result.value < result.bound < math.inf


def test_an_interruption_returns_what_there_is() -> None:
    problem = random_problem(7, 8, (40, 40))
    monitor = Monitor(problem, GAP)
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    monitor.offer(problem.domain.sample(5, np.random.default_rng(0)))
    monitor.interrupt()
    result = mip.solve(problem, MipOptions(), monitor, preactivation_bounds=bounds)
    assert result.status == "feasible"
    assert result.time_limited


def test_progress_is_reported_with_a_bound_that_holds() -> None:
    problem = random_problem(5, 4, (16, 16))
    seen = []
    monitor = Monitor(problem, GAP, time_limit=20.0, callback=seen.append)
    result = mip.solve(problem, MipOptions(), monitor)
    assert seen
    assert all(progress.engine == "mip:highs" for progress in seen)
    assert all(progress.bound >= result.value for progress in seen)


def test_the_same_seed_gives_the_same_result() -> None:
    problem = random_problem(9, 3, (7, 5))
    first, second = (
        mip.solve(problem, MipOptions(seed=3), Monitor(problem, GAP)) for _ in range(2)
    )
    assert first.value == second.value
    assert first.bound == second.bound
    assert first.counters == second.counters


def test_a_gap_below_the_solvers_tolerances_is_left_open_and_explained() -> None:
    problem = random_problem(1, 2, (5, 4))
    result = mip.solve(problem, MipOptions(), Monitor(problem, 1e-12))
    assert result.status == "feasible"
    assert "tolerances of highs and the margins" in result.message
    assert result.bound - result.value < 1e-5


def test_the_log_is_passed_on() -> None:
    lines: list[str] = []
    problem = random_problem(1, 2, (5, 4))
    mip.solve(problem, MipOptions(log=lines.append), Monitor(problem, GAP))
    assert any("HiGHS" in line for line in lines)


@pytest.mark.parametrize("options", [{"threads": 0}, {"groups": 0}, {"constant": 0.0}])
def test_senseless_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match="at least 1"):
        MipOptions(**options)


@pytest.mark.parametrize("solver", ["highs", "cbc"])  # highs proves what cbc claims
def test_a_solver_that_fails_its_self_test_is_not_used(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nnbo_mip.exact.backends import selftest

    failures = {"highs": "a model"}
    monkeypatch.setattr(selftest, "_failure", lambda kind, name, version: failures.get(name))
    problem = random_problem(1, 2, (5, 4))
    with pytest.raises(SolverError, match="'highs' must solve its self-test"):
        mip.solve(problem, MipOptions(solver=solver), Monitor(problem, GAP))
    with pytest.raises(SolverError, match="self-test"):
        is_empty(problem.domain, get_backend("highs"), Monitor(problem, GAP))
