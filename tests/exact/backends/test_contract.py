"""What holds for every solver that is shipped."""

from __future__ import annotations

import pytest

from nnbo_mip.exact.backends import Backend, Hooks, SolveRequest, get_backend
from nnbo_mip.testing.backend_contract import ClaimantContract, ProverContract
from nnbo_mip.testing.programs import hard, knapsack
from tests.exact.backends.extras import GUROBI, SCIP, needs_gurobi, needs_scip


class TestHighs(ProverContract):
    def make(self) -> Backend:
        return get_backend("highs")


@needs_scip
class TestScip(ProverContract):
    def make(self) -> Backend:
        return get_backend("scip")


@needs_gurobi
class TestGurobi(ProverContract):
    def make(self) -> Backend:
        return get_backend("gurobi")


class TestCbc(ClaimantContract):
    def make(self) -> Backend:
        return get_backend("cbc")


class TestPyomoHighs(ClaimantContract):
    def make(self) -> Backend:
        return get_backend("pyomo:highs")


class TestPyomoAppsiHighs(ClaimantContract):
    def make(self) -> Backend:
        return get_backend("pyomo:appsi_highs")


@pytest.mark.parametrize("name", ["highs", "cbc", GUROBI])
def test_the_log_arrives_line_by_line(name: str) -> None:
    lines: list[str] = []
    get_backend(name).solve(knapsack(), SolveRequest(hooks=Hooks(log=lines.append)))
    assert any(name in line.lower() for line in lines)
    assert not any("\n" in line for line in lines)


@pytest.mark.parametrize("name", ["highs", GUROBI])
def test_incumbents_and_bounds_arrive_while_it_runs(name: str) -> None:
    values: list[float] = []
    bounds: list[float] = []
    model = hard()
    hooks = Hooks(
        incumbent=lambda columns: values.append(model.value(columns)),
        progress=lambda bound, nodes: bounds.append(bound),
    )
    answer = get_backend(name).solve(model, SolveRequest(time_limit=1.0, hooks=hooks))
    assert len(bounds) > 1  # by default HiGHS reports every five seconds
    assert values == sorted(values)
    assert values[-1] == pytest.approx(answer.objective)
    assert bounds[-1] >= answer.bound - 1e-9


@pytest.mark.parametrize("name", [SCIP, GUROBI])
def test_bounds_that_hold_and_nodes_are_reported(name: str) -> None:
    news: list[tuple[float, int]] = []
    hooks = Hooks(progress=lambda bound, nodes: news.append((bound, nodes)))
    answer = get_backend(name).solve(hard(), SolveRequest(time_limit=1.0, hooks=hooks))
    assert news[-1][1] > 0
    assert [nodes for _, nodes in news] == sorted(nodes for _, nodes in news)
    assert all(bound >= answer.bound - 1e-9 for bound, _ in news)


def broken(*_: object) -> None:
    raise ZeroDivisionError("in the hook")


@pytest.mark.parametrize(
    ("name", "hooks"),
    [
        ("highs", Hooks(incumbent=broken)),
        ("highs", Hooks(progress=broken)),
        pytest.param("scip", Hooks(progress=broken), marks=needs_scip),
        pytest.param("gurobi", Hooks(incumbent=broken), marks=needs_gurobi),
        pytest.param("gurobi", Hooks(progress=broken), marks=needs_gurobi),
    ],
)
def test_an_error_in_a_report_stops_the_solve_and_is_raised(name: str, hooks: Hooks) -> None:
    with pytest.raises(ZeroDivisionError, match="in the hook"):
        get_backend(name).solve(hard(), SolveRequest(time_limit=60.0, hooks=hooks))
