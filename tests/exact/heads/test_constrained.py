"""Improvement under constraints on outcomes: the score, its bounds over boxes, and their check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

import nnbo_mip as nm
from nnbo_mip.acquisitions.base.constrained import constrained_scorer
from nnbo_mip.core.errors import InputError, NnboError, UnsupportedError
from nnbo_mip.exact.checking.heads.choice import score_bounder
from nnbo_mip.exact.heads.boxes import Boxed
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.scores.functions.constrained import ConstrainedImprovement
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.joint import JointPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.heads.curved_cases import KERNELS, random_process

SMOOTH = [kernel for kernel in KERNELS if kernel != ("matern", 0.5)]


def _problem(seed: int, kernel: Any = ("rbf", 2.5), feasible: bool = True) -> HeadProblem:
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    parts = tuple(
        random_process(rng, d, int(rng.integers(2, 9)), kernel) for _ in range(k + feasible)
    )
    thresholds = (float(parts[0].mean(parts[0].points).max()),) if feasible else ()
    limits = tuple(float(rng.normal(scale=0.3)) for _ in range(k))
    low = parts[0].x_center - parts[0].x_scale
    domain = Domain(low, low + 2.0 * parts[0].x_scale)
    return HeadProblem(
        Objective(JointPosterior(parts), ConstrainedImprovement(limits, thresholds)), domain
    )


def _inside(lower: Any, upper: Any, rng: np.random.Generator, n: int = 40) -> Any:
    share = rng.random((n, len(lower)))
    share[0], share[1] = 0.0, 1.0
    return lower + (upper - lower) * share


# -- the score ---------------------------------------------------------------------------


def test_the_score_is_ei_times_the_chance_of_feasibility() -> None:
    problem = _problem(1)
    points = _inside(problem.domain.lower, problem.domain.upper, np.random.default_rng(0))
    head, parts = problem.head, problem.posterior.parts
    expected = ExpectedImprovement(head.thresholds[0]).score(*parts[0].moments(points))
    for part, limit in zip(parts[1:], head.limits, strict=True):
        mean, std = part.moments(points)
        expected = expected * norm.cdf((limit - mean) / std)
    np.testing.assert_allclose(problem.objective.score(points), expected, rtol=1e-10, atol=1e-300)
    seen = expected > 1e-280
    assert seen.sum() > 10
    logs = np.log(expected[seen])
    np.testing.assert_allclose(problem.values(points)[seen], logs, rtol=1e-10, atol=1e-10)


def test_before_a_feasible_value_the_score_is_the_chance_alone() -> None:
    problem = _problem(2, feasible=False)
    points = _inside(problem.domain.lower, problem.domain.upper, np.random.default_rng(0))
    expected = np.ones(len(points))
    for part, limit in zip(problem.posterior.parts, problem.head.limits, strict=True):
        mean, std = part.moments(points)
        expected = expected * ndtr((limit - mean) / std)
    np.testing.assert_allclose(problem.objective.score(points), expected, rtol=1e-10, atol=1e-300)
    assert problem.head.largest_score == 1.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("log", [False, True])
def test_gradients_are_difference_quotients(seed: int, log: bool) -> None:
    problem = _problem(seed, feasible=bool(seed % 2))
    objective = problem.sought if log else problem.objective
    rng = np.random.default_rng(seed)
    points = _inside(problem.domain.lower, problem.domain.upper, rng, 6)[2:]
    gradient = objective.gradient(points)
    for j in range(points.shape[1]):
        step = np.zeros(points.shape[1])
        step[j] = 1e-6
        quotient = (objective.score(points + step) - objective.score(points - step)) / 2e-6
        np.testing.assert_allclose(gradient[:, j], quotient, rtol=2e-3, atol=1e-6)


# -- bounds over boxes -------------------------------------------------------------------


@pytest.mark.parametrize("kernel", SMOOTH, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_no_point_of_a_box_beats_its_plane_or_its_bound(seed: int, kernel: Any) -> None:
    problem = _problem(seed, kernel, feasible=bool(seed % 3))
    relaxer = Boxed(problem).relaxer
    rng = np.random.default_rng(seed)
    wide = problem.domain.upper - problem.domain.lower
    for half in (0.5, 0.1, 0.01, 1e-4, 1e-7):
        center = _inside(problem.domain.lower, problem.domain.upper, rng, 12)
        lower = np.maximum(center - half * wide, problem.domain.lower).T
        upper = np.minimum(center + half * wide, problem.domain.upper).T
        level = float(np.median(problem.values(center)))
        bounds = relaxer.bound(lower, upper, level, 0)
        for box in range(len(center)):
            points = _inside(lower[:, box], upper[:, box], rng)
            values = problem.values(points)
            assert (values <= bounds.scores[box]).all()
            excess = points @ bounds.slopes[:, box] + bounds.constant[box]
            assert (values[excess <= 0.0] <= level).all()
            assert (excess <= bounds.bound[box] + 1e-9 * np.abs(excess)).all()


def test_planes_know_that_improvement_and_feasibility_cancel() -> None:
    # f = x rises as c = x must stay below 0: near the best point the slopes of both cancel.
    X = np.linspace(-1.0, 1.0, 6)[:, None]
    rises = nm.surrogates.create("gp:kernel=rbf,alpha=0.01").fit(X, X[:, 0])
    parts = (rises.posterior(False), rises.posterior(False))
    objective = Objective(JointPosterior(parts), ConstrainedImprovement((0.0,), (-0.5,)))
    problem = HeadProblem(objective, Domain([-1.0], [1.0]))
    grid = np.linspace(-1.0, 1.0, 20001)[:, None]
    best = grid[problem.values(grid).argmax()]
    gaps = []
    for half in (4e-3, 2e-3):
        bounds = Boxed(problem).relaxer.bound(
            best[:, None] - half, best[:, None] + half, float(problem.values(grid).max()), 0
        )
        gaps.append(float(bounds.scores[0] - problem.values(grid).max()))
    assert gaps[1] < 0.4 * gaps[0]  # of second order


# -- maxima, and their certificates ------------------------------------------------------


def _beliefs(d: int, k: int, seed: int, family: str) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (5 * d + 3, d))
    y = -np.square(X - 0.3).sum(axis=1)
    outcomes = np.stack([X @ rng.normal(size=d) + 0.3 * np.cos(3.0 * X[:, 0]) for _ in range(k)], 1)
    made = [nm.surrogates.create(family).fit(X, values) for values in (y, *outcomes.T)]
    return X, y, outcomes, made[0], made[1:]


@pytest.mark.parametrize("family", ["gp:alpha=1e-6", "brvfl:n_hidden=20"])
@pytest.mark.parametrize("acquisition", ["ei", "logei"])
def test_the_maximum_is_proven(family: str, acquisition: str) -> None:
    X, y, outcomes, belief, constraints = _beliefs(2, 2, 3, family)
    domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
    known = {"X": X, "y": y, "constraints": constraints, "outcomes": outcomes}
    proposal = nm.maximize(belief, acquisition, domain, **known)
    assert proposal.status == "optimal"
    searched = nm.maximize(belief, acquisition, domain, maximizer="lbfgs", **known)
    assert searched.value <= proposal.bound
    check = proposal.check()
    assert check.verdict == ("confirmed" if "gp" in family else "undecided")


def test_without_a_feasible_value_feasibility_is_sought() -> None:
    X, y, outcomes, belief, constraints = _beliefs(2, 1, 4, "gp:alpha=1e-6")
    domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
    proposal = nm.maximize(
        *(belief, "ei", domain), X=X, y=y, constraints=constraints, outcomes=np.abs(outcomes) + 0.1
    )
    assert proposal.status == "optimal"
    assert proposal.value <= 1.0
    assert "feasibility" in proposal.head


@pytest.mark.parametrize("seed", range(4))
def test_a_bound_that_is_too_low_is_refuted(seed: int) -> None:
    problem = _problem(seed, SMOOTH[seed], feasible=bool(seed % 2))
    bounder = score_bounder(problem.objective, problem.domain)
    assert bounder is not None
    points = _inside(problem.domain.lower, problem.domain.upper, np.random.default_rng(1), 200)
    low, high = bounder.interval(points)
    scores = problem.objective.score(points)
    assert ((low <= scores) & (scores <= high)).all()
    level = float(scores.max())
    bounded = bounder.bound_outputs(problem.domain.lower[:, None], problem.domain.upper[:, None])
    assert bounder.excess(bounded, 0.5 * level).max() > 0.0
    at = points[scores.argmax()][:, None]
    assert bounder.excess(bounder.bound_outputs(at, at), 0.99 * level).max() > 0.0


def test_the_check_knows_a_claim_that_is_too_strong() -> None:
    X, y, outcomes, belief, constraints = _beliefs(2, 1, 5, "gp:alpha=1e-6")
    domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
    proposal = nm.maximize(
        belief, "ei", domain, X=X, y=y, constraints=constraints, outcomes=outcomes
    )
    acquisition = nm.acquisitions.create("ei")
    objective = constrained_scorer(
        acquisition, belief, constraints, X, y, outcomes, None, 0
    ).objective()
    assert proposal.certificate.check(objective, domain).confirmed
    lowered = replace(proposal.certificate, value=0.9 * proposal.value, bound=0.95 * proposal.value)
    assert not lowered.check(objective, domain).confirmed
    other = Objective(
        objective.posterior, ConstrainedImprovement((0.1,), objective.head.thresholds)
    )
    assert not proposal.certificate.check(other, domain).confirmed


def test_an_objective_with_constraints_is_saved_and_loaded(tmp_path: Any) -> None:
    problem = _problem(7)
    problem.objective.save(tmp_path / "objective.npz")
    loaded = Objective.load(tmp_path / "objective.npz")
    assert loaded.fingerprint == problem.objective.fingerprint
    points = _inside(problem.domain.lower, problem.domain.upper, np.random.default_rng(0))
    np.testing.assert_array_equal(loaded.score(points), problem.objective.score(points))


def test_an_objective_that_reads_networks_is_not_saved(tmp_path: Any) -> None:
    X, y, outcomes, belief, constraints = _beliefs(1, 1, 4, "brvfl:n_hidden=5")
    acquisition = nm.acquisitions.create("ei")
    scorer = constrained_scorer(acquisition, belief, constraints, X, y, outcomes, None, 0)
    with pytest.raises(UnsupportedError, match="learn the constraints with Gaussian processes"):
        scorer.objective().save(tmp_path / "objective.npz")
    twin = nm.surrogates.create("brvfl:n_hidden=5").fit(X, 2.0 * outcomes[:, 0])
    other = constrained_scorer(acquisition, belief, [twin], X, y, outcomes, None, 0)
    assert other.objective().fingerprint != scorer.objective().fingerprint


WRONG: dict[str, tuple[dict[str, Any], type[NnboError], str]] = {
    "no outcomes": ({"outcomes": None}, InputError, "outcomes must be"),
    "too few rows": ({"outcomes": np.zeros((3, 1))}, InputError, "one row an observation"),
    "an outcome that is no number": (
        {"outcomes": np.full((8, 1), np.nan)},
        InputError,
        "with NaN or infinity",
    ),
    "no points": ({"X": None}, InputError, "constraints need X and y"),
    "another acquisition": ({"acquisition": "ucb"}, UnsupportedError, "take ei or logei"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_go_together_is_refused(name: str) -> None:
    given, error, message = WRONG[name]
    X, y, outcomes, belief, constraints = _beliefs(1, 1, 6, "gp")
    known: dict[str, Any] = {"X": X, "y": y, "constraints": constraints, "outcomes": outcomes - 5.0}
    known |= given
    acquisition = known.pop("acquisition", "ei")
    with pytest.raises(error, match=message):
        nm.maximize(belief, acquisition, nm.Space.box([-1.0], [1.0]).model(), **known)


def test_a_belief_of_other_inputs_is_refused() -> None:
    X, y, outcomes, belief, _ = _beliefs(1, 1, 6, "gp")
    other = nm.surrogates.create("gp").fit([[0.0, 0.0], [1.0, 1.0]], [0.0, 1.0])
    with pytest.raises(InputError, match="must read 1 inputs"):
        nm.maximize(
            *(belief, "ei", nm.Space.box([-1.0], [1.0]).model()),
            X=X,
            y=y,
            constraints=[other],
            outcomes=outcomes,
        )


def test_logarithms_stay_numbers_where_the_score_underflows() -> None:
    part = random_process(np.random.default_rng(0), 1, 1)
    mean, std = part.moments(part.points)
    limit = float(mean[0] - 60.0 * std[0])  # sixty standard deviations below
    objective = Objective(JointPosterior((part,)), ConstrainedImprovement((limit,), (), log=True))
    u = (limit - mean[0]) / std[0]
    assert np.exp(norm.logcdf(u)) == 0.0
    assert objective.score(part.points)[0] == pytest.approx(norm.logcdf(u), rel=1e-10)
