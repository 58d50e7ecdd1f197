"""Sums over trees as integer programs, against boxes and against all cells."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.heads import tree_sums
from nnbo_mip.exact.heads.maximize_head import Ways, maximize_head
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.trees.cells import TreeCells
from nnbo_mip.exact.trees.program import tree_program
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.trees import TreePosterior
from tests.exact.backends.extras import GUROBI, SCIP
from tests.exact.trees.forests import best_score, random_forest, representatives
from tests.exact.trees.test_search import KINDS, domain_of

SUMS = (
    LinearHead(1.0, 0.0, 0.5),
    LinearHead(2.5, 0.0),
    EmpiricalImprovement(0.1, "ei"),
    EmpiricalImprovement(0.5, "pi"),
)
GAP = 1e-4


def forest_of(kind: str, seed: int) -> tuple[TreePosterior, HeadProblem]:
    rng = np.random.default_rng([seed, 5, KINDS.index(kind)])
    domain = domain_of(kind, rng)
    drawn = random_forest(domain, rng)
    posterior = TreePosterior(drawn.nodes, drawn.roots, drawn.dimension)
    return posterior, HeadProblem(Objective(posterior, SUMS[0]), domain)


@pytest.mark.parametrize("kind", KINDS)
def test_programs_find_the_maximum_of_all_cells(kind: str) -> None:
    posterior, problem = forest_of(kind, 0)
    for head in SUMS:
        asked = HeadProblem(Objective(posterior, head), problem.domain)
        best, monitor = best_score(asked), Monitor(asked, GAP, 30.0)
        result = maximize_head(Ways(asked), SequenceOptions("mip"), monitor)
        assert result.kind in ("solver", "rigorous")
        assert result.bound >= best
        assert result.value >= best - GAP * max(1.0, abs(best))
        if kind != "rows":
            assert result.value == pytest.approx(best, abs=1e-9)
            assert result.bound <= best + GAP * max(1.0, abs(best))


@pytest.mark.parametrize("kind", KINDS)
def test_every_admissible_point_is_a_solution_worth_its_score(kind: str) -> None:
    posterior, problem = forest_of(kind, 1)
    cells = TreeCells(posterior.trees, problem.domain)
    program = tree_program(cells, posterior.trees.value)
    points = representatives(posterior, problem.domain)
    chosen = np.random.default_rng(0).permutation(len(points))[:60]
    for point in points[chosen]:
        columns = program.complete(point)
        assert program.model.violation(columns) <= 1e-9
        value = float(posterior.mean(point[None, :])[0])
        assert program.model.value(columns) == pytest.approx(value, abs=1e-12)
        a, b = program.box_of(columns)
        assert (a <= cells.cells_of(point[None, :])).all()
        assert (cells.cells_of(point[None, :]) <= b).all()


@pytest.mark.parametrize("solver", ["cbc", SCIP, GUROBI])
def test_other_solvers_answer_alike(solver: str) -> None:
    _, problem = forest_of("integers", 2)
    monitor = Monitor(problem, GAP, 30.0)
    options = SequenceOptions("mip", solver=solver)
    result = maximize_head(Ways(problem), options, monitor)
    assert result.status == "optimal"
    assert result.value == pytest.approx(best_score(problem), abs=1e-9)
    # A claimant proves nothing.
    assert f"mip:{'highs' if solver == 'cbc' else solver}" in result.engine


def test_an_empty_space_is_infeasible() -> None:
    posterior, problem = forest_of("box", 0)
    d = problem.dimension
    domain = problem.domain.away_from(np.zeros((1, d)), 9.0)
    asked = HeadProblem(Objective(posterior, SUMS[0]), domain)
    result = tree_sums.solve(asked, SequenceOptions("mip"), Monitor(asked, GAP, 10.0))
    assert result.status == "infeasible"


def test_what_is_no_sum_is_refused_in_a_sentence() -> None:
    posterior, problem = forest_of("box", 0)
    asked = HeadProblem(Objective(posterior, ExpectedImprovement(0.0)), problem.domain)
    with pytest.raises(UnsupportedError, match="sequence of linear problems"):
        maximize_head(Ways(asked), SequenceOptions("mip"), Monitor(asked, GAP))
    with pytest.raises(UnsupportedError, match="not enumerated"):
        maximize_head(Ways(problem), SequenceOptions("enumerate"), Monitor(problem, GAP))
    options = SequenceOptions("mip", formulation="partition")
    with pytest.raises(UnsupportedError, match="one formulation"):
        tree_sums.solve(problem, options, Monitor(problem, GAP))
    wide = TreePosterior(posterior.nodes, posterior.roots, posterior.dimension, reach=2.0)
    moved = HeadProblem(Objective(wide, SUMS[2]), problem.domain)
    assert "scale" in tree_sums.why_not(moved)
