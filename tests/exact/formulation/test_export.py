"""Model files that other programs read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.exact.backends import SolveRequest, get_backend
from nnbo_mip.exact.bounds.interval import interval_bounds
from nnbo_mip.exact.formulation import MilpModel, encode
from nnbo_mip.exact.formulation.export import export
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.testing.exact_maximum import exact_maximum
from tests.exact.random_problems import mixed_domain, random_network


def mixed_problem() -> Problem:
    rng = np.random.default_rng(21)
    return Problem(random_network(rng, 6, (5, 4), skips=True), mixed_domain(rng))


def mixed_model(formulation: str = "bigm") -> MilpModel:
    problem = mixed_problem()
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    return encode(problem, bounds, formulation).model


@pytest.mark.parametrize(("ending", "sign"), [(".lp", 1.0), (".mps", -1.0)])
def test_highs_reads_the_same_model(tmp_path: Path, ending: str, sign: float) -> None:
    import highspy

    model, path = mixed_model(), tmp_path / f"model{ending}"
    export(model, path)
    highs = highspy.Highs()
    highs.silent()
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    lp = highs.getLp()
    order = [list(lp.col_names_).index(name) for name in model.column_names]
    # Every number is read back bit for bit.
    np.testing.assert_array_equal(np.array(lp.col_cost_)[order], sign * model.objective)
    np.testing.assert_array_equal(np.array(lp.col_lower_)[order], model.column_lower)
    np.testing.assert_array_equal(np.array(lp.col_upper_)[order], model.column_upper)
    whole = [kind == highspy.HighsVarType.kInteger for kind in lp.integrality_]
    np.testing.assert_array_equal(np.array(whole)[order], model.integer)
    assert lp.offset_ == sign * model.offset
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.run()
    problem = mixed_problem()
    exact = float(exact_maximum(problem.network, problem.domain).value)
    assert sign * highs.getInfo().objective_function_value == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize("ending", [".lp", ".mps"])
def test_cbc_reads_the_same_model(tmp_path: Path, ending: str) -> None:
    from pulp.apis.coin_api import pulp_cbc_path

    path, solution = tmp_path / f"model{ending}", tmp_path / "solution.txt"
    export(mixed_model(), path)
    command = [pulp_cbc_path, str(path), "-solve", "-solution", str(solution)]
    log = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "errors on input" not in log
    problem = mixed_problem()
    exact = float(exact_maximum(problem.network, problem.domain).value)
    word, _, _, _, value = solution.read_text().splitlines()[0].split()
    assert word == "Optimal"
    sign = 1.0 if ending == ".lp" else -1.0
    assert sign * float(value) == pytest.approx(exact, abs=1e-4)


def test_scip_reads_special_ordered_sets_from_an_lp_file(tmp_path: Path) -> None:
    pyscipopt = pytest.importorskip("pyscipopt", reason="the extra 'scip' is not installed")
    path = tmp_path / "model.lp"
    export(mixed_model("sos1"), path)
    scip = pyscipopt.Model()
    scip.hideOutput()
    scip.readProblem(str(path))
    scip.optimize()
    problem = mixed_problem()
    exact = float(exact_maximum(problem.network, problem.domain).value)
    assert scip.getObjVal() == pytest.approx(exact, abs=1e-5)


def test_special_ordered_sets_are_not_written_to_mps(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"write an \.lp file"):
        export(mixed_model("sos1"), tmp_path / "model.mps")


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'model\.txt'"):
        export(mixed_model(), tmp_path / "model.txt")


def test_a_floor_keeps_what_reaches_it_and_nothing_else() -> None:
    model = mixed_model()
    problem = mixed_problem()
    exact = float(exact_maximum(problem.network, problem.domain).value)
    highs = get_backend("highs")
    below = highs.solve(model.with_floor(exact - 0.1), SolveRequest())
    above = highs.solve(model.with_floor(exact + 0.1), SolveRequest())
    assert below.objective == pytest.approx(exact, abs=1e-5)
    assert above.status == "infeasible"
