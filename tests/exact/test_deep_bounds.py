"""Backward bounds of hidden layers: of the box engine, and of the checker, by code of their own."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.compiled_relaxation import CompiledRelaxer, DeepRelaxer
from nnbo_mip.exact.branching import boxes
from nnbo_mip.exact.certify import certify
from nnbo_mip.exact.checking import recheck
from nnbo_mip.exact.checking.recheck_bounds import BoxBounder
from nnbo_mip.exact.checking.recheck_deep import DeepBounder
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain

WIDTHS = (10, 9, 8, 9, 8)


def _network(seed: int, inputs: int = 3, widths: tuple[int, ...] = WIDTHS) -> Network:
    """Return a deep network; its last layer and its head read the first layer too."""
    rng = np.random.default_rng(seed)
    sizes = (inputs, *widths)
    layers = [
        Affine(rng.normal(size=n), {k: rng.normal(size=(n, sizes[k])) / np.sqrt(sizes[k])})
        for k, n in enumerate(widths)
    ]
    skip = {**layers[-1].terms, 1: rng.normal(size=(widths[-1], widths[0]))}
    layers[-1] = Affine(layers[-1].bias, skip)
    head = {len(widths): rng.normal(size=(1, widths[-1])), 1: rng.normal(size=(1, widths[0]))}
    return Network(inputs, tuple(layers), Affine([0.3], head))


def _boxes(rng: np.random.Generator, inputs: int, count: int) -> tuple[FloatArray, FloatArray]:
    center = rng.uniform(-1.0, 1.0, (inputs, count))
    half = rng.uniform(0.0, 1.0, (inputs, count)) * 10.0 ** rng.uniform(-4.0, 0.0, count)
    return np.clip(center - half, -1.0, 1.0), np.clip(center + half, -1.0, 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_planes_lie_above_the_network_and_marks_are_right(seed: int) -> None:
    network, rng = _network(seed), np.random.default_rng(100 + seed)
    problem = Problem(network, Domain(-np.ones(3), np.ones(3)))
    relaxer = DeepRelaxer(network, problem.rounding)
    lower, upper = _boxes(rng, 3, 40)
    marks = np.zeros((network.n_relus, 40), dtype=np.int8)
    found = relaxer.bound_marked(lower, upper, -np.inf, 3, marks)
    for b in range(40):
        points = rng.uniform(lower[:, b], upper[:, b], (200, 3))
        values = network.evaluate(points, 0)
        assert (values <= points @ found.slopes[:, b] + found.constant[b]).all()
        assert values.max() <= found.bound[b]
        z = np.concatenate(network.preactivations(points), axis=1)
        assert (z[:, marks[:, b] > 0] >= 0.0).all()
        assert (z[:, marks[:, b] < 0] <= 0.0).all()
    forward = CompiledRelaxer(network, problem.rounding).bound(lower, upper, -np.inf, 3)
    assert (found.bound - forward.bound).mean() < 0.0


def test_marks_of_a_box_serve_its_parts() -> None:
    network, rng = _network(7), np.random.default_rng(7)
    problem = Problem(network, Domain(-np.ones(3), np.ones(3)))
    relaxer = DeepRelaxer(network, problem.rounding)
    lower, upper = np.full((3, 1), -0.3), np.full((3, 1), 0.2)
    marks = np.zeros((network.n_relus, 1), dtype=np.int8)
    relaxer.bound_marked(lower, upper, -np.inf, 0, marks)
    assert (marks != 0).any()
    parts = np.sort(rng.uniform(-0.3, 0.2, (2, 3, 20)), axis=0)
    inherited = np.repeat(marks, 20, axis=1)
    with_marks = relaxer.bound_marked(parts[0], parts[1], -np.inf, 0, inherited)
    without = relaxer.bound(parts[0], parts[1], -np.inf, 0)
    assert np.allclose(with_marks.bound, without.bound, atol=1e-9)
    assert (inherited[marks[:, 0] != 0] == marks[marks[:, 0] != 0]).all()


def test_marks_are_believed() -> None:
    first, layer = (np.ones((2, 2)), np.ones(2)), (np.ones((2, 2)), np.zeros(2))
    network = Network.from_layers([first, layer, layer, layer, (np.ones((1, 2)), [0.0])])
    problem = Problem(network, Domain(-np.ones(2), np.ones(2)))
    relaxer = DeepRelaxer(network, problem.rounding)
    ends = np.full((2, 1), -1.0), np.full((2, 1), 1.0)
    off = np.full((network.n_relus, 1), -1, dtype=np.int8)
    assert relaxer.bound_marked(*ends, -np.inf, 0, off).bound[0] < 1e-6
    assert relaxer.bound(*ends, -np.inf, 0).bound[0] > 10.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("integral", [False, True])
def test_the_search_finds_the_enumerated_maximum(
    seed: int, integral: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = _network(seed, inputs=2)
    space: object = [(-1.0, 1.0), (-1.0, 1.0)]
    if integral:
        space = Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 2.0]], b=[0.5])
    truth = certify(network, space, method="enumerate", gap=1e-9)
    for method in ("boxes", "auto"):
        found = certify(network, space, method=method, gap=1e-6)
        assert found.status == "optimal"
        assert found.bound >= truth.value
        assert found.value == pytest.approx(truth.value, abs=1e-5 * max(1.0, abs(truth.value)))
    result = certify(network, space, method="boxes")
    assert result.certificate.check(network) == "confirmed"


def test_which_networks_are_deep() -> None:
    def deep(*widths: int) -> bool:
        return boxes.is_deep(Problem(_network(0, 3, widths), Domain(-np.ones(3), np.ones(3))))

    assert deep(10, 10, 10, 10)
    assert not deep(32, 32, 32)  # few ReLUs: forms that go forwards are cheaper
    assert deep(100, 100, 100)
    assert not deep(30, 30, 1, 1, 1, 1)  # rows of a largest output are no layers


@pytest.mark.parametrize("seed", range(4))
def test_the_checkers_planes_lie_above_the_network(seed: int) -> None:
    network, rng = _network(seed), np.random.default_rng(200 + seed)
    bounder = DeepBounder(network, -np.ones(3), np.ones(3))
    lower, upper = _boxes(rng, 3, 30)
    planes = bounder.planes(lower, upper)
    assert (planes.steepness >= 0.0).all()
    for b in range(30):
        points = rng.uniform(lower[:, b], upper[:, b], (200, 3))
        values = network.evaluate(points, 0)
        assert (values <= points @ planes.slopes[:, b] + planes.constant[b]).all()
        assert values.max() <= planes.largest[b]
        low, high = bounder.ends(lower[:, b], upper[:, b])
        z = np.concatenate(network.preactivations(points), axis=1)
        assert (low <= z).all()
        assert (z <= high).all()
    shallow = BoxBounder(network, -np.ones(3), np.ones(3)).planes(lower, upper)
    assert (planes.largest - shallow.largest).mean() < 0.0


def test_backward_bounds_need_fewer_boxes_in_search_and_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = _network(3, inputs=4)
    problem = Problem(network, Domain(-np.ones(4), np.ones(4)))

    def search() -> tuple[int, float]:
        result = boxes.solve(problem, boxes.BoxOptions(), Monitor(problem, 1e-3))
        return result.counters["boxes"], result.bound

    backward, bound = search()
    checked = recheck.recheck(problem, bound, 60.0)
    monkeypatch.setattr(boxes, "is_deep", lambda _: False)
    monkeypatch.setattr(recheck, "is_deep", lambda _: False)
    forward, _ = search()
    assert backward < forward
    assert checked.verdict == "proved"
    assert checked.count < recheck.recheck(problem, bound, 60.0).count
