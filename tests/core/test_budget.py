"""Limits of memory and time: what is refused before it is begun, and what ends a search."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.budget import (
    GIB,
    Budget,
    as_memory_limit,
    budget_kept,
    current_budget,
    reserve,
    seconds_left,
)
from nnbo_mip.core.control import kept_by
from nnbo_mip.core.errors import InputError, LimitError

ROOT = Path(__file__).parents[2]


def test_without_a_search_nothing_is_refused() -> None:
    reserve("it", n_bytes=1e30, operations=1e30)
    assert current_budget() is None
    assert seconds_left() == math.inf


def test_memory_that_is_held_counts() -> None:
    with budget_kept(0.3) as budget:
        reserve("it", n_bytes=0.29 * GIB)
        held = np.ones(GIB // 40)  # 0.2 GiB
        assert 0.19 * GIB < budget.used < 0.3 * GIB
        with pytest.raises(LimitError, match=r"^it would need 0.3 GiB of memory, more than is le"):
            reserve("it", n_bytes=0.29 * GIB)
        assert not budget.is_full
        more = np.ones(GIB // 40)
        assert budget.is_full
        assert len(held) == len(more)
        reserve("something small", n_bytes=1e6)  # what ends a search must still be possible


def test_work_is_compared_with_the_time_that_is_left() -> None:
    moments = iter([0.0, 4.0, 4.0, 8.0, 8.0])
    with kept_by(lambda: next(moments)), budget_kept(1.0, 8.0):
        assert seconds_left() == 4.0
        reserve("it", operations=1.7e11)  # 4.25 s, and half a second more are allowed
        with pytest.raises(LimitError, match="it would take about 4 s, more than is left"):
            reserve("it", operations=1.7e11)
        assert 0.0 < seconds_left() < 0.01


def test_limits_are_numbers_above_zero() -> None:
    assert as_memory_limit(0.5) == 0.5
    assert as_memory_limit(math.inf) == math.inf
    for wrong in (0, -1.0, math.nan, "2 GiB", True):
        with pytest.raises(InputError, match="memory_limit must be"):
            as_memory_limit(wrong)


def _wide(n: int, d: int = 3) -> nm.Network:
    rng = np.random.default_rng(0)
    first = (rng.normal(size=(n, d)), rng.normal(size=n))
    return nm.Network.from_layers([first, (rng.normal(size=(1, n)) / n**0.5, [0.0])])


def test_an_engine_that_needs_too_much_is_not_begun_and_the_message_says_so() -> None:
    net, space = _wide(3000), [(-1.0, 1.0)] * 3
    result = nm.certify(net, space, method="phases", memory_limit=0.1)
    assert result.status == "feasible"
    assert np.isfinite(result.bound)
    assert "a dense system of" in result.message
    assert "memory_limit = 0.1 GiB" in result.message
    assert result.certificate.engine == "relaxation"


def test_auto_goes_on_without_the_engine_that_needs_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nnbo_mip.exact.bounds.flat.ARRAYS", 1_000_000)
    net, space = _wide(30, 10), [(-1.0, 1.0)] * 10
    result = nm.certify(net, space, method="bab", time_limit=3.0)
    assert "a dense system of" in result.message
    assert result.counters["boxes"] > 1


def test_a_search_that_has_filled_its_memory_ends_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = iter([False] * 3 + [True] * 1000)
    monkeypatch.setattr(Budget, "is_full", property(lambda self: next(looks)))
    monkeypatch.setattr("nnbo_mip.exact.search.monitor.MEMORY_INTERVAL", 0.0)
    result = nm.certify(_wide(200, 6), [(-1.0, 1.0)] * 6, method="boxes", time_limit=60.0)
    assert result.status == "feasible"
    assert result.seconds < 30.0
    assert "the memory limit was reached (memory_limit)" in result.message


def test_a_belief_that_needs_too_much_is_maximized_without_a_proof() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (8, 2))
    y = X.sum(axis=1)
    belief = nm.surrogates.create("elm", n_members=1500, n_hidden=3).fit(X, y)
    domain = nm.Space.box([-1.0] * 2, [1.0] * 2).model()
    with pytest.warns(nm.UncertifiedWarning, match="the spread of 1500 members would need"):
        found = nm.maximize(belief, "ei", domain, y=y, time_limit=2.0, memory_limit=0.1)
    assert found.status == "heuristic"
    with pytest.warns(nm.UncertifiedWarning, match=r"memory_limit = 0.05 GiB"):
        nm.maximize(belief, "ei", domain, y=y, time_limit=2.0, maximizer="auto:memory_limit=0.05")


def test_a_process_that_takes_too_long_to_prepare_is_not_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nnbo_mip.exact.heads.boxes.PRODUCTS_OF_PROCESS", 1e8)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (20, 2))
    y = X.sum(axis=1)
    belief = nm.surrogates.create("gp", n_restarts=0).fit(X, y)
    domain = nm.Space.box([-1.0] * 2, [1.0] * 2).model()
    with pytest.warns(nm.UncertifiedWarning, match="Gaussian process of 20 points would take ab"):
        nm.maximize(belief, "ei", domain, y=y, time_limit=5.0)
    assert nm.maximize(belief, "ei", domain, y=y, time_limit=40.0).status == "optimal"


TWENTY_THOUSAND = """
import resource, sys
import numpy as np
import nnbo_mip as nm
resource.setrlimit(resource.RLIMIT_AS, (5 << 30, 5 << 30))
rng = np.random.default_rng(0)
first = (rng.normal(size=(20000, 5)), rng.normal(size=20000))
net = nm.Network.from_layers([first, (rng.normal(size=(1, 20000)) / 141, [0.0])])
for method in ("phases", "auto", "mip"):
    found = nm.certify(net, [(-1, 1)] * 5, time_limit=2, method=method)
    print(method, found.status, np.isfinite(found.bound))
"""


def test_twenty_thousand_relus_stay_within_the_memory_that_there_is() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TWENTY_THOUSAND], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert [line.split()[1:] for line in done.stdout.splitlines()] == [["feasible", "True"]] * 3
