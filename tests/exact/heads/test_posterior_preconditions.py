"""Every posterior with outputs that nobody would train: bounds hold, or it is refused."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.exact.bounds.row_relaxation import RowRelaxer
from nnbo_mip.exact.bounds.tanh_units import TanhUnits
from nnbo_mip.exact.bounds.unit_relaxation import UnitRows
from nnbo_mip.exact.checking.heads.choice import score_bounder
from nnbo_mip.exact.checking.heads.outputs import OutputBounder
from nnbo_mip.exact.checking.heads.stds import std_bounder
from nnbo_mip.exact.heads.boxes import Boxed
from nnbo_mip.exact.heads.certification import certificate_of
from nnbo_mip.exact.heads.maximize_head import Ways, maximize_head
from nnbo_mip.exact.heads.relaxers.spreads import is_sum_of_units, spread_relaxer
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.functions.constrained import ConstrainedImprovement
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import (
    CompiledPosterior,
    MembersPosterior,
    PlainPosterior,
    QuadraticPosterior,
    SmoothPosterior,
)
from nnbo_mip.scores.posteriors.joint import JointPosterior
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.scores.posteriors.tanh import TanhFeatures, TanhMembers
from nnbo_mip.scores.storage import HEADS, POSTERIORS
from tests.exact.heads.curved_cases import random_process, random_tanh
from tests.exact.heads.random_heads import (
    MEMBER_HEADS,
    MOMENT_HEADS,
    domain_of,
    head_of,
    random_network,
)
from tests.exact.heads.test_relaxers import samples, small_boxes, violations
from tests.exact.pairs.sums import random_sum
from tests.exact.spherical.spheres import random_members, random_posterior
from tests.exact.trees.forests import random_forest

SLACK = 1e-9
CURVES = ("plain", "smooth")
OTHER_BOXES = ("trees", "spherical", "spherical members", "pairwise")
"""Kinds whose boxes no relaxer bounds, but a search of their own."""


def shifted(network, output, shift, sign=1.0):
    """Return a network with ``sign * output + shift`` in place of an output."""
    keep = np.ones(network.n_outputs)
    index = network.output_index(output)
    keep[index] = sign
    bias = keep * network.head.bias
    bias[index] += shift
    terms = {k: keep[:, None] * network.head.dense(k) for k in network.head.terms}
    return Network(network.n_inputs, network.layers, Affine(bias, terms), network.output_names)


def adversarial(kind, rng, dimension=2):
    """Return a posterior whose outputs have any sign and size, which nothing ties to each other."""
    widths = (5, 4)
    scale = float(rng.choice([1.0, 1.0, 1e-3, 1e3]))
    if kind in CURVES:
        second = "std" if kind == "plain" else "relu_raw"
        network = random_network(rng, dimension, widths, ("mean", second))
        shift, sign = float(rng.choice([-3.0, -0.3, 0.0, 0.3])), float(rng.choice([-1.0, 1.0]))
        network = shifted(network, second, shift, sign)
        if kind == "plain":
            return PlainPosterior(network)
        l_min = float(rng.choice([0.0, 1e-3, 0.1]))
        return SmoothPosterior(network, l_min, float(rng.choice([0.05, 0.5, 2.0])), scale)
    if kind == "members":  # their mean is not the output "mean"
        count = int(rng.integers(1, 5))
        names = ("mean", *(f"member{m}" for m in range(count)))
        spread, noise = str(rng.choice(["std", "variance"])), float(rng.choice([0.0, 0.2]))
        network = random_network(rng, dimension, widths, names)
        return MembersPosterior(network, spread, float(rng.choice([1.0, 0.1, 10.0])), noise)
    if kind == "quadratic":
        count = int(rng.integers(1, 4))
        names = ("mean", *(f"feature{k}" for k in range(count)))
        root = scale * rng.normal(size=(int(rng.integers(1, 4)), count))
        root[0] *= float(rng.integers(2))  # of any rank
        network = random_network(rng, dimension, widths, names)
        return QuadraticPosterior(network, root, float(rng.choice([0.0, 0.2])))
    if kind.startswith("tanh"):
        made = random_tanh("features" if kind == "tanh features" else "std", rng, dimension)
        outer = made.outer.copy()
        outer[0] = rng.normal(size=outer.shape[1])  # the mean is no mean of the others
        made = replace(made, outer=outer, direct=scale * rng.normal(size=made.direct.shape))
        if kind == "tanh members":
            return replace(made, spread=str(rng.choice(["std", "variance"])), variance_unit=0.3)
        return made
    if kind == "gaussian process":
        made = random_process(rng, dimension, 6, noise=1e-3)
        return replace(made, weights=10.0 * rng.normal(size=6), y_scale=-made.y_scale)
    if kind == "spherical":
        made = random_posterior(dimension, rng)
        root = float(rng.choice([0.5, 1.0, 3.0])) * made.root  # it may be longer than the prior
        return replace(made, weights=scale * made.weights, root=root)
    if kind == "spherical members":
        made = random_members(dimension, rng)
        return replace(made, weights=scale * made.weights)
    if kind == "pairwise":
        made = random_sum(domain_of("box", dimension), rng, count=3)
        return replace(made, weights=scale * made.weights)
    if kind == "joint":
        return JointPosterior(tuple(adversarial("gaussian process", rng) for _ in range(2)))
    return random_forest(domain_of("box", dimension), rng)


def heads_on(kind):
    if kind == "joint":
        return JOINT_HEADS
    if kind == "pairwise":
        return tuple(head for head in MOMENT_HEADS if getattr(head, "std_weight", 1.0) == 0.0)
    if kind == "spherical members":
        return MEMBER_HEADS
    has_members = kind in ("members", "tanh members", "trees")
    return MOMENT_HEADS + (MEMBER_HEADS if has_members else ())


JOINT_HEADS = ("constrained_ei", "feasibility")


def joint_head(name, threshold):
    """Return a head of two posteriors."""
    if name == "feasibility":
        return ConstrainedImprovement((threshold, 0.5 * threshold))
    return ConstrainedImprovement((threshold,), (threshold,))


def attack(domain, rng):
    """Return points of a box: its corners, faces, and many others."""
    shares = rng.random((1500, domain.dimension))
    shares[::2] = np.round(shares[::2])
    shares[1::4, 0] = np.round(shares[1::4, 0])
    return domain.lower + shares * (domain.upper - domain.lower)


def problem_on(posterior, name, rng):
    domain = domain_of("box", posterior.n_inputs)
    means = posterior.mean(attack(domain, rng))
    made = joint_head if name in JOINT_HEADS else head_of
    head = made(name, float(np.quantile(means, 0.9)))
    return HeadProblem(Objective(posterior, head), domain)


@pytest.mark.parametrize("kind", POSTERIORS)
def test_no_point_scores_above_the_bound(kind):
    # Every posterior there is: a new one has to be made above, or this fails.
    for seed in range(4):
        rng = np.random.default_rng([seed, *kind.encode()])
        posterior = adversarial(kind, rng)
        assert type(posterior) is POSTERIORS[kind]
        for name in heads_on(kind):
            problem = problem_on(posterior, name, rng)
            for method in ("auto", "mip") if seed == 0 and kind in CURVES else ("bab",):
                if Ways(problem).why_not(method):
                    continue
                monitor = Monitor(problem, 1e-2, 2.0)
                result = maximize_head(
                    Ways(problem), SequenceOptions(method, most_problems=8), monitor
                )
                values = problem.values(attack(problem.domain, rng))
                assert values.max() <= monitor.bound + SLACK * (1.0 + abs(monitor.bound)), name
                assert result.value <= result.bound


@pytest.mark.parametrize("kind", [kind for kind in POSTERIORS if kind not in OTHER_BOXES])
def test_no_box_is_bounded_below_its_points(kind):
    # A search that found the best point hides a bound that is too low: boxes do not.
    for seed in range(12):
        rng = np.random.default_rng([seed, 1, *kind.encode()])
        posterior = adversarial(kind, rng)
        for name in heads_on(kind):
            problem = problem_on(posterior, name, rng)
            assert violations(problem, Boxed(problem).relaxer, rng) == 0, (seed, name)


def bounded_outputs(posterior, relaxer, domain, boxes):
    if isinstance(posterior, CompiledPosterior):
        rows = RowRelaxer(posterior.network, domain.lower, domain.upper, relaxer.outputs, "mean")
    else:
        rows = UnitRows.of_tanh(TanhUnits(posterior, domain), posterior)
    return rows.bound_outputs(*boxes)


@pytest.mark.parametrize(
    "kind", ["plain", "smooth", "members", "quadratic", "tanh members", "tanh features"]
)
def test_lines_of_the_std_enclose_it(kind):
    wide = 0
    for seed in range(50):
        rng = np.random.default_rng([seed, 2, *kind.encode()])
        posterior = adversarial(kind, rng)
        domain = domain_of("box", posterior.n_inputs)
        boxes = small_boxes(domain, rng)
        relaxer = spread_relaxer(posterior)
        bounded = bounded_outputs(posterior, relaxer, domain, boxes)
        spread = relaxer.spread(bounded)
        points = samples(*boxes, rng)
        flat = points.reshape(-1, posterior.n_inputs)
        std = posterior.std(flat).reshape(points.shape[:2])
        outputs = _outputs(posterior, relaxer, flat).reshape(*points.shape[:2], -1)
        slack = SLACK * (1.0 + std + np.abs(outputs).max(axis=2))
        assert (spread.low[:, None] <= std + slack).all()
        assert (spread.high[:, None] >= std - slack).all()
        for weight in (1.0, -1.0, 1e-3, -40.0):
            rows, constants = spread.above(np.full(len(std), weight))
            line = (rows[:, None] * outputs).sum(axis=2) + constants[:, None]
            scale = 1.0 + np.abs(rows).sum(axis=1)[:, None]
            assert (line >= weight * std - abs(weight) * slack - SLACK * scale).all(), weight
        if kind in CURVES:
            low, high = bounded.ends(0)
            wide += int(((low < -0.01) & (high > 0.01)).sum())
    assert wide > 20 or kind not in CURVES  # boxes over which an output changes its sign


def _outputs(posterior, relaxer, points):
    if isinstance(posterior, CompiledPosterior):
        values = posterior.network.evaluate(points)
        return values[:, [posterior.network.output_index(name) for name in relaxer.outputs]]
    return posterior.evaluate(points)[:, 1:]


@pytest.mark.parametrize("kind", ["plain", "smooth", "members", "quadratic"])
def test_what_checks_make_of_the_std_encloses_it(kind):
    for seed in range(12):
        rng = np.random.default_rng([seed, 3, *kind.encode()])
        posterior = adversarial(kind, rng)
        domain = domain_of("box", posterior.n_inputs)
        boxes = small_boxes(domain, rng)
        stds = std_bounder(posterior)
        outputs = OutputBounder(stds.network, stds.outputs, domain.lower, domain.upper)
        std = stds.bound(outputs, outputs.bound_outputs(*boxes))
        points = samples(*boxes, rng)
        seen = posterior.std(points.reshape(-1, posterior.n_inputs)).reshape(points.shape[:2])
        slack = SLACK * (1.0 + np.abs(seen))
        assert (std.low[:, None] <= seen + slack).all()
        assert (std.high[:, None] >= seen - slack).all()


@pytest.mark.parametrize("kind", [*CURVES, "members", "quadratic", "gaussian process"])
def test_a_box_that_a_check_settles_holds_no_higher_score(kind):
    settled = 0
    for seed in range(8):
        rng = np.random.default_rng([seed, 5, *kind.encode()])
        posterior = adversarial(kind, rng)
        for name in heads_on(kind):
            problem = problem_on(posterior, name, rng)
            bounder = score_bounder(problem.objective, problem.domain)
            boxes = small_boxes(problem.domain, rng)
            points = samples(*boxes, rng)
            scores = problem.objective.score(points.reshape(-1, 2)).reshape(points.shape[:2])
            bounded = bounder.bound_outputs(*boxes)
            for level in np.quantile(scores, [0.3, 0.8, 0.99]):
                level = float(level) + 1e-6 * abs(float(level))
                done = bounder.excess(bounded, level).max(axis=0) < 0.0
                settled += int(done.sum())
                slack = SLACK * (1.0 + np.abs(scores[done]))
                assert (scores[done] <= level + slack).all(), (seed, name, level)
    assert settled > 300


@pytest.mark.parametrize("kind", CURVES)
@pytest.mark.parametrize("name", ["ucb", "lcb", "ei", "pi", "mes", "aei"])
def test_checks_agree_with_the_bounds_and_refute_lower_ones(kind, name):
    for seed in range(2):
        rng = np.random.default_rng([seed, 4, *kind.encode()])
        problem = problem_on(adversarial(kind, rng), name, rng)
        result = maximize_head(Ways(problem), SequenceOptions("bab"), Monitor(problem, 1e-2, 5.0))
        made = {"requested_gap": 1e-2, "seed": 0, "seconds": 0.0}
        honest = certificate_of(problem, result, **made)
        head = problem.searched if result.score.startswith("log") else problem.head
        objective = HeadProblem(Objective(problem.posterior, head), problem.domain).objective
        assert not honest.check(objective, problem.domain, time_limit=5.0).refuted
        points = attack(problem.domain, rng)
        scores = objective.score(points)
        lowest = int(np.argmin(scores))
        value = float(objective.score(points[lowest][None])[0])
        bound = float(0.5 * scores.max() + 0.5 * value)
        if not np.isfinite(value) or not scores.max() > value + 1e-6 * abs(value):
            continue
        false = replace(
            result, x=points[lowest], value=value, bound=bound, status="feasible", steps=()
        )
        forged = certificate_of(problem, false, **made)
        assert not forged.check(objective, problem.domain, time_limit=5.0).confirmed


def test_a_sum_of_units_is_known_and_nothing_else():
    layers = [([[1.0], [-1.0]], [0.0, 0.5])]
    for weights, bias, expected in [
        ([[1.0, 0.0]], 0.0, True),
        ([[1.0, 2.0]], 0.5, True),
        ([[1.0, -2.0]], 0.5, False),
        ([[1.0, 2.0]], -0.5, False),
    ]:
        network = Network.from_layers([*layers, (weights, [bias])], ("relu_raw",))
        assert is_sum_of_units(network, "relu_raw") is expected
    direct = Network.from_layers([([[1.0]], [3.0])], ("relu_raw",))
    assert not is_sum_of_units(direct, "relu_raw")


# -- what is refused ------------------------------------------------------------------


def refused(kind):
    """Return changes of a sound posterior of a kind, none of which any bound would hold for."""
    nan, first = float("nan"), {"network": "a network"}
    made = adversarial(kind, np.random.default_rng(7))
    negative = {"noise": -0.1}
    numbers = {
        "plain": [first],
        "smooth": [{"l_min": -0.1}, {"l_max": 0.0}, {"l_max": -1.0}, {"factor": -1.0}],
        "members": [{"spread": "mad"}, {"variance_unit": 0.0}, {"variance_unit": -1.0}, negative],
        "quadratic": [negative, {"noise": nan}, {"root": np.ones((2, 9))}, {"root": 3.0}],
        "tanh members": [{"spread": "mad"}, {"variance_unit": -1.0}, negative, {"bias": None}],
        "tanh features": [negative, {"noise": np.inf}],
        "gaussian process": [
            {"amplitude": 0.0}, {"reach": -1.0}, {"nu": np.inf}, {"mixture": 0.0},
            {"y_scale": nan}, {"y_center": np.inf}, {"form": "cubic"},
        ],
        "spherical": [
            {"reach": -1.0}, {"slope_variance": -1.0}, {"level_variance": nan},
            {"rate": np.array([1.0, -1.0])}, {"weights": np.zeros(3)}, {"root": np.zeros((2, 3))},
        ],
        "spherical members": [{"weights": np.zeros((0, 4))}, {"center": np.zeros(3)}],
        "pairwise": [
            {"reach": -1.0}, {"dimension": 1.5}, {"levels": np.zeros(0)},
            {"terms": np.zeros((1, 2))},
        ],
        "joint": [{"parts": ()}, {"parts": (made,)}],
        "trees": [{"reach": -1.0}, {"reach": nan}, {"variance": "none"}, {"dimension": 1.5}],
    }[kind]  # fmt: skip
    if kind == "gaussian process":
        numbers.append({"factor": made.factor + np.triu(np.full((6, 6), 1e-9), 1)})
        numbers.append({"factor": np.tril(made.factor, -1)})
        numbers += [{name: -getattr(made, name)} for name in ("length_scale", "x_scale")]
    for name in (entry.name for entry in fields(made)):
        value = getattr(made, name)
        if isinstance(value, np.ndarray):
            broken = value.copy()
            broken.flat[0] = nan
            numbers.append({name: broken})
    return made, numbers


@pytest.mark.parametrize("kind", POSTERIORS)
def test_numbers_without_a_bound_are_refused(kind):
    made, wrong = refused(kind)
    for change in wrong:
        with pytest.raises((InputError, UnsupportedError), match=r"; .*"):
            replace(made, **change)
    for name in inspect.signature(POSTERIORS[kind]).parameters:  # every number of a posterior
        if isinstance(getattr(made, name), float):
            with pytest.raises(InputError):
                replace(made, **{name: float("nan")})


@pytest.mark.parametrize("names", [("mean", "member0", "member2"), ("mean", "member0", "members")])
def test_members_are_numbered(names):
    network = Network.from_layers([(np.ones((3, 1)), np.zeros(3))], names)
    with pytest.raises(InputError, match="member0, member1"):
        MembersPosterior(network)


@pytest.mark.parametrize("kind", POSTERIORS)
def test_a_derived_posterior_is_refused(kind):
    class Derived(POSTERIORS[kind]):
        def std(self, X):
            return 2.0 * super().std(X)

    made = adversarial(kind, np.random.default_rng(8))
    numbers = {name: getattr(made, name) for name in inspect.signature(type(made)).parameters}
    with pytest.raises(UnsupportedError, match="derived"):
        HeadProblem(Objective(Derived(**numbers), LinearHead(1.0, 1.0)), domain_of("box", 2))


@pytest.mark.parametrize("name", HEADS)
def test_a_derived_head_is_refused(name):
    class Derived(HEADS[name]):
        def score(self, *moments):
            return 2.0 * super().score(*moments)

    given = {"LinearHead": (), "NoisyImprovement": ((0.5,),), "ConstrainedImprovement": ((0.5,),)}
    head = Derived(*given.get(name, (0.5,)))
    posterior = adversarial("plain", np.random.default_rng(9))
    with pytest.raises(UnsupportedError, match="derived"):
        HeadProblem(Objective(posterior, head), domain_of("box", 2))


def test_the_kinds_are_all_there():
    made = (PlainPosterior, SmoothPosterior, MembersPosterior, QuadraticPosterior)
    assert set(made) | {TanhMembers, TanhFeatures, ProcessPosterior} < set(POSTERIORS.values())
    assert len(POSTERIORS) == 12
    assert issubclass(HEADS["ExpectedImprovement"], ExpectedImprovement)
