"""What guards against scipydirect's defects, with a stand-in for it where it is not built."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.maximizers import Request, Target
from nnbo_mip.maximizers.heuristics.scipydirect import UNBUFFERED, _Guarded
from nnbo_mip.testing.analytic_belief import AnalyticBelief

SQUARE = nm.Domain([-1.0, -1.0], [1.0, 3.0])


class Wicked(SimpleNamespace):
    """A package with all the defects at once."""

    direct = object()

    @staticmethod
    def minimize(func: Any, bounds: Any, maxf: int, maxT: int, algmethod: int) -> Any:
        os.write(1, b"WARNING: chatter\n")
        assert maxT == 6000
        assert algmethod in (0, 1)
        rng = np.random.default_rng(algmethod)
        for _ in range(maxf + 50):  # more than it was allowed
            try:
                func(rng.random(len(bounds)))
            except BaseException:  # what an objective raises is lost
                os.abort()
        return SimpleNamespace(x=np.full(len(bounds), 0.5), fun=0.0, status=-6, success=False)


def target(belief: Any = None) -> Target:
    scorer = nm.acquisitions.create("ucb").scorer(belief or AnalyticBelief())
    return Target(scorer, SQUARE)


@pytest.fixture
def wicked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipydirect", Wicked())


def test_without_the_package_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipydirect", None)
    assert "scipydirect" in nm.maximizers.available()
    with pytest.raises(MissingExtraError, match="build_scipydirect"):
        nm.maximizers.create("scipydirect")
    monkeypatch.setitem(sys.modules, "scipydirect", SimpleNamespace(direct=None))
    with pytest.raises(MissingExtraError, match="compiled"):
        nm.maximizers.create("scipydirect")


@pytest.mark.usefixtures("wicked")
def test_its_answer_is_not_read_its_budget_is_kept_and_it_is_not_heard(capfd: Any) -> None:
    before = os.environ.get(UNBUFFERED)
    made = nm.maximizers.create("scipydirect", evaluations=300)
    proposal = made.maximize(target(), Request())
    points = np.array([-1.0, -1.0]) + np.random.default_rng(1).random((300, 2)) * [2.0, 4.0]
    scores = target().score(points)
    assert proposal.evaluations == 300
    assert proposal.x is not None
    np.testing.assert_allclose(proposal.x, points[scores.argmax()], atol=1e-12)
    assert capfd.readouterr().out == ""
    assert os.environ.get(UNBUFFERED) == before


@pytest.mark.usefixtures("wicked")
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_what_a_belief_raises_reaches_the_caller(kind: type[BaseException]) -> None:
    class Broken(AnalyticBelief):
        def predict(self, X: Any, return_std: bool = False) -> Any:
            raise kind("broken")

    with pytest.raises(kind, match="broken"):
        nm.maximizers.create("scipydirect").maximize(target(Broken()), Request())


@pytest.mark.usefixtures("wicked")
@pytest.mark.parametrize("options", [{"evaluations": 90_001}, {"iterations": 6001}])
def test_more_than_its_arrays_hold_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(InputError, match="90000 evaluations"):
        nm.maximizers.create("scipydirect", **options)


def test_a_guarded_objective_rises_after_the_first_exception() -> None:
    calls: list[float] = []

    def function(place: np.ndarray) -> float:
        calls.append(float(place[0]))
        if len(calls) == 3:
            raise ValueError("third")
        return 5.0 if len(calls) == 1 else np.inf

    guarded = _Guarded(function)
    values = [guarded(np.array([k / 10.0])) for k in range(6)]
    assert values[0] == 5.0
    assert len(calls) == 3
    assert np.isfinite(values).all()
    assert (np.diff(values) > 0.0).all()
    assert isinstance(guarded.raised, ValueError)
