"""Heads on tanh units and Gaussian processes: conditions at samples, maxima against lattices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.exact.branching.boxes import BoxOptions
from nnbo_mip.exact.heads import boxes, linear, maximize_head, ratio, sandwich, tangents
from nnbo_mip.exact.heads.boxes import Boxed
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.space.domain import Domain, Grid
from tests.exact.heads.curved_cases import KERNELS, TANH, random_process, random_tanh
from tests.exact.heads.random_heads import (
    MEMBER_HEADS,
    MOMENT_HEADS,
    domain_of,
    head_of,
    threshold_for,
)
from tests.exact.heads.test_relaxers import violations

GAP = 1e-4
ALL = (*KERNELS, *TANH)


def random_curved(kind, rng, d, count=8):
    if isinstance(kind, tuple):
        return random_process(rng, d, count, kind, noise=1e-4)
    return random_tanh(kind, rng, d, hidden=6, steepness=1.5)


def heads_on(kind):
    return (
        MOMENT_HEADS
        if kind == "features" or isinstance(kind, tuple)
        else (MOMENT_HEADS + MEMBER_HEADS)
    )


def maximize(problem, limit=20_000, gap=GAP):
    monitor = Monitor(problem, gap, np.inf)
    return boxes.solve(problem, BoxOptions(max_boxes=limit), monitor)


def lattice(domain, side):
    ends = zip(domain.lower, domain.upper, strict=True)
    axes = [np.linspace(low, high, side) for low, high in ends]
    return np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, domain.dimension)


@pytest.mark.parametrize("kind", ALL, ids=str)
def test_conditions_hold_at_every_sample(kind):
    for seed in range(3):
        rng = np.random.default_rng([seed, ALL.index(kind)])
        dimension = int(rng.integers(1, 4))
        readout = random_curved(kind, rng, dimension, int(rng.integers(1, 15)))
        domain = domain_of("box" if seed else "degenerate", dimension)
        threshold = threshold_for(readout, domain.sample(200, rng), rng)
        for name in heads_on(kind):
            problem = HeadProblem(Objective(readout, head_of(name, threshold)), domain)
            assert violations(problem, Boxed(problem).relaxer, rng) == 0, (seed, name)


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("kind", ALL, ids=str)
def test_maxima_against_a_lattice(kind, dimension):
    rng = np.random.default_rng([dimension, ALL.index(kind)])
    readout = random_curved(kind, rng, dimension)
    domain = Domain(np.full(dimension, -1.0), np.full(dimension, 1.2))
    points = lattice(domain, 2001 if dimension == 1 else 71)
    threshold = threshold_for(readout, points, rng)
    rough = kind == ("matern", 0.5)  # cusps: where the std is large bounds fall slowly
    # Every head is asked of some kind in each dimension.
    for name in heads_on(kind)[(dimension + ALL.index(kind)) % 3 :: 3]:
        problem = HeadProblem(Objective(readout, head_of(name, threshold)), domain)
        result = maximize(problem, 1000 if rough else 20_000)
        best = float(problem.values(points).max())
        assert result.bound >= best, name
        assert result.value == pytest.approx(problem.value(result.x), abs=0.0)
        assert domain.admissible(result.x[None])[0]
        if not rough:
            assert result.status == "optimal", name
            assert result.value >= best - GAP * (1.0 + abs(best)), name


@pytest.mark.parametrize("kind", [("rbf", 2.5), "features"], ids=str)
def test_integers_and_rows_are_kept(kind):
    rng = np.random.default_rng(4)
    readout = random_curved(kind, rng, 2)
    domain = Domain(
        [-1.0, -1.0], [1.0, 1.0], grids=[Grid.uniform(-1.0, 1.0, 5), None], A=[[1.0, 1.0]], b=[0.3]
    )
    problem = HeadProblem(Objective(readout, LinearHead(1.0, 1.0)), domain)
    result = maximize(problem)
    assert result.status == "optimal"
    columns = np.linspace(-1.0, 1.0, 5)
    points = np.array([(a, b) for a in columns for b in np.linspace(-1.0, 1.0, 801)])
    points = points[points.sum(axis=1) <= 0.3]
    assert domain.admissible(result.x[None])[0]
    assert result.bound >= problem.values(points).max()
    assert result.value >= problem.values(points).max() - GAP


def test_an_ill_conditioned_posterior_is_maximized():
    """Points that repeat, weights of either sign up to 1e6, a std near zero at every point."""
    rng = np.random.default_rng(7)
    readout = random_process(rng, 1, 14, noise=1e-6, length=0.8, repeated=True)
    assert np.abs(readout.weights).max() > 1e4
    domain = Domain([-1.0], [1.0])
    points = lattice(domain, 4001)
    for name in ("mean", "ucb", "ei", "std", "lcb"):
        threshold = float(readout.mean(points).max())
        problem = HeadProblem(Objective(readout, head_of(name, threshold)), domain)
        result = maximize(problem)
        assert result.bound >= problem.values(points).max(), name
        assert result.status == "optimal", name


def test_steep_units_and_short_length_scales_are_bounded():
    rng = np.random.default_rng(8)
    domain = Domain([-1.0], [1.0])
    steep = random_tanh("std", rng, 1, hidden=4, steepness=1e6)
    short = random_process(rng, 1, 5, length=1e-4)
    for readout in (steep, short):
        points = lattice(domain, 5001)
        problem = HeadProblem(Objective(readout, LinearHead(1.0, 1.0)), domain)
        result = maximize(problem)
        assert result.bound >= problem.values(points).max()
        assert result.status == "optimal"


@pytest.mark.parametrize("kind", [("rbf", 2.5), "std"], ids=str)
def test_a_known_maximum_is_found(kind):
    """Far from all points the std is the prior's; a sum of rising units is largest at an end."""
    rng = np.random.default_rng(3)
    if isinstance(kind, tuple):
        readout = random_process(rng, 1, 3, length=0.05)
        head, expected = LinearHead(0.0, 1.0), readout.reach
    else:
        readout = random_tanh("std", rng, 1, hidden=5, steepness=1.0)
        rising = np.abs(readout.outer) * np.sign(readout.inner[:, 0])
        readout = replace(readout, outer=rising, direct=0.0 * readout.direct)
        head, expected = LinearHead(1.0, 0.0), float(readout.mean([[1.0]])[0])
    result = maximize(HeadProblem(Objective(readout, head), Domain([-1.0], [1.0])))
    assert result.status == "optimal"
    assert result.value == pytest.approx(expected, rel=2e-4)


def test_ways_that_need_a_network_say_so():
    rng = np.random.default_rng(0)
    domain = Domain([-1.0], [1.0])
    for kind in (("rbf", 2.5), "std"):
        readout = random_curved(kind, rng, 1)
        for name in heads_on(kind):
            problem = HeadProblem(Objective(readout, head_of(name, 0.2)), domain)
            assert not Boxed(problem).why_not
            for way in (linear, tangents, sandwich, ratio):
                assert way.why_not(problem).endswith(".")
                assert maximize_head.Ways(problem).sequence is None
            assert not maximize_head.Ways(problem).why_not("bab")
            for method in ("mip", "enumerate"):
                assert 'take "bab"' in maximize_head.Ways(problem).why_not(method)
    process = random_curved(("rbf", 2.5), rng, 1)
    with pytest.raises(UnsupportedError, match="no members"):
        _ = Boxed(HeadProblem(Objective(process, head_of("empirical ei", 0.0)), domain)).relaxer


@pytest.mark.parametrize("kind", [("rational_quadratic", 2.5), "variance", "features"], ids=str)
def test_objectives_come_back_from_files(kind, tmp_path):
    rng = np.random.default_rng(2)
    objective = Objective(random_curved(kind, rng, 2), LinearHead(1.0, 2.0))
    objective.save(tmp_path / "one.npz")
    loaded = Objective.load(tmp_path / "one.npz")
    points = rng.uniform(-1.0, 1.0, (30, 2))
    assert loaded.fingerprint == objective.fingerprint
    assert np.array_equal(loaded.score(points), objective.score(points))


def test_arrays_that_do_not_fit_are_refused():
    rng = np.random.default_rng(2)
    process, units = random_curved(("rbf", 2.5), rng, 2), random_curved("features", rng, 2)
    for wrong in (
        {"points": process.points[0]},
        {"factor": process.factor[:2]},
        {"x_scale": np.ones(3)},
        {"amplitude": 0.0},
    ):
        with pytest.raises(InputError):
            replace(process, **wrong)
    for wrong in ({"inner": units.inner[0]}, {"bias": np.zeros(2)}, {"root": np.eye(99)}):
        with pytest.raises(InputError):
            replace(units, **wrong)
