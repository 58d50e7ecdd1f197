"""Whatever a user gets may be copied, and sent to other processes and back."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import FrozenInstanceError, fields, is_dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from tests.loop.runs import BOX, QUICK, advance, bowl, figures, optimizer

COPIES = {"pickle": lambda one: pickle.loads(pickle.dumps(one)), "deepcopy": copy.deepcopy}


UNSAFE = """
(declare-const X_0 Real)
(declare-const X_1 Real)
(declare-const Y_0 Real)
(assert (>= X_0 0)) (assert (<= X_0 1)) (assert (>= X_1 0)) (assert (<= X_1 1))
(assert (>= Y_0 2))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One of each class of results, by name."""
    run = optimizer(maximizer="bab", steps=9, region="trust")
    advance(run, 5)
    asked = run.ask()
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 2))
    belief = nm.surrogates.create("brvfl", n_hidden=12, seed=0).fit(X, X.sum(axis=1))
    domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
    net = nm.Network.from_layers([([[1.0, -2.0]], [0.0]), ([[1.0]], [0.0])])
    certified = nm.certify(net, [(0.0, 1.0), (0.0, 1.0)])
    unsafe = tmp_path_factory.mktemp("property") / "unsafe.vnnlib"
    unsafe.write_text(UNSAFE)
    verified = nm.verify(net, unsafe)
    seen: list[nm.Progress] = []
    best = nm.maximize(belief, "ei", domain, y=X.sum(axis=1), progress=seen.append)
    kinds = (
        run.run(bowl, 6),
        run.history[-1],
        asked,
        run.suggestions[-1],
        asked.region,
        asked.certificate,
        certified,
        certified.certificate.check(net),
        best,
        best.found,
        verified,
        nm.compare(belief, "ei", domain, ["lbfgs", "bab"], y=X.sum(axis=1)),
        seen[-1],
        run.settings,
        net,
    )
    return {f"{place} {type(one).__name__}": one for place, one in enumerate(kinds)}


def differences(one: Any, two: Any, path: str) -> list[str]:
    """Return where two values differ, or where a copy can be written to and the value cannot."""
    if type(one) is not type(two):
        return [f"{path}: {type(one)} and {type(two)}"]
    if isinstance(one, np.ndarray):
        same = np.array_equal(one, two, equal_nan=True)
        return [] if same and one.flags.writeable >= two.flags.writeable else [path]
    if isinstance(one, Mapping):
        pairs = [(key, one[key], two.get(key)) for key in one] if len(one) == len(two) else []
        return [d for key, a, b in pairs for d in differences(a, b, f"{path}[{key!r}]")] or (
            [] if len(pairs) == len(one) else [path]
        )
    if isinstance(one, tuple | list):
        if len(one) != len(two):
            return [path]
        pairs = list(zip(range(len(one)), one, two, strict=True))
        return [d for place, a, b in pairs for d in differences(a, b, f"{path}[{place}]")]
    if isinstance(one, nm.BayesianOptimizer):
        return differences((one.history, one.suggestions), (two.history, two.suggestions), path)
    if is_dataclass(one):
        # What is not compared is left behind, such as the model that explains a suggestion.
        names = [entry.name for entry in fields(one) if entry.compare]
        pairs = [(name, getattr(one, name), getattr(two, name)) for name in names]
        return [d for name, a, b in pairs for d in differences(a, b, f"{path}.{name}")]
    if type(one).__eq__ is object.__eq__:
        pairs = [(name, vars(one)[name], vars(two)[name]) for name in getattr(one, "__dict__", ())]
        return [d for name, a, b in pairs for d in differences(a, b, f"{path}.{name}")]
    return [] if one == two or (one != one and two != two) else [f"{path}: {one!r}, {two!r}"]


@pytest.mark.parametrize("way", COPIES)
def test_copies_say_the_same_and_stay_read_only(results: dict[str, Any], way: str) -> None:
    classes = {type(one) for one in results.values()}
    assert all(getattr(nm, name) in classes for name in nm.__all__ if name.endswith("Result"))
    for name, one in results.items():
        again = COPIES[way](one)
        assert again is not one
        assert differences(one, again, name) == []
        assert str(again) == str(one)
        if is_dataclass(one):
            with pytest.raises(FrozenInstanceError):
                setattr(again, fields(one)[0].name, None)


def test_counters_and_points_of_a_copy_cannot_be_written_to(results: dict[str, Any]) -> None:
    suggestion = next(one for one in results.values() if isinstance(one, nm.Suggestion))
    again = pickle.loads(pickle.dumps(suggestion))
    with pytest.raises(TypeError):
        again.counters["boxes"] = 0
    for point in (again.x, again.region.lower, again.proposal.x):
        with pytest.raises(ValueError, match="read-only"):
            point[0] = 0.0
    assert again.check() == "confirmed"


@pytest.mark.parametrize("way", COPIES)
def test_a_copied_optimizer_goes_on_alike_and_alone(way: str) -> None:
    run = optimizer(steps=9)
    advance(run, 5)
    again = COPIES[way](run)
    assert figures(again.ask()) == figures(run.ask())
    again.tell(again.pending[0], 1.0)
    assert (len(again.history), len(run.history)) == (6, 5)


def test_a_copy_shares_the_journal(tmp_path: Path) -> None:
    run = optimizer(steps=9, journal=tmp_path / "run.db")
    again = pickle.loads(pickle.dumps(run))
    again.tell([100.0, -2.0], 1.0)
    run.tell([100.5, -2.0], 2.0)
    assert [told.y for told in run.history] == [1.0, 2.0]


def seeded_run(seed: int) -> nm.OptimizeResult:
    return nm.optimize(bowl, BOX, 5, **QUICK, seed=seed)


def test_a_pool_of_processes_returns_results() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        result = next(iter(pool.map(seeded_run, [3])))
    here = seeded_run(3)
    assert (result.fun, result.x.tolist()) == (here.fun, here.x.tolist())
    assert figures(result.steps[-1]) == figures(here.steps[-1])
