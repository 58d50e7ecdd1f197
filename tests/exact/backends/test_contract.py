"""What holds for every solver."""

from __future__ import annotations

import importlib.util
import math
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.backends import Backend, Hooks, SolveRequest, get_backend
from tests.exact.backends.models import OPTIMUM, hard, infeasible, knapsack

HAS_SCIP = importlib.util.find_spec("pyscipopt") is not None
needs_scip = pytest.mark.skipif(not HAS_SCIP, reason="the extra 'scip' is not installed")
SCIP = pytest.param("scip", marks=needs_scip)
SOLVERS = ["highs", "cbc", "pyomo:highs", "pyomo:appsi_highs", SCIP]
PROVERS = ["highs", SCIP]
STOPPABLE = ["highs", "cbc", "pyomo:highs", "pyomo:appsi_highs", SCIP]


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Backend:
    return get_backend(request.param)


every_solver = pytest.mark.parametrize("backend", SOLVERS, indirect=True)
provers = pytest.mark.parametrize("backend", PROVERS, indirect=True)
stoppable = pytest.mark.parametrize("backend", STOPPABLE, indirect=True)


@every_solver
@pytest.mark.parametrize("presolve", [True, False])
def test_the_optimum_in_the_units_of_the_model(backend: Backend, presolve: bool) -> None:
    answer = backend.solve(knapsack(), SolveRequest(presolve=presolve))
    assert answer.status == "optimal"
    assert answer.objective == pytest.approx(OPTIMUM, abs=1e-4)
    np.testing.assert_allclose(answer.columns, [1.0, 1.0, 0.5], atol=1e-6)
    if backend.proves:
        assert answer.bound == pytest.approx(OPTIMUM, abs=1e-4)
        assert answer.bound >= answer.objective
    else:
        assert answer.bound == math.inf


@every_solver
def test_a_program_without_whole_columns(backend: Backend) -> None:
    model = replace(knapsack(), integer=np.zeros(3, dtype=bool))
    answer = backend.solve(model, SolveRequest())
    assert answer.status == "optimal"
    assert answer.objective == pytest.approx(OPTIMUM, abs=1e-4)


@every_solver
def test_infeasible(backend: Backend) -> None:
    answer = backend.solve(infeasible(), SolveRequest())
    assert answer.status == "infeasible"
    assert answer.columns is None
    assert answer.bound == -math.inf


@every_solver
def test_nothing_reaches_the_cutoff(backend: Backend) -> None:
    answer = backend.solve(knapsack(), SolveRequest(cutoff=OPTIMUM + 3.0))
    assert answer.status == "infeasible"
    if backend.proves:
        assert answer.bound == pytest.approx(OPTIMUM + 3.0)


@every_solver
def test_a_cutoff_below_the_optimum_changes_nothing(backend: Backend) -> None:
    answer = backend.solve(knapsack(), SolveRequest(cutoff=OPTIMUM - 3.0))
    assert answer.status == "optimal"
    assert answer.objective == pytest.approx(OPTIMUM, abs=1e-4)


@every_solver
@pytest.mark.parametrize("start", [[1.0, 1.0, 0.5], [0.0, 1.0, 0.75]])
def test_a_start_point_is_taken(backend: Backend, start: list[float]) -> None:
    answer = backend.solve(knapsack(), SolveRequest(start=np.array(start)))
    assert answer.status == "optimal"
    assert answer.objective == pytest.approx(OPTIMUM, abs=1e-4)


@pytest.mark.parametrize("name", PROVERS)
def test_a_start_point_survives_a_solve_without_time(name: str) -> None:
    model = hard()
    start = np.zeros(model.n_columns)
    start[-12:-6] = model.row_upper  # the slacks take it all
    answer = get_backend(name).solve(model, SolveRequest(time_limit=0.05, start=start))
    assert answer.status == "stopped"
    assert answer.objective >= model.value(start) - 1e-6


@provers
def test_the_bound_covers_what_a_wide_gap_leaves_open(backend: Backend) -> None:
    answer = backend.solve(knapsack(), SolveRequest(absolute_gap=120.0))
    assert answer.status == "optimal"
    assert answer.bound >= OPTIMUM - 1e-6
    assert answer.bound - answer.objective <= 120.0 + 1e-6


@every_solver
def test_out_of_time_there_is_no_optimum_and_no_junk(backend: Backend) -> None:
    answer = backend.solve(hard(), SolveRequest(time_limit=0.3))
    assert answer.status == "stopped"
    if answer.columns is not None:
        assert hard().violation(answer.columns) < 1e-5
    assert answer.bound >= answer.objective


@stoppable
def test_somebody_else_can_stop_it(backend: Backend) -> None:
    started = time.perf_counter()
    hooks = Hooks(should_stop=lambda: time.perf_counter() - started > 0.4)
    answer = backend.solve(hard(), SolveRequest(time_limit=60.0, hooks=hooks))
    assert time.perf_counter() - started < 20.0
    assert answer.status in ("stopped", "failed")
    assert answer.bound == math.inf or answer.bound >= answer.objective


@provers
def test_special_ordered_sets_need_a_solver_that_has_them(backend: Backend) -> None:
    model = replace(knapsack(), sos1=((0, 2),), column_lower=np.zeros(3))
    if backend.supports_sos1:
        answer = backend.solve(model, SolveRequest())
        assert answer.objective == pytest.approx(300.0 + 200.0 - 551.0)
    else:
        with pytest.raises(UnsupportedError, match="the solver 'scip'"):
            backend.solve(model, SolveRequest())


@every_solver
def test_the_same_seed_gives_the_same_answer(backend: Backend) -> None:
    request = SolveRequest(seed=7)
    first, second = backend.solve(knapsack(), request), backend.solve(knapsack(), request)
    np.testing.assert_array_equal(first.columns, second.columns)


@every_solver
def test_a_program_without_columns(backend: Backend) -> None:
    empty = replace(
        knapsack(),
        objective=np.zeros(0),
        matrix=knapsack().matrix[:, :0],
        column_lower=np.zeros(0),
        column_upper=np.zeros(0),
        integer=np.zeros(0, dtype=bool),
        column_names=(),
    )
    answer = backend.solve(empty, SolveRequest())
    assert (answer.status, answer.objective, answer.bound) == ("optimal", -551.0, -551.0)
    broken = replace(empty, row_upper=np.array([-1.0]))
    assert backend.solve(broken, SolveRequest()).status == "infeasible"


@pytest.mark.parametrize("name", ["highs", "cbc"])
def test_the_log_arrives_line_by_line(name: str) -> None:
    lines: list[str] = []
    get_backend(name).solve(knapsack(), SolveRequest(hooks=Hooks(log=lines.append)))
    assert any(name in line.lower() for line in lines)
    assert not any("\n" in line for line in lines)


def test_incumbents_and_bounds_arrive_while_it_runs() -> None:
    values: list[float] = []
    bounds: list[float] = []
    model = hard()
    hooks = Hooks(
        incumbent=lambda columns: values.append(model.value(columns)),
        progress=lambda bound, nodes: bounds.append(bound),
    )
    answer = get_backend("highs").solve(model, SolveRequest(time_limit=1.0, hooks=hooks))
    assert len(bounds) > 1  # by default HiGHS reports every five seconds
    assert values == sorted(values)
    assert values[-1] == pytest.approx(answer.objective)
    assert bounds[-1] >= answer.bound - 1e-9


@needs_scip
def test_scip_reports_bounds_that_hold_and_its_nodes() -> None:
    news: list[tuple[float, int]] = []
    hooks = Hooks(progress=lambda bound, nodes: news.append((bound, nodes)))
    answer = get_backend("scip").solve(hard(), SolveRequest(time_limit=1.0, hooks=hooks))
    assert news[-1][1] > 0
    assert [nodes for _, nodes in news] == sorted(nodes for _, nodes in news)
    assert all(bound >= answer.bound - 1e-9 for bound, _ in news)


@every_solver
def test_the_waiting_thread_ticks(backend: Backend) -> None:
    threads: set[threading.Thread] = set()
    hooks = Hooks(tick=lambda: threads.add(threading.current_thread()))
    backend.solve(hard(), SolveRequest(time_limit=0.3, hooks=hooks))
    assert threads == {threading.main_thread()}


def broken(*_: object) -> None:
    raise ZeroDivisionError("in the hook")


@pytest.mark.parametrize(
    ("name", "hooks"),
    [
        ("highs", Hooks(incumbent=broken)),
        ("highs", Hooks(progress=broken)),
        ("highs", Hooks(tick=broken)),
        ("cbc", Hooks(tick=broken)),
        pytest.param("scip", Hooks(progress=broken), marks=needs_scip),
        pytest.param("scip", Hooks(tick=broken), marks=needs_scip),
    ],
)
def test_an_error_in_a_hook_stops_the_solve_and_is_raised(name: str, hooks: Hooks) -> None:
    with pytest.raises(ZeroDivisionError, match="in the hook"):
        get_backend(name).solve(hard(), SolveRequest(time_limit=60.0, hooks=hooks))
