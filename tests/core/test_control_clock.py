"""Limits of time by another clock than that of the wall."""

from __future__ import annotations

import time

import pytest

import nnbo_mip as nm
from nnbo_mip.core.control import kept_by, now
from nnbo_mip.network.graph.graph import Network


def test_the_clock_is_that_of_the_wall_unless_another_was_chosen() -> None:
    before = time.perf_counter()
    assert before <= now() <= time.perf_counter()
    with kept_by(lambda: 7.0):
        assert now() == 7.0
    with pytest.raises(KeyError), kept_by(lambda: 8.0):
        raise KeyError
    assert now() >= before


def test_a_search_ends_when_the_chosen_clock_says_so() -> None:
    network = Network.from_layers([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    ticks = iter(range(10**9))
    with kept_by(lambda: float(next(ticks))):
        stopped = nm.certify(network, [(-1.0, 1.0)], time_limit=0.5)
    whole = nm.certify(network, [(-1.0, 1.0)], time_limit=60.0)
    assert (stopped.time_limited, whole.time_limited) == (True, False)
    assert whole.status == "optimal"
