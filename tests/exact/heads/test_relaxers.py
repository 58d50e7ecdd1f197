"""Conditions over boxes against many points in each box; flawed ones are caught."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.bounds.row_relaxation import RowRelaxer
from nnbo_mip.exact.heads.boxes import Boxed
from nnbo_mip.exact.heads.relaxers import moments
from nnbo_mip.exact.heads.relaxers.spreads import LineSpread, QuadraticSpread, spread_relaxer
from nnbo_mip.exact.scores.level_lines import level_lines
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.scores.functions.entropy import MaxValueEntropy
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.scores.functions.probability import LogProbability, ProbabilityOfImprovement
from nnbo_mip.scores.functions.sampled_incumbents import NoisyImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import CompiledPosterior, PlainPosterior
from tests.exact.heads.random_heads import (
    POSTERIORS,
    domain_of,
    head_of,
    heads_on,
    random_network,
    random_posterior,
    threshold_for,
)

CASES = 4
SLACK = 1e-9
"""Relative; float64 scores are not exact, and neither are the samples'."""


def small_boxes(domain, rng, count=12):
    """Boxes of many sizes within a domain: (d, B) ends."""
    size = 10.0 ** rng.uniform(-4.0, 0.0, count)
    width = (domain.upper - domain.lower)[:, None] * size * rng.uniform(0.3, 1.0, (1, count))
    room = (domain.upper - domain.lower)[:, None] - width
    lower = domain.lower[:, None] + room * rng.random((domain.dimension, count))
    return lower, np.minimum(lower + width, domain.upper[:, None])


def samples(lower, upper, rng, count=60):
    """Points of each box, its corners' coordinates among them: (B, n, d)."""
    share = rng.random((lower.shape[1], count, lower.shape[0]))
    share[:, ::3] = np.round(share[:, ::3])
    return lower.T[:, None] + (upper - lower).T[:, None] * share


def violations(problem, relaxer, rng):
    """How often a condition or a bound is false at a sample."""
    lower, upper = small_boxes(problem.domain, rng)
    points = samples(lower, upper, rng)
    batch, count, dimension = points.shape
    values = problem.values(points.reshape(-1, dimension)).reshape(batch, count)
    slack = SLACK * (1.0 + np.abs(values))
    wrong = 0
    for level in (-np.inf, *np.quantile(values, [0.3, 0.8, 0.99])):
        if np.isfinite(level):
            level += 1e-4  # levels are those of a gap, and above 0 where scores are
        planes = relaxer.bound(lower, upper, float(level), 2)
        bounds = planes.values_below(planes.bound, float(level))
        wrong += int((values > bounds[:, None] + slack).sum())
        reach = planes.constant[:, None] + np.einsum("bnd,db->bn", points, planes.slopes)
        above = values > level + slack
        wrong += int((above & (reach <= planes.goal(level))).sum())
        wrong += int((reach > planes.bound[:, None] + SLACK * (1.0 + np.abs(reach))).sum())
    return wrong


@pytest.mark.parametrize("kind", POSTERIORS)
def test_conditions_hold_at_every_sample(kind):
    for seed in range(CASES):
        rng = np.random.default_rng([seed, POSTERIORS.index(kind)])
        dimension = int(rng.integers(1, 4))
        widths = tuple(int(w) for w in rng.integers(2, 8, size=int(rng.integers(1, 3))))
        posterior = random_posterior(kind, rng, dimension, widths)
        domain = domain_of("box", dimension)
        threshold = threshold_for(posterior, domain.sample(200, rng), rng)
        for name in heads_on(posterior):
            problem = HeadProblem(Objective(posterior, head_of(name, threshold)), domain)
            assert violations(problem, Boxed(problem).relaxer, rng) == 0, (seed, name)


def flawed_reach(spread):
    return replace(spread, reach=0.5 * spread.reach) if hasattr(spread, "reach") else spread


def flawed_tangent(spread):
    if not isinstance(spread, LineSpread):
        return spread
    return replace(spread, upper_slope=spread.lower_slope, upper_constant=spread.lower_constant)


def flawed_ends(spread):
    return replace(spread, high=0.5 * (spread.low + spread.high))


FLAWS = [
    ("quadratic", "ucb", flawed_reach),
    ("members", "ei", flawed_reach),
    ("variance", "ucb", flawed_reach),
    ("smooth", "ucb", flawed_tangent),
    ("plain", "ei", flawed_tangent),
    ("members", "aei", flawed_ends),
]


@pytest.mark.parametrize(("kind", "name", "flaw"), FLAWS)
def test_a_std_bounded_too_low_is_caught(kind, name, flaw):
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        posterior = random_posterior(kind, rng, 2, (6,))
        domain = domain_of("box", 2)
        threshold = threshold_for(posterior, domain.sample(200, rng), rng)
        relaxer = Boxed(HeadProblem(Objective(posterior, head_of(name, threshold)), domain)).relaxer
        spreads = relaxer._spreads
        honest = spreads.spread
        spreads.spread = lambda bounded, honest=honest: flaw(honest(bounded))
        found += violations(
            HeadProblem(Objective(posterior, head_of(name, threshold)), domain), relaxer, rng
        )
    assert found > 0


@pytest.mark.parametrize("name", ["ei", "pi", "mes", "aei", "eqi", "ucb"])
def test_a_level_line_too_far_out_is_caught(name, monkeypatch):
    def shifted(*arguments):
        lines = level_lines(*arguments)
        return replace(lines, limit=lines.limit + 0.2)

    monkeypatch.setattr(moments, "level_lines", shifted)
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        posterior = random_posterior("plain", rng, 2, (6,))
        domain = domain_of("box", 2)
        threshold = threshold_for(posterior, domain.sample(200, rng), rng)
        problem = HeadProblem(Objective(posterior, head_of(name, threshold)), domain)
        found += violations(problem, Boxed(problem).relaxer, rng)
    assert found > 0


HEADS = [
    LinearHead(0.7, -2.0, 0.4),
    ExpectedImprovement(0.3),
    ExpectedImprovement(0.3, log=True),
    LogProbability(0.3),
    ProbabilityOfImprovement(0.3),
    MaxValueEntropy(0.3),
    AugmentedEI(0.3, 0.5),
    AugmentedEI(0.3, 0.0),
    NoisyImprovement((0.3, -0.4, 0.9)),
    NoisyImprovement((0.3, -0.4, 0.9), log=True),
    QuantileImprovement(0.3, 0.5),
    QuantileImprovement(0.3, 0.0),
]


@pytest.mark.parametrize("head", HEADS, ids=str)
def test_scores_on_a_level_line_do_not_exceed_the_level(head):
    rng = np.random.default_rng(5)
    for _ in range(60):
        low = float(10.0 ** rng.uniform(-6.0, 1.0)) * float(rng.random() > 0.1)
        high = low + float(10.0 ** rng.uniform(-8.0, 1.0))
        anchor = float(head.score(0.3 + rng.normal(), rng.uniform(low, high)))
        level = anchor + 1e-6 * (1.0 + abs(anchor))
        if not np.isfinite(level):
            continue
        lines = level_lines(head, np.array([low]), np.array([high]), level)
        std = np.append(np.linspace(low, high, 40), [low, high])
        mean = (lines.limit[0] - lines.std_weight[0] * std) / max(lines.mean_weight[0], 1e-300)
        good = np.isfinite(mean)
        scores = head.score(mean[good], std[good])
        assert (scores <= level + 1e-12 * (1.0 + abs(level))).all(), (low, high, level)


@pytest.mark.parametrize("head", HEADS[1:], ids=str)
def test_level_lines_are_tight_to_second_order(head):
    """What a line loses falls with the square of the interval: by about 100 for a tenth of it."""
    middle, level = 0.8, float(head.score(0.1, 0.8))
    exact = float(head.mean_at_level(middle, level))
    lost = []
    for width in (0.4, 0.04, 0.004):
        ends = np.array([middle - width / 2]), np.array([middle + width / 2])
        lines = level_lines(head, *ends, level)
        lost.append(exact - (lines.limit[0] - lines.std_weight[0] * middle))
    assert -1e-13 < lost[2] <= lost[1] / 50.0 + 1e-10
    assert lost[1] <= lost[0] / 50.0 + 1e-10


@pytest.mark.parametrize("kind", POSTERIORS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sums_above_the_std_are_tight_to_second_order(kind, sign):
    rng = np.random.default_rng(3)
    posterior = random_posterior(kind, rng, 2, (7,))
    domain = domain_of("box", 2)
    spreads = spread_relaxer(posterior)
    rows = RowRelaxer(posterior.network, domain.lower, domain.upper, spreads.outputs, "mean")
    index = [posterior.network.output_index(name) for name in spreads.outputs]
    found = 0
    for center in domain.sample(30, rng):
        lost = []
        for size in (1e-2, 1e-3):
            lower, upper = center[:, None] - size, center[:, None] + size
            spread = spreads.spread(rows.bound_outputs(lower, upper))
            weights, constant = spread.above(np.array([sign]))
            points = samples(lower, upper, rng, 100)[0]
            sums = posterior.network.evaluate(points)[:, index] @ weights[0] + constant[0]
            excess = sums - sign * posterior.std(points)
            assert excess.min() > -1e-12
            lost.append(excess.max())
        near_kink = lost[1] > 1e-4
        found += not near_kink
        assert near_kink or lost[1] <= lost[0] / 50.0 + 1e-11
    assert found >= 20


def test_sums_that_differ_from_box_to_box_are_bounded():
    rng = np.random.default_rng(0)
    network = random_network(rng, 3, (8, 6), ("mean", "a", "b"))
    domain = domain_of("box", 3)
    rows = RowRelaxer(network, domain.lower, domain.upper, ("a", "b"), "mean")
    lower, upper = small_boxes(domain, rng, 40)
    bounded = rows.bound_outputs(lower, upper)
    shares, weights, constants = rng.normal(size=40), rng.normal(size=(40, 2)), rng.normal(size=40)
    planes = rows.carry(bounded, shares, weights, constants, np.full(40, -np.inf), 3)
    points = samples(lower, upper, rng, 80)
    outputs = network.evaluate(points.reshape(-1, 3)).reshape(40, 80, 3)
    sums = shares[:, None] * outputs[..., 0] + constants[:, None]
    sums = sums + np.einsum("bo,bno->bn", weights, outputs[..., 1:])
    above = planes.constant[:, None] + np.einsum("bnd,db->bn", points, planes.slopes)
    assert (sums <= above).all()
    assert (above <= planes.bound[:, None] + 1e-12).all()
    for output in range(2):
        low, high = bounded.ends(output)
        assert (outputs[..., 1 + output] >= low[:, None]).all()
        assert (outputs[..., 1 + output] <= high[:, None]).all()
    # The first layer's forms are exact where no ReLU changes its phase.
    assert ((planes.bound[:, None] - sums).min(axis=1) < 0.2).any()


def test_what_has_no_bounds_is_refused():
    class Other(MomentHead):
        std_trend = ExpectedImprovement(0.0).std_trend

        def _score(self, mean, std):
            return mean

        def _gradient(self, mean, std):
            return mean, std

        def _mean_at_level(self, std, level):
            return level

    class Strange(CompiledPosterior):
        def std_from(self, read):
            return np.zeros(len(read))

        def std_slopes(self, read):
            return np.zeros((len(read), 1))

        def _reads(self):
            return ("mean",)

    network = random_network(np.random.default_rng(0), 1, (2,), ("mean", "std"))
    domain = domain_of("box", 1)
    relaxer = Boxed(HeadProblem(Objective(PlainPosterior(network), Other()), domain)).relaxer
    with pytest.raises(UnsupportedError, match="level sets"):
        relaxer.bound(np.array([[0.0]]), np.array([[0.1]]), 0.0, 0)
    with pytest.raises(UnsupportedError, match="no bounds over boxes"):
        _ = Boxed(HeadProblem(Objective(Strange(network), LinearHead()), domain)).relaxer
    with pytest.raises(UnsupportedError, match="has no members"):
        _ = Boxed(
            HeadProblem(Objective(PlainPosterior(network), head_of("empirical ei", 0.0)), domain)
        ).relaxer


def test_the_reach_of_members_counts_what_cancels():
    """Members that move together have a std that hardly changes: the bound must see that."""
    rng = np.random.default_rng(1)
    posterior = random_posterior("members", rng, 2, (5,))
    network = posterior.network
    slope = np.array([[30.0, -20.0]])
    moved = {0: np.repeat(slope, network.n_outputs, axis=0), **network.head.terms}
    head = type(network.head)(network.head.bias, moved)
    together = replace(
        posterior, network=type(network)(2, network.layers, head, network.output_names)
    )
    lower, upper = np.full((2, 1), 0.0), np.full((2, 1), 0.1)
    domain, found = domain_of("box", 2), []
    for one in (posterior, together):
        spreads = spread_relaxer(one)
        rows = RowRelaxer(one.network, domain.lower, domain.upper, spreads.outputs, "mean")
        spread = spreads.spread(rows.bound_outputs(lower, upper))
        assert isinstance(spread, QuadraticSpread)
        found.append(spread.reach[0])
    assert found[1] == pytest.approx(found[0], rel=1e-6)
