"""`certify(..., threshold=t)`: every engine ends where the question is decided, and says how."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.certify import certify
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain

METHODS = ("auto", "bab", "boxes", "phases", "enumerate", "mip")


def _network(seed: int = 0, inputs: int = 2) -> Network:
    rng = np.random.default_rng(seed)
    layers = [
        (rng.normal(size=(8, inputs)), rng.normal(size=8)),
        (rng.normal(size=(6, 8)), rng.normal(size=6)),
        (rng.normal(size=(1, 6)), [0.0]),
    ]
    return Network.from_layers(layers)


BOX = [(-1.0, 1.0), (-1.0, 1.0)]


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("method", METHODS)
def test_both_sides_of_the_optimum_are_decided(method: str, direction: str) -> None:
    net, sign = _network(), 1.0 if direction == "maximize" else -1.0
    best = certify(net, BOX, direction=direction, gap=1e-9).value
    for offset in (1e-3, 0.5, 100.0):
        kept = certify(net, BOX, direction=direction, method=method, threshold=best + sign * offset)
        assert kept.decided == "holds"
        assert sign * kept.bound <= sign * (best + sign * offset)
        found = certify(
            net, BOX, direction=direction, method=method, threshold=best - sign * offset
        )
        assert found.decided == "violated"
        assert sign * found.value > sign * (best - sign * offset)
        assert found.status in ("feasible", "optimal")
        assert not found.time_limited
        for result in (kept, found):
            assert result.certificate.check(net) == "confirmed"


@pytest.mark.parametrize("method", ["boxes", "phases"])
def test_the_cut_off_saves_work(method: str) -> None:
    net = _network(1, inputs=4)
    box = [(-1.0, 1.0)] * 4
    whole = certify(net, box, method=method)
    part = certify(net, box, method=method, threshold=whole.value + 1.0)
    counter = "boxes" if method == "boxes" else "nodes"
    assert part.decided == "holds"
    assert part.counters[counter] < whole.counters[counter]


def test_the_gap_does_not_end_a_search_that_has_to_decide() -> None:
    net = _network()
    best = certify(net, BOX, gap=1e-9).value
    near = certify(net, BOX, threshold=best + 1e-6, gap=1.0)
    assert near.decided == "holds"
    assert near.status == "optimal"  # the gap of 1 is closed as well, and that is said


def test_what_time_left_open_is_undecided() -> None:
    net = _network(2, inputs=6)
    box = [(-1.0, 1.0)] * 6
    best = certify(net, box, time_limit=0.5).value
    result = certify(net, box, threshold=best + 1e-7, time_limit=1e-9)
    assert result.decided == "undecided"
    assert "decided undecided" in str(result)


def test_without_a_threshold_nothing_is_decided() -> None:
    result = certify(_network(), BOX)
    assert result.decided is None
    assert result.certificate.threshold is None
    assert "threshold" not in result.certificate.to_dict()


def test_the_threshold_is_kept_printed_and_guarded() -> None:
    net = _network()
    best = certify(net, BOX).value
    result = certify(net, BOX, threshold=best + 1.0)
    again = Certificate.from_json(result.certificate.to_json())
    assert again.decided == "holds"
    assert "decided holds: no admissible point scores above" in str(result)
    assert "decided holds" in str(again)
    content = json.loads(result.certificate.to_json())
    content["threshold"] = best - 1.0
    altered = Certificate.from_json(json.dumps(content))
    assert altered.check(net) == "refuted"
    content["threshold"] = "inf"
    with pytest.raises(FileFormatError, match="threshold of a certificate must be a float64"):
        Certificate.from_json(json.dumps(content))


@pytest.mark.parametrize("threshold", [math.inf, math.nan, "3", True])
def test_thresholds_that_are_none_are_refused(threshold: object) -> None:
    with pytest.raises(InputError, match=r"^threshold must be .*; got .*;"):
        certify(_network(), BOX, threshold=threshold)  # type: ignore[arg-type]


def test_an_empty_space_holds_and_says_so() -> None:
    domain = Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 1.0]], b=[-3.0])
    result = certify(_network(), domain, threshold=0.0)
    assert (result.status, result.decided) == ("infeasible", "holds")
    assert "no point is admissible" in str(result)


def test_a_monitor_stops_above_its_threshold_and_only_there() -> None:
    problem = Problem(_network(), Domain([-1.0, -1.0], [1.0, 1.0]))
    value = problem.value([0.5, 0.5])
    monitor = Monitor(problem, 1e-4, threshold=value)
    monitor.offer(np.array([[0.5, 0.5]]))
    assert not monitor.should_stop()  # equal is not above
    assert monitor.cutoff == value
    assert monitor.settles(value)
    assert not monitor.settles(np.nextafter(value, np.inf))
    above = Monitor(problem, 1e-4, threshold=float(np.nextafter(value, -np.inf)))
    above.offer(np.array([[0.5, 0.5]]))
    assert above.exceeded
    assert above.should_stop()
