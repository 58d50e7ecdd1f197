"""The start-up test, and what becomes of a solver that fails it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from nnbo_mip.core.errors import InputError, MissingExtraError, SolverError
from nnbo_mip.exact.backends import (
    SolverAnswer,
    SolveRequest,
    available,
    get_backend,
    selftest,
)
from nnbo_mip.exact.backends.highs import Highs
from nnbo_mip.exact.backends.selftest import cases, ensure_sound, first_failure
from nnbo_mip.exact.formulation import MilpModel


class Bent(Highs):
    """HiGHS with its answers bent."""

    def __init__(self, bend: Callable[[SolverAnswer], SolverAnswer]) -> None:
        self.bend = bend

    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        return self.bend(super()._solve(model, request))


@pytest.mark.parametrize(
    ("bend", "sentence"),
    [
        (lambda a: replace(a, objective=a.objective - 1.0), "issue 3043"),
        (lambda a: replace(a, objective=a.objective + 1.0), "issue 3043"),
        (lambda a: SolverAnswer("failed"), "got failed"),
        (lambda a: SolverAnswer("stopped"), "got stopped"),
        (lambda a: replace(a, status="infeasible"), "got infeasible"),
        (
            lambda a: a if a.status == "optimal" else SolverAnswer("optimal", objective=0.0),
            "parity",
        ),
    ],
)
def test_a_wrong_answer_is_found(
    bend: Callable[[SolverAnswer], SolverAnswer], sentence: str
) -> None:
    assert sentence in first_failure(Bent(bend), cases())


def test_a_leak_beyond_the_stated_tolerance_is_found() -> None:
    trickle = [case for case in cases() if case.leak]
    assert first_failure(Highs(), trickle) == ""
    leaking = Bent(lambda a: replace(a, objective=a.objective * 9.999997 / 7.0))
    assert "trickle" in first_failure(leaking, trickle)


def test_failing_names_the_version_and_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "_failure", lambda *_: "the model of the day")
    sentence = r"version \d+\.\d+\.\d+ failed the model of the day; .* constraints.txt"
    with pytest.raises(SolverError, match=sentence):
        ensure_sound(Highs())


@pytest.mark.parametrize(
    ("module", "name", "remedy"),
    [
        ("highspy", "highs", "pip install highspy"),
        ("pyscipopt", "scip", r"nnbo_mip\[scip\]"),
        ("gurobipy", "gurobi", r"nnbo_mip\[gurobi\]"),
        ("pulp.apis.coin_api", "cbc", "pip install pulp"),
        ("pyomo.environ", "pyomo:highs", "pip install pyomo"),
    ],
)
def test_a_missing_solver_names_what_to_install(
    module: str, name: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=remedy):
        get_backend(name).version()


def test_names() -> None:
    assert get_backend("pyomo:gurobi").name == "pyomo:gurobi"
    assert {"highs", "cbc", "scip", "gurobi", "pyomo"} <= set(available())
    for unknown in ("HiGHS", "pyomo", "pyomo:", "abacus", "", None):
        with pytest.raises(InputError, match="cbc, gurobi, highs, pyomo:<name>, scip; got"):
            get_backend(unknown)


def test_a_solver_unknown_to_pyomo_is_refused_with_known_ones() -> None:
    with pytest.raises(InputError, match=r"highs.*'abacus'"):
        get_backend("pyomo:abacus").version()
