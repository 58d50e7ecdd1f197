"""The share of members that reach a threshold: k / M is seldom a float; bounds lie above."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from nnbo_mip.exact.checking.heads.choice import score_bounder
from nnbo_mip.exact.checking.heads.scores import share_ends
from nnbo_mip.exact.heads.boxes import Boxed
from nnbo_mip.exact.heads.certification import certificate_of
from nnbo_mip.exact.heads.maximize_head import Ways, maximize_head
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.trees.cells import TreeCells
from nnbo_mip.exact.trees.scores import tree_scores
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.tree_arrays import LEAF
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import MembersPosterior
from nnbo_mip.scores.posteriors.tanh import TanhMembers
from nnbo_mip.scores.posteriors.trees import TreePosterior
from nnbo_mip.space.domain import Domain

LARGEST = 50
BOX = Domain([-1.0], [1.0])
HEAD = EmpiricalImprovement(0.5, "pi")
KINDS = ("members", "tanh", "trees")
DOWN = [
    (k, count)
    for count in range(1, LARGEST + 1)
    for k in range(count + 1)
    if Fraction(k / count) < Fraction(k, count)
]
"""Where the float64 quotient, which is the score itself, is below the share."""


def posterior_of(kind, k, count):
    """Return members of which k are 1 and the others 0, everywhere."""
    values = (np.arange(count) < k).astype(np.float64)
    if kind == "trees":
        leaves = np.zeros((count, 6))
        leaves[:, [0, 2, 3]] = LEAF
        leaves[:, 4] = values
        return TreePosterior(leaves, np.arange(float(count)), 1.0, "between")
    if kind == "tanh":
        outer, direct = np.zeros((2, count + 1, 1))
        offset = np.append(0.0, values)
        return TanhMembers(np.ones((1, 1)), np.zeros(1), outer, direct, offset)
    names = ("mean", *(f"member{m}" for m in range(count)))
    layers = [([[1.0]], [0.0]), (np.zeros((count + 1, 1)), np.append(0.0, values))]
    return MembersPosterior(Network.from_layers(layers, names))


def box_bound(problem, level):
    """Return the bound over the whole box."""
    if isinstance(problem.posterior, TreePosterior):
        cells = TreeCells(problem.posterior.trees, problem.domain)
        return float(tree_scores(problem, cells).bound(*cells.root(), level).bound[0])
    planes = Boxed(problem).relaxer.bound(BOX.lower[:, None], BOX.upper[:, None], level, 0)
    return float(planes.values_below(planes.bound, level)[0])


def solved(problem, method, gap):
    monitor = Monitor(problem, gap, 20.0)
    return maximize_head(Ways(problem), SequenceOptions(method, most_problems=4), monitor)


def test_there_are_quotients_that_are_rounded_down():
    assert (2, 3) in DOWN
    assert len(DOWN) > 300


@pytest.mark.parametrize("kind", KINDS)
def test_a_box_is_never_bounded_below_its_share(kind):
    every = [(k, count) for count in range(1, LARGEST + 1) for k in range(count + 1)]
    for k, count in every if kind == "trees" else DOWN[::9]:
        problem = HeadProblem(Objective(posterior_of(kind, k, count), HEAD), BOX)
        # A level may be the very quotient that lies below the share.
        for level in (-np.inf, 0.0, k / count, math.nextafter(k / count, 2.0)):
            bound = box_bound(problem, level)
            assert Fraction(bound) >= Fraction(k, count), (k, count, level)
            assert bound <= max(math.nextafter(k / count, 2.0), level)


@pytest.mark.parametrize(
    ("kind", "method", "gap"),
    [(kind, method, gap) for kind in KINDS for method in ("auto", "bab") for gap in (1e-4, 0.0)]
    + [("members", "mip", 1e-4), ("members", "enumerate", 1e-4)],
)
def test_an_answer_is_at_least_the_share_and_optimal(kind, method, gap):
    for k, count in DOWN[:: 4 if kind == "trees" else 60]:
        result = solved(
            HeadProblem(Objective(posterior_of(kind, k, count), HEAD), BOX), method, gap
        )
        assert result.value == k / count
        assert Fraction(result.bound) >= Fraction(k, count), (k, count)
        assert result.bound <= math.nextafter(k / count, 2.0)
        assert result.status == "optimal"


def test_a_program_of_trees_bounds_the_share():
    for k, count in DOWN[::40]:
        result = solved(
            HeadProblem(Objective(posterior_of("trees", k, count), HEAD), BOX), "mip", 1e-4
        )
        assert Fraction(result.bound) >= Fraction(k, count)
        assert result.status == "optimal"


@pytest.mark.parametrize("kind", ["members", "trees"])
def test_a_check_confirms_the_bound_and_not_the_quotient(kind):
    for k, count in DOWN[::70]:
        problem = HeadProblem(Objective(posterior_of(kind, k, count), HEAD), BOX)
        result = solved(problem, "bab", 1e-4)
        honest = certificate_of(problem, result, requested_gap=1e-4, seed=0, seconds=0.0)
        assert honest.check(problem.objective, BOX).confirmed, (k, count)
        lowered = replace(honest, bound=k / count, gap=0.0, digest="")
        assert not lowered.check(problem.objective, BOX).confirmed, (k, count)


@pytest.mark.parametrize("kind", ["members", "trees"])
def test_the_scores_that_a_check_computes_enclose_the_share(kind):
    for count in range(1, LARGEST + 1):
        low, high = share_ends(count)
        for k in range(count + 1):
            share = Fraction(k, count)
            assert Fraction(low[k]) <= share <= Fraction(high[k])
            assert high[k] <= math.nextafter(low[k], 2.0)
        k = count // 3
        problem = HeadProblem(Objective(posterior_of(kind, k, count), HEAD), BOX)
        bounder = score_bounder(problem.objective, BOX)
        ends = bounder.interval(np.zeros((1, 1)))
        assert Fraction(float(ends[0][0])) <= Fraction(k, count) <= Fraction(float(ends[1][0]))
