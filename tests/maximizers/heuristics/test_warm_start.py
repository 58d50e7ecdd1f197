"""An exact search that cannot close has at least the point that ascents find."""

from __future__ import annotations

import math
import signal
import threading
import time

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.maximizers import exact
from nnbo_mip.maximizers.exact import ASCENTS, FEWEST_INPUTS


def learned(d: int, family: str = "gp") -> tuple[nm.surrogates.Belief, np.ndarray, nm.Domain]:
    """Return a belief about a function of d inputs, its best points, and their domain."""
    problem = nm.problems.create(f"ackley:dimension={d},lower=-5,upper=10")
    domain = problem.space.model()
    X = domain.sample(25, np.random.default_rng(1))
    y = -problem.truth(problem.space.decode(X))
    return nm.surrogates.create(family, seed=0).fit(X, y), X[np.argsort(-y)[:5]], domain


@pytest.mark.parametrize(
    ("family", "d"), [("gp", 100), ("brvfl:n_hidden=30", 20), ("deep_ensemble:epochs=50", 20)]
)
def test_many_inputs_are_ascended_first(
    family: str, d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "SHARE", math.inf)  # however busy the machine is
    belief, best, domain = learned(d, family)
    asked = {"starts": best, "seed": 3}
    ahead = nm.maximize(belief, "ucb", domain, maximizer=ASCENTS, **asked)
    proposal = nm.maximize(belief, "ucb", domain, maximizer="bab", time_limit=1.0, **asked)
    assert proposal.status == "feasible"
    assert proposal.value >= ahead.value - 1e-9 * abs(ahead.value)
    assert proposal.bound >= proposal.value
    assert proposal.evaluations > ahead.evaluations


def test_few_inputs_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    belief, best, domain = learned(FEWEST_INPUTS - 1)
    before = nm.maximize(belief, "ucb", domain, starts=best)
    monkeypatch.setattr(exact, "warm_start", lambda *_: None)
    after = nm.maximize(belief, "ucb", domain, starts=best)
    assert (before.x == after.x).all()  # type: ignore[union-attr]
    assert before.evaluations == after.evaluations


def test_what_is_closed_has_the_same_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    belief, best, domain = learned(FEWEST_INPUTS, "nomu:hidden=(8,),epochs=100")
    warm = nm.maximize(belief, "ucb", domain, starts=best)
    monkeypatch.setattr(exact, "warm_start", lambda *_: None)
    cold = nm.maximize(belief, "ucb", domain, starts=best)
    assert warm.status == cold.status == "optimal"
    assert warm.value == pytest.approx(cold.value, abs=2e-4 * max(1.0, abs(cold.value)))
    assert warm.bound >= cold.value
    assert cold.bound >= warm.value


def test_without_gradients_or_points_there_is_no_ascent() -> None:
    belief, best, domain = learned(6, "nomu:hidden=(8,),epochs=50")
    kept = domain.away_from(np.zeros((1, 6)), 0.5)
    proposal = nm.maximize(belief, "ucb", kept, starts=best, maximizer="bab", time_limit=5.0)
    assert proposal.x is not None
    assert np.abs(proposal.x).max() >= 0.5
    rows = nm.Space.box(
        [0.0] * 6, [1.0] * 6, [nm.LinearConstraint({f"x{j}": 1.0 for j in range(6)}, "<=", 1.0)]
    ).model()
    under = nm.maximize(belief, "ucb", rows, maximizer="bab", time_limit=5.0)
    assert under.x is not None
    assert rows.admissible(under.x[None])[0]


def test_ctrl_c_during_the_ascents_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    belief, best, domain = learned(20)
    kind = type(belief)
    score = kind.differentiate

    def slow(self: nm.surrogates.Belief, X: np.ndarray) -> object:
        time.sleep(0.2)
        return score(self, X)

    monkeypatch.setattr(kind, "differentiate", slow)
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    started = time.perf_counter()
    proposal = nm.maximize(belief, "ucb", domain, starts=best, maximizer="bab", time_limit=60.0)
    assert time.perf_counter() - started < 20.0
    assert proposal.x is not None
    assert proposal.time_limited
