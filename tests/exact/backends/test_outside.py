"""A solver that another package brings: no file of this one is touched for it."""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import nnbo_mip as nm
from nnbo_mip.cli.app import app
from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.exact import backends
from nnbo_mip.exact.backends import Backend, Hooks, SolverAnswer, SolveRequest, get_backend
from nnbo_mip.exact.backends.catalogue import second_opinions
from nnbo_mip.exact.backends.highs import Highs
from nnbo_mip.exact.formulation import MilpModel
from nnbo_mip.exact.formulation.tolerance import Tolerances
from nnbo_mip.exact.mip import mip
from nnbo_mip.exact.mip.mip import MipOptions
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.testing import backend_contract
from nnbo_mip.testing.backend_contract import DOMAINS, ProverContract, network
from tests.exact.backends.enumerator import Enumerator
from tests.exact.random_problems import random_problem

NETWORK, DOMAIN = network(1.0), DOMAINS["a row"]


class TestEnumerator(ProverContract):
    def make(self) -> Backend:
        return Enumerator()


class Bent(Enumerator):
    """Its bounds are too low by less than anybody would see in an answer."""

    name = "bent"

    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        answer = super()._solve(model, request)
        return replace(answer, bound=answer.bound - 2e-6, objective=answer.objective - 2e-6)


class Wrong(Enumerator):
    """A prover that calls what it finds first the optimum."""

    name = "wrong"

    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        return replace(super()._solve(model, request), objective=0.0, bound=0.0)


@pytest.fixture
def known() -> Iterator[None]:
    """Register the backends of this module, as a user's script does."""
    kinds = (Enumerator, Bent, Wrong)
    for kind in kinds:
        backends.register(kind.name)(kind)
    yield
    for kind in kinds:
        backends.unregister(kind.name)


def certified(solver: str) -> nm.CertifyResult:
    return nm.certify(NETWORK, DOMAIN, method="mip", solver=solver)


@pytest.mark.usefixtures("known")
def test_it_certifies_under_its_name_and_is_checked() -> None:
    result, ours = certified("enumerator"), certified("highs")
    assert result.status == "optimal"
    assert result.value == pytest.approx(ours.value, abs=1e-4)
    assert (result.certificate.engine, result.certificate.solver) == ("mip", "enumerator")
    assert result.certificate.solver_version == Enumerator().version()
    assert result.certificate.check(NETWORK).confirmed
    nm.maximizers.create("mip:solver=enumerator")


@pytest.mark.usefixtures("known")
def test_it_is_gated_by_the_start_up_test() -> None:
    result = certified("wrong")
    assert "solver 'wrong' must solve its self-test" in result.message
    assert "; mend the backend, or use another solver." in result.message
    assert result.certificate.solver is None
    assert result.certificate.kind == "rigorous"  # of the relaxation that took over


def test_the_contract_sees_a_bound_that_leaves_tolerances_out() -> None:
    with pytest.raises(AssertionError):
        contract_of(Bent).test_with_its_tolerances_added_its_bound_holds(1.0, "a box", True)


class Boundless(Enumerator):
    """A prover that gives no bound."""

    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        return replace(super()._solve(model, request), bound=math.inf)


class Deaf(Enumerator):
    """Goes on until its time is over, whatever it is told."""

    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        return super()._solve(model, replace(request, hooks=Hooks()))


class Loose(Enumerator):
    """A prover with the tolerances of a claimant."""

    tolerances = Tolerances(1e-6, 1e-6, 1e-6)


def contract_of(kind: type[Backend]) -> ProverContract:
    class Contract(ProverContract):
        def make(self) -> Backend:
            return kind()

    return Contract()


def test_the_contract_says_what_a_prover_without_bounds_or_tolerances_lacks() -> None:
    with pytest.raises(AssertionError, match="must answer with its bound; got inf; pass bound="):
        contract_of(Boundless).test_with_its_tolerances_added_its_bound_holds(1.0, "a box", True)
    with pytest.raises(AssertionError, match="below 1e-08; got 1e-06; tighten it, or leave out"):
        contract_of(Loose).test_it_is_a_prover_within_the_margin_of_the_programs()


def test_the_contract_says_how_to_stop_what_cannot_be_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backend_contract, "PATIENCE", 0.6)
    monkeypatch.setattr(backend_contract, "TOO_LONG", 1.2)
    with pytest.raises(AssertionError, match=r"within 0.6 s once hooks.should_stop.* own, or for"):
        contract_of(Deaf).test_somebody_else_can_stop_it()


PLUG_IN = """
from tests.exact.backends.enumerator import Enumerator
class Plugged(Enumerator):
    "Somebody's solver."
    name = "plugged"
"""


@pytest.fixture
def plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that offers a backend, and one that is broken."""
    info = tmp_path / "plugged_solver-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged-solver\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[nnbo_mip.backends]\nplugged = plugged_solver:Plugged\nunplugged = no_such_solver:Solver\n"
    )
    (tmp_path / "plugged_solver.py").write_text(PLUG_IN)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield
    sys.modules.pop("plugged_solver", None)


@pytest.mark.usefixtures("plugged")
def test_a_package_offers_it_by_an_entry_point() -> None:
    result = certified("plugged")
    assert (result.status, result.certificate.solver) == ("optimal", "plugged")
    with pytest.raises(InputError, match=r"highs, plugged, pyomo:<name>.*did you mean 'plugged'"):
        certified("pluged")
    with pytest.raises(MissingExtraError, match="no_such_solver"):
        certified("unplugged")


@pytest.mark.usefixtures("plugged")
def test_it_is_listed_with_what_it_can_do() -> None:
    (entries,) = json.loads(CliRunner().invoke(app, ["list", "backends", "--json"]).stdout).values()
    (plugged,) = (entry for entry in entries if entry["name"] == "plugged")
    assert (plugged["role"], plugged["sos1"], plugged["installed"]) == ("prover", "no", "yes")
    (broken,) = (entry for entry in entries if entry["name"] == "unplugged")
    assert "no_such_solver" in broken["summary"]


@pytest.mark.usefixtures("plugged")
def test_it_is_asked_for_a_second_opinion() -> None:
    assert [one.name for one in second_opinions(["scip"])] == ["highs", "plugged"]
    assert [one.name for one in second_opinions(["scip", "highs"])] == ["plugged"]


@pytest.mark.usefixtures("known")
def test_it_takes_over_where_another_solver_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    class Liar(Highs):
        def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
            return SolverAnswer("failed", native_status="no")

    monkeypatch.setattr(
        mip, "get_backend", lambda name: Liar() if name == "highs" else get_backend(name)
    )
    monkeypatch.setattr(mip, "ensure_sound", lambda backend: None)
    others = ("scip", Bent.name, Wrong.name)
    monkeypatch.setattr(mip, "second_opinions", lambda names: second_opinions([*names, *others]))
    problem = random_problem(1, 2, (5, 4))
    result = mip.solve(problem, MipOptions(), Monitor(problem, 1e-4))
    assert (result.status, result.engine) == ("optimal", "mip:enumerator")


@pytest.mark.parametrize(
    ("attributes", "sentence"),
    [
        ({"name": "other"}, "registered under its own name; got 'other' as 'mine'"),
        ({"tolerances": Tolerances(1e-6, 1e-6, 1e-6)}, "feasibility tolerance below 1e-08"),
    ],
)
def test_what_would_void_its_proofs_is_refused(
    attributes: dict[str, object], sentence: str
) -> None:
    backends.register("mine")(type("Mine", (Enumerator,), {"name": "mine", **attributes}))
    try:
        with pytest.raises(InputError, match=sentence):
            certified("mine")
        assert "mine" not in [one.name for one in second_opinions([])]
    finally:
        backends.unregister("mine")
