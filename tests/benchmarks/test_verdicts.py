from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from benchmarks.soundness.exact_value import exact_value
from benchmarks.soundness.nets import FuzzCase, draw
from benchmarks.soundness.verdicts import Oracle, Record, violations
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain

GAP = 1e-4


def case() -> FuzzCase:
    """f(x) = 3 relu(x1) - relu(x2) + 0.5 on [-1, 2] x [1, 5]: largest, 5.5, at (2, 1)."""
    network = Network.from_layers([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[3.0, -1.0]], [0.5])])
    return FuzzCase(0, network, Domain([-1.0, 1.0], [2.0, 5.0]), ())


def record(**changes) -> Record:
    facts = {"status": "optimal", "value": 5.5, "bound": 5.5, "x": [2.0, 1.0], **changes}
    return Record(0, "engine", **facts)


def test_true_claims_pass() -> None:
    records = [
        record(),
        record(status="feasible", bound=9.0, value=4.5, x=[2.0, 2.0]),
        record(status="heuristic", bound=float("inf")),
        record(status="unsupported", x=None),
    ]
    assert violations(case(), records, Oracle(Fraction(11, 2)), GAP) == {}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bound": 5.499999999999999}, "is below the maximum"),
        ({"value": 5.499999999999999}, "is not the forward pass"),
        ({"x": [2.0000000000000004, 1.0]}, "not admissible"),
        ({"x": [2.0, 1.0, 0.0]}, "not admissible"),
        ({"x": [float("nan"), 1.0]}, "not admissible"),
        ({"bound": 5.6}, "optimal with gap"),
        ({"value": 4.5, "x": [2.0, 2.0], "bound": 4.5}, "but the maximum is 5.5"),
        ({"status": "infeasible", "x": None, "value": -np.inf, "bound": -np.inf}, "infeasible"),
        ({"status": "heuristic"}, "heuristic with the bound"),
        ({"x": None}, "without a point"),
        ({"bound": float("nan")}, "nan"),
        ({"status": "error", "message": "boom"}, "raised boom"),
    ],
)
def test_false_claims_are_found(changes, reason) -> None:
    found = violations(case(), [record(**changes)], Oracle(Fraction(11, 2)), GAP)
    assert reason in " ".join(found["engine"])


def test_without_an_oracle_somebody_elses_point_refutes_a_bound() -> None:
    good = record()
    bad = Record(0, "other", "optimal", 4.5, 4.5, [2.0, 2.0])
    assert list(violations(case(), [good, bad], None, GAP)) == ["other"]


def test_a_point_of_an_empty_domain_is_a_violation() -> None:
    found = violations(case(), [record(x=[9.0, 9.0])], Oracle(None), GAP)
    assert "returned a point of an empty domain" in found["engine"]


def test_exact_value_does_not_round() -> None:
    network = Network.from_layers([([[1.0], [1.0]], [2.0**-60, -1.0]), ([[1.0, -1.0]], [0.0])])
    assert exact_value(network, np.array([1.0])) == 1 + Fraction(1, 2**60)
    assert network.evaluate([[1.0]])[0, 0] == 1.0


def test_fuzz_cases_are_functions_of_seed_and_index() -> None:
    first, again, other = draw(4, 7), draw(4, 7), draw(5, 7)
    assert first.network.fingerprint == again.network.fingerprint != other.network.fingerprint
    assert first.domain.fingerprint == again.domain.fingerprint


def test_fuzz_cases_cover_what_they_promise() -> None:
    cases = [draw(1, index) for index in range(300)]
    traits = {trait for case in cases for trait in case.traits}
    assert traits >= {
        "all-negative output",
        "categories",
        "constraints",
        "degenerate sides",
        "empty",
        "equality",
        "integer weights",
        "integers",
        "scaled",
        "skips",
        "subnormal weights",
    }
    assert {case.domain.dimension for case in cases} == {1, 2, 3, 4, 5, 6}
    assert {len(case.network.layers) for case in cases} == {1, 2, 3, 4}
    widths = [layer.width for case in cases for layer in case.network.layers]
    assert min(widths) == 1
    assert 20 < max(widths) <= 24


def test_the_oracle_is_judged_too() -> None:
    assert list(violations(case(), [record()], Oracle(Fraction(5)), GAP)) == ["oracle"]
    assert list(violations(case(), [record()], Oracle(None), GAP)) == ["oracle"]
