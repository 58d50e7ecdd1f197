"""Other people's optimizers begin from the shared starts and learn what they are told."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, MissingExtraError, UnsupportedError
from nnbo_mip.lab.peers.base import MethodTask, Peer
from nnbo_mip.lab.peers.catalogue import registry
from nnbo_mip.lab.peers.guarded import TRIES, guarded
from nnbo_mip.lab.plan import outside
from nnbo_mip.lab.plan.experiment import planned
from tests.lab.peers.test_sides import MIXED

if not all(map(find_spec, ("ConfigSpace", "botorch", "cma", "greenlet", "optuna", "smac"))):
    pytest.skip("the extra 'peers-bo' is not installed", allow_module_level=True)

AX = ("ax",) if find_spec("ax") else ()

PEERS = (
    *("botorch", "optuna:sampler=tpe", "optuna:sampler=gp", "smac", "smac:facade=hpo", "cma"),
    *AX,
)
STARTS = 12

NUMBERS = nm.Space(list(MIXED.dimensions[:6]))


def value(space: nm.Space, x: Any) -> float:
    return float(((space.encode(x)[0] - 0.3) ** 2).sum())


def run(
    peer: Peer,
    space: nm.Space,
    steps: int,
    direction: Any = "minimize",
    failing: int = -1,
    shared: int = STARTS,
) -> tuple[list[Any], list[Any]]:
    """Return starts and points of a run in which one evaluation may fail."""
    starts = list(space.sample(shared, seed=3)) if shared else []
    method = peer.begin(MethodTask(space, direction, starts, shared + steps, seed=3))
    sign = 1.0 if direction == "minimize" else -1.0
    points = []
    for number in range(shared + steps):
        x = starts[number] if number < shared else method.ask()
        if number >= shared:
            points.append(x)
        method.tell(x, float("nan") if number == failing else sign * value(space, x))
    return starts, points


@pytest.mark.filterwarnings("default")  # theirs are not ours to mend
@pytest.mark.parametrize("spec", PEERS)
class TestPeers:
    def test_points_are_new_ones_of_the_box(self, spec: str) -> None:
        space = nm.problems.create("branin").space
        starts, points = run(registry.create(spec), space, 4)
        known = space.encode(np.array([*starts, *points]))
        apart = np.abs(known[:, None] - known[None]).max(axis=2) + np.eye(len(known))
        assert apart.min() > 1e-6

    def test_the_same_seed_gives_the_same_points_in_either_direction(self, spec: str) -> None:
        space = nm.problems.create("branin").space
        first, again, turned = (
            run(registry.create(spec), space, 3, direction)[1]
            for direction in ("minimize", "minimize", "maximize")
        )
        assert np.array_equal(first, again)
        assert np.allclose(first, turned, rtol=1e-6, atol=1e-9)

    def test_points_of_a_mixed_space_are_admissible_and_a_failure_is_no_end(
        self, spec: str
    ) -> None:
        peer = registry.create(spec)
        space = NUMBERS if peer.refused(MIXED) else MIXED
        for failing in (0, STARTS):
            _, points = run(peer, space, 3, failing=failing)
            assert space.numeric().admissible(space.to_numeric(points)).all()

    def test_without_shared_starts_it_begins_by_its_own(self, spec: str) -> None:
        space = nm.problems.create("branin").space
        first, again = (run(registry.create(spec), space, 13, shared=0)[1] for _ in range(2))
        assert np.array_equal(first, again)
        assert len(np.unique(space.encode(np.array(first)), axis=0)) >= 12
        assert min(value(space, x) for x in first) < 0.5


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("spec", [spec for spec in PEERS if spec not in ("ax", "cma")])
def test_the_first_point_depends_on_the_values_of_the_starts(spec: str) -> None:
    peer, space = registry.create(spec), nm.problems.create("branin").space
    starts = list(space.sample(STARTS, seed=3))
    found = []
    for order in (1, -1):
        method = peer.begin(MethodTask(space, "minimize", starts, STARTS + 1, seed=3))
        values = [value(space, x) for x in starts][::order]
        for x, y in zip(starts, values, strict=True):
            method.tell(x, y)
        found.append(method.ask())
    assert np.abs(np.subtract(*found)).max() > 1e-3


@pytest.mark.filterwarnings("default")
def test_an_evolution_begins_at_the_best_start_and_converges() -> None:
    space = nm.Space.box([-5.0, 0.0], [10.0, 15.0])
    _, points = run(registry.create("cma"), space, 300)
    assert value(space, points[-1]) < 1e-3
    assert min(value(space, x) for x in points) < 1e-6


@pytest.mark.filterwarnings("default")
def test_a_constraint_is_kept_or_refused() -> None:
    row = nm.LinearConstraint({"x0": 1.0, "x1": 1.0}, "<=", 0.5)
    space = nm.Space.box([0.0, 0.0], [1.0, 1.0], row)
    for spec in ("botorch", "optuna", "optuna:sampler=gp", "smac", *AX):
        assert registry.create(spec).refused(space) == ""
        for shared in (0, STARTS) if spec != "botorch" else (STARTS,):
            _, points = run(registry.create(spec), space, 4, shared=shared)
            assert space.numeric().admissible(space.to_numeric(np.array(points))).all()
    assert registry.create("cma").refused(space) == "takes no linear constraints"
    level = nm.LinearConstraint({"x0": 1.0, "x1": 1.0}, "==", 0.5)
    equal = nm.Space.box([0.0, 0.0], [1.0, 1.0], level)
    assert registry.create("ax").refused(equal) == "takes no equalities"
    bent = nm.Space([nm.Real("x0", 0.1, 1, log=True), nm.Real("x1", 0, 1)], row)
    assert "linear numbers" in registry.create("ax").refused(bent)
    whole = nm.Space([nm.Real("x0", 0, 1), nm.Integer("x1", 0, 3)], row)
    assert "beside integers" in registry.create("botorch").refused(whole)


class Outside:
    """A tool that asks outside of the constraint a few times, and writes down what it is told."""

    message = ""

    def __init__(self, outside: int) -> None:
        self.outside = outside
        self.told: list[tuple[float, float]] = []

    def ask(self) -> Any:
        return np.array([0.9 if len(self.told) < self.outside else 0.1, 0.2])

    def tell(self, x: Any, y: float) -> None:
        self.told.append((float(x[0]), y))

    def report(self) -> Any:
        return None


@pytest.mark.parametrize(("direction", "sign"), [("minimize", 1.0), ("maximize", -1.0)])
def test_points_outside_are_told_to_be_as_bad_as_the_worst(direction: Any, sign: float) -> None:
    row = nm.LinearConstraint({"x0": 1.0}, "<=", 0.5)
    task = MethodTask(nm.Space.box([0.0, 0.0], [1.0, 1.0], row), direction, [], 5, seed=0)
    tool = Outside(2)
    guard = guarded(tool, task)
    assert guard.ask()[0] == 0.1
    assert tool.told == [(0.9, sign)] * 2
    assert guard.message == "2 points outside before"
    guard.tell(np.array([0.1, 0.2]), sign * 7.0)
    tool.outside = 4
    guard.ask()
    assert tool.told[2:] == [(0.1, sign * 7.0), (0.9, sign * 7.0)]
    tool.outside = TRIES + 9
    x = guard.ask()
    assert guard.message == f"{TRIES} points outside: drawn"
    assert task.space.numeric().admissible(task.space.to_numeric(x))[0]
    known = len(tool.told)
    guard.tell(x, 3.0)
    assert len(tool.told) == known
    assert guarded(tool, MethodTask(nm.Space.box([0.0], [1.0]), direction, [], 5, seed=0)) is tool


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("spec", ["optuna", "optuna:sampler=gp,exact=False", "smac", *AX])
def test_a_tool_says_which_point_is_best_and_may_hear_of_noise(spec: str) -> None:
    space = nm.problems.create("branin").space
    for noise in (None, 0.1):
        task = MethodTask(space, "minimize", [], 12, seed=2, noise=noise)
        method: Any = registry.create(spec).begin(task)
        told = []
        for _ in range(12):
            x = method.ask()
            method.tell(x, value(space, x))
            told.append(x)
        best = method.report()
        assert min(np.abs(space.encode(best) - space.encode(x)).max() for x in told) < 1e-9
        if spec.startswith("optuna"):
            assert value(space, best) == min(value(space, x) for x in told)


def experiment(peer: str, problem: str = '"branin"') -> str:
    return f"problems = [{problem}]\nstarts = 3\nsteps = 1\n[[methods]]\npeer = {peer}\n"


def test_a_peer_is_named_in_a_file() -> None:
    plan = planned(experiment('["optuna", "optuna:sampler=gp"]'), "file.toml", "name")
    assert [one.method for one in plan] == ["optuna", "optuna:sampler=gp"]
    assert plan.units[1].unit.method == {"peer": {"name": "optuna", "sampler": "gp"}}
    assert {"optuna", "greenlet"} <= set(plan.units[0].unit.versions)
    labelled = planned(experiment('"optuna"\nlabel = "theirs"'), "file.toml", "name")
    assert [one.method for one in labelled] == ["theirs"]
    assert labelled.units[0].unit.key == plan.units[0].unit.key


def test_what_is_wrong_is_said_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"line 5, methods\[1\].peer: a peer must be one of bot"):
        planned(experiment('"optun"'), "file.toml", "name")
    with pytest.raises(InputError, match="sampler must be one of tpe, gp"):
        planned(experiment('"optuna:sampler=random"'), "file.toml", "name")
    with pytest.raises(UnsupportedError, match="fewer than two dimensions that vary"):
        planned(experiment('"cma"', '"forrester"'), "file.toml", "name")
    monkeypatch.setattr(outside, "versions_here", lambda names: dict.fromkeys(names))
    with pytest.raises(MissingExtraError, match=r"package cma, .* install nnbo_mip\[peers-bo\]"):
        planned(experiment('"cma"'), "file.toml", "name")
