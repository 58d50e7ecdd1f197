from __future__ import annotations

import math

import numpy as np

from benchmarks.certify.cases import Case
from benchmarks.open_bounds import Snapshot, known_at, run, table
from tests.exact.random_problems import random_problem

TRACE = [Snapshot(0.5, 1.0, None), Snapshot(1.5, 2.0, 9.0), Snapshot(2.4, 2.0, 7.0)]


def test_what_is_known_at_a_limit_was_reported_until_then():
    assert known_at(TRACE, 1.0, last=False) == (1.0, math.inf)
    assert known_at(TRACE, 2.0, last=False) == (2.0, 9.0)
    assert known_at(TRACE, 2.0, last=True) == (2.0, 7.0)


def test_the_table_names_the_best_value_and_every_bound():
    traces = {("net", "boxes"): TRACE, ("net", "phases"): [Snapshot(0.1, 2.5, 4.25)]}
    first, second = table(traces, ["boxes", "phases"], [1.0, 2.0]).splitlines()[2:]
    assert first == "| net | 2.5 | 1 | - | 4.25 |"
    assert second == "| | | 2 | 7 | 4.25 |"


def test_a_run_ends_with_a_bound_and_a_value_of_the_network():
    problem = random_problem(14, 3, (9, 7))
    case = Case("random", problem.network, problem.domain.lower, problem.domain.upper)
    last = run(case, "boxes", limit=60.0)[-1]
    points = problem.domain.sample(1000, np.random.default_rng(0))
    assert problem.values(points).max() <= last.bound
    assert last.value <= last.bound <= last.value + 1e-4 * max(1.0, abs(last.value))
