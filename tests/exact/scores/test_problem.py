"""The problem of a head: values, gaps of logarithms, what a monitor keeps."""

import math

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError
from nnbo_mip.core.terms import Measure
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import Proof
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.probability import LogProbability, ProbabilityOfImprovement
from nnbo_mip.scores.logarithms import LEAST_LOG
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import MembersPosterior, PlainPosterior
from nnbo_mip.space.domain import Domain

BOX = Domain([-1.0], [1.0])


def line(names=("mean", "std")):
    """Outputs x and 1 + x / 2."""
    return Network.from_layers([([[1.0], [0.5]], [0.0, 1.0])], names)


def test_values_are_those_of_the_logarithm_and_translate_back():
    problem = HeadProblem(Objective(PlainPosterior(line()), ExpectedImprovement(0.5)), BOX)
    assert problem.measure is Measure.LOGARITHM
    scores = ExpectedImprovement(0.5).score([-1.0, 0.5], [0.5, 1.25])
    assert np.allclose(problem.values([[-1.0], [0.5]]), np.log(scores), rtol=1e-13)
    assert problem.score([0.5]) == scores[1]
    assert problem.score_above(problem.value([0.5])) >= scores[1]
    assert problem.score_above(800.0) == math.inf


def test_other_heads_are_searched_themselves():
    problem = HeadProblem(Objective(PlainPosterior(line()), LinearHead(1.0, 2.0)), BOX)
    assert problem.measure is Measure.NATURAL
    assert problem.value([0.5]) == 3.0
    assert problem.score_above(3.5) == 3.5
    posterior = MembersPosterior(line(("mean", "member0")))
    members = HeadProblem(Objective(posterior, EmpiricalImprovement(0.5)), BOX)
    assert members.value([1.0]) == 1.0


def test_hopeless_points_have_a_finite_value():
    sure = Network.from_layers([([[1.0], [0.0]], [0.0, 0.0])], ("mean", "std"))
    for head in (ExpectedImprovement(5.0), ProbabilityOfImprovement(5.0)):
        problem = HeadProblem(Objective(PlainPosterior(sure), head), BOX)
        monitor = Monitor(problem, 1e-4)
        monitor.offer(np.array([[0.5]]))
        assert monitor.best_value == LEAST_LOG
        assert monitor.result(Proof("test"), LEAST_LOG, "rigorous", counters={}).status == "optimal"


def test_gaps_of_logarithms_are_their_differences():
    assert Measure.NATURAL.closes(-50.0, -49.999, 1e-4) is True
    assert Measure.LOGARITHM.closes(-50.0, -49.999, 1e-4) is False
    assert Measure.LOGARITHM.cutoff(-50.0, 1e-4) <= -50.0 + 1e-4
    for value in (-50.0, 0.0, 3.0):
        assert Measure.LOGARITHM.closes(value, Measure.LOGARITHM.cutoff(value, 1e-4), 1e-4)
        assert Measure.LOGARITHM.cutoff(value, 0.0) == value


def test_log_probability_is_the_logarithm_of_the_probability():
    mean, std = np.array([-3.0, 0.0, 2.0, -9.5]), np.array([0.5, 1.0, 2.0, 1.0])
    head, plain = LogProbability(0.5), ProbabilityOfImprovement(0.5)
    assert np.allclose(head.score(mean, std), np.log(plain.score(mean, std)), rtol=1e-12)
    step = 1e-6
    by_mean = (head.score(mean + step, std) - head.score(mean - step, std)) / (2 * step)
    assert np.allclose(head.gradient(mean, std)[0], by_mean, rtol=1e-6)
    by_std = (head.score(mean, std + step) - head.score(mean, std - step)) / (2 * step)
    assert np.allclose(head.gradient(mean, std)[1], by_std, rtol=1e-6, atol=1e-8)
    assert np.isfinite(head.gradient(-1e9, [0.0, 1e-9])).all()
    assert head.ratio_at_level(math.log(0.975)) == pytest.approx(1.959963984540054, rel=1e-12)


def test_a_space_of_another_dimension_is_refused():
    with pytest.raises(InputError, match="reads 1 inputs"):
        HeadProblem(Objective(PlainPosterior(line()), LinearHead()), Domain([0.0, 0.0], [1.0, 1.0]))


def test_gaps_of_small_scores_are_shares_of_them():
    assert Measure.SCORE.closes(1e-2, 1.00009e-2, 1e-4)
    assert not Measure.SCORE.closes(1e-2, 1.00011e-2, 1e-4)
    assert not Measure.SCORE.closes(0.0, 1.1e-8, 1e-4)
    assert Measure.SCORE.closes(0.0, 0.9e-8, 1e-4)
    for value in (0.0, 1e-6, 0.3, 40.0):
        assert Measure.SCORE.closes(value, Measure.SCORE.cutoff(value, 1e-4), 1e-4)
    posterior = MembersPosterior(line(("mean", "member0")))
    members = HeadProblem(Objective(posterior, EmpiricalImprovement(0.5)), BOX)
    assert members.measure is Measure.SCORE
