"""The public door: what it answers, accepts and refuses."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds

import nnbo_mip as nm
from nnbo_mip.core.control import interruptible
from nnbo_mip.exact import methods
from nnbo_mip.exact.backends import get_backend
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.options import EngineOptions
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.testing.backend_contract import network
from tests.exact.backends.extras import GUROBI, SCIP
from tests.exact.claims import certified, tent, two_outputs

METHODS = sorted(methods.METHODS)
DETERMINISTIC = sorted(set(METHODS) - {"mip"})


def random_network(seed: int, sizes: tuple[int, ...]) -> nm.Network:
    rng = np.random.default_rng(seed)
    shapes = zip(sizes[1:], sizes[:-1], strict=True)
    return nm.Network.from_layers([(rng.normal(size=s), rng.normal(size=s[0])) for s in shapes])


# -- answers ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_maximum_is_found_and_proven(method: str) -> None:
    result = certified(method=method)
    assert result.status == "optimal"
    assert result.value == 1.5
    np.testing.assert_array_equal(result.x, [3.0])
    assert 1.5 <= result.bound <= 1.5 + 1.6e-4
    assert result.gap == result.bound - result.value
    if method == "mip":
        assert (result.kind, result.engine) == ("solver", "mip")
        assert result.certificate.solver == "highs"
        assert result.certificate.solver_version == version("highspy")
    else:
        assert result.kind == "rigorous"


@pytest.mark.parametrize("method", METHODS)
def test_minimizing_bounds_from_below(method: str) -> None:
    result = certified(direction="minimize", method=method)
    assert (result.status, result.value) == ("optimal", -2.5)
    np.testing.assert_array_equal(result.x, [7.0])
    assert -2.5 - 2.6e-4 <= result.bound <= -2.5
    assert result.gap == result.value - result.bound


def test_minimizing_is_maximizing_the_negative() -> None:
    network = random_network(5, (2, 9, 7, 1))
    space = [(-1.0, 0.5), (2.0, 3.0)]
    low = nm.certify(network, space, direction="minimize", method="boxes")
    high = nm.certify(network.negated(), space, method="boxes")
    assert (low.value, low.bound) == (-high.value, -high.bound)


def test_the_value_is_the_forward_pass_at_x() -> None:
    network = random_network(6, (3, 16, 16, 1))
    result = nm.certify(network, [(-1.0, 2.0)] * 3, method="boxes")
    assert result.value == float(network.evaluate(result.x)[0, 0])


@pytest.mark.parametrize(
    ("output", "lowest", "highest"),
    [
        ("low", -4.0, 1.5),
        ("high", 1.0, 6.0),
        (1, 1.0, 6.0),
        ({"low": 2.0, "high": 1.0}, -5.0, 6.5),
        ({"high": -0.5}, -3.0, -0.5),
    ],
)
def test_outputs_are_named_or_weighed(output: Any, lowest: float, highest: float) -> None:
    network, space = two_outputs(), [(-1.0, 2.0), (0.5, 3.0)]
    high = nm.certify(network, space, output=output, method="boxes")
    low = nm.certify(network, space, output=output, direction="minimize", method="boxes")
    assert high.value == pytest.approx(highest, abs=1e-3)
    assert low.value == pytest.approx(lowest, abs=1e-3)
    assert high.bound >= highest
    assert low.bound <= lowest


def test_named_dimensions_are_answered_by_name() -> None:
    network = random_network(4, (5, 8, 8, 1))
    space = nm.Space(
        [
            nm.Real("a", -1.5, 0.5),
            nm.Integer("n", -2, 4),
            nm.Categorical("kind", ["red", "green", "blue"]),
        ],
        [nm.LinearConstraint({"a": 2.0, "n": 1.0, ("kind", "red"): 1.0}, "<=", 1.5)],
    )
    result = nm.certify(network, space, method="boxes")
    assert set(result.x) == {"a", "n", "kind"}
    assert isinstance(result.x["n"], int)
    raw = space.to_numeric(result.x)
    assert space.numeric().admissible(raw)[0]
    assert network.evaluate(raw)[0, 0] == result.value
    assert tuple(raw[0]) == result.certificate.x
    exhaustive = [
        network.evaluate(np.column_stack([a, np.full(len(a), n), *np.tile(hot, (len(a), 1)).T]))[
            2.0 * a + n + hot[0] <= 1.5
        ]
        for a in [np.linspace(-1.5, 0.5, 4001)]
        for n in range(-2, 5)
        for hot in np.eye(3)
    ]
    best = max(float(values.max()) for values in exhaustive if len(values))
    assert best <= result.bound
    assert result.value >= best - 1e-3


@pytest.mark.parametrize(
    "space",
    [
        nm.Space.box([1.0], [7.0]),
        nm.Domain([1.0], [7.0]),
        [(1.0, 7.0)],
        {"x": (1.0, 7.0)},
        Bounds(1.0, 7.0),
        nm.Space([nm.Real("x", 1.0, 7.0)]),
    ],
)
def test_a_space_comes_in_many_forms(space: Any) -> None:
    result = nm.certify(tent(), space, method="boxes")
    assert result.value == 1.5
    assert result.certificate.check(tent(), space).confirmed


def test_a_network_may_be_a_file(tmp_path: Path) -> None:
    for ending in ("npz", "json"):
        path = tmp_path / f"tent.{ending}"
        tent().save(path)
        assert nm.certify(path, [(1.0, 7.0)], method="boxes").value == 1.5
        assert nm.certify(str(path), [(1.0, 7.0)], method="boxes").value == 1.5


def test_a_point_is_a_space_too() -> None:
    result = nm.certify(tent(), [(2.5, 2.5)], method="boxes")
    assert (result.status, result.value) == ("optimal", 1.0)


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_space_is_infeasible_with_the_reason(method: str) -> None:
    space = nm.Space(
        [nm.Real("a", 1.0, 2.0), nm.Real("b", 0.5, 4.0)],
        [nm.LinearConstraint({"a": 3.0, "b": 1.0}, ">=", 10.1)],
    )
    result = nm.certify(random_network(1, (2, 3, 1)), space, method=method)
    assert result.status == "infeasible"
    assert result.x is None
    assert (result.value, result.bound) == (-math.inf, -math.inf)
    assert math.isnan(result.gap)
    assert "10.1" in result.message
    assert "infeasible" in str(result)
    assert result.certificate.check(random_network(1, (2, 3, 1))).confirmed


@pytest.mark.parametrize("solver", ["cbc", SCIP, GUROBI, "pyomo:highs"])
def test_every_solver_certifies(solver: str) -> None:
    result = certified(method="mip", solver=solver)
    assert (result.status, result.value, result.kind) == ("optimal", 1.5, "solver")
    assert result.certificate.check(tent()).confirmed
    claims = not get_backend(solver).proves
    assert (f"{solver} is a claimant: its points count" in result.message) is claims
    assert (result.certificate.solver == "highs") is claims


def test_a_large_gap_that_is_closed_says_why() -> None:
    box = nm.Space.box([-3.0, -3.0], [3.0, 3.0])
    result = nm.certify(network(1.0), box, method="boxes", gap=0.01)
    assert 0.01 < result.gap <= 0.01 * abs(result.value)
    assert "agree within the gap of 0.01 times |value|." in result.message
    point = nm.certify(network(1.0), nm.Space.box([1.0, 1.0], [1.0, 1.0]), gap=0.01)
    assert "agree within the gap of 0.01." in point.message


@pytest.mark.parametrize("formulation", ["bigm", "partition"])
def test_every_formulation_certifies(formulation: str) -> None:
    assert certified(method="mip", formulation=formulation).status == "optimal"


def test_the_naive_formulation_never_certifies() -> None:
    with pytest.warns(nm.UncertifiedWarning, match="never certifies"):
        result = certified(method="mip", formulation="naive")
    assert (result.status, result.bound) == ("heuristic", math.inf)


@pytest.mark.parametrize("method", ["auto", "bab", "boxes", "phases", "mip"])
def test_no_time_at_all_still_leaves_a_value_and_a_bound(method: str) -> None:
    network = random_network(2, (14, 60, 60, 1))
    result = nm.certify(network, [(-1.0, 2.0)] * 14, method=method, time_limit=1e-6)
    assert result.status == "feasible"
    assert -math.inf < result.value < result.bound < math.inf
    assert result.certificate.check(network, time_limit=5.0).confirmed


def test_time_over_leaves_a_value_and_a_bound() -> None:
    network = random_network(2, (14, 60, 60, 1))
    result = nm.certify(network, [(-1.0, 2.0)] * 14, method="boxes", time_limit=0.3)
    assert result.status == "feasible"
    assert math.isfinite(result.value)
    assert result.value < result.bound < math.inf
    assert "time limit" in result.message


@pytest.mark.parametrize("method", DETERMINISTIC)
def test_the_same_seed_gives_the_same_answer(method: str) -> None:
    network = random_network(7, (2, 12, 1))
    first, second = (
        nm.certify(network, [(-1.0, 0.75)] * 2, method=method, seed=3) for _ in range(2)
    )
    np.testing.assert_array_equal(first.x, second.x)
    assert (first.value, first.bound) == (second.value, second.bound)


def test_print_and_repr_say_what_matters() -> None:
    result = certified()
    for text in (str(result), repr(result)):
        for part in ("1.5", repr(result.bound), f"{result.gap:.3g}", "optimal", "boxes"):
            assert part in text
    assert " s (" in str(result)
    minimal = str(certified(direction="minimize"))
    assert minimal.startswith("minimum -2.5 at x = [7]")
    assert "f >= " in minimal


def test_the_result_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        certified().value = 2.0  # type: ignore[misc]


# -- refusals ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"space": [(7.0, 1.0)]}, "lower must be <= upper"),
        ({"space": [(1.0, math.inf)]}, "finite"),
        ({"space": [(math.nan, 1.0)]}, "finite"),
        ({"space": [(1.0, 7.0), (2.0, 3.0)]}, "reads 1 inputs"),
        ({"space": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])}, r"bounds\.T"),
        ({"space": None}, "space must be given"),
        ({"network": 3}, "Network"),
        ({"network": "missing.onnx"}, "exists"),
        ({"network": __file__}, "ends in .onnx"),
        ({"direction": "maximise"}, "did you mean 'maximize'"),
        ({"method": "boxs"}, "auto, bab, boxes.*did you mean 'boxes'"),
        ({"method": 3}, "method must be one of"),
        ({"solver": "high"}, "cbc, gurobi, highs, .*did you mean 'highs'"),
        ({"solver": None}, "solver must be one of"),
        ({"method": "mip", "formulation": "big-m"}, "did you mean 'bigm'"),
        ({"formulation": "nonsense"}, "formulation must be one of bigm, .*got 'nonsense'"),
        ({"method": "auto", "formulation": "nonsense"}, "formulation must be one of"),
        ({"gap": -1e-9}, "gap must be >= 0"),
        ({"gap": math.inf}, "finite"),
        ({"gap": math.nan}, "gap must be a number"),
        ({"gap": "small"}, "gap must be a number"),
        ({"time_limit": 0}, "time_limit must be > 0"),
        ({"time_limit": True}, "time_limit must be a number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": 0.5}, "seed must be a whole number"),
        ({"progress": "line"}, "progress must be"),
        ({"output": "z"}, "output must be one of y"),
        ({"output": 1}, "output must name"),
        ({"output": 1.5}, "output must be a name"),
        ({"output": True}, "output must be a name, an index or .* got True; the names are y"),
        ({"output": {}}, "at least one"),
        ({"output": {"y": math.inf}}, "finite"),
        ({"output": {"y": "1"}}, "weight of 'y' must be a number"),
        ({"output": {"z": 1.0}}, "an output must be one of y"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    call = {"network": tent(), "space": [(1.0, 7.0)], "method": "boxes", **arguments}
    with pytest.raises(nm.InputError, match=sentence):
        nm.certify(call.pop("network"), call.pop("space"), **call)


def test_several_outputs_need_a_choice() -> None:
    with pytest.raises(nm.InputError, match="low, high"):
        nm.certify(two_outputs(), [(-1.0, 2.0), (0.5, 3.0)])


def test_what_is_no_model_is_told_what_one_is() -> None:
    with pytest.raises(nm.InputError, match="a model of torch or scikit-learn; got a list"):
        nm.certify([1.0], [(1.0, 7.0)])


# -- engines that misbehave -------------------------------------------------------------


def test_a_broken_solver_leaves_a_value_and_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(problem: Problem, choices: EngineOptions, monitor: Monitor) -> SearchResult:
        raise nm.SolverError("it crashed; report it.")

    monkeypatch.setitem(methods.METHODS, "mip", crash)
    result = certified(method="mip")
    assert result.value == 1.5
    assert 1.5 <= result.bound < 3.0
    assert "it crashed" in result.message


def fake(monkeypatch: pytest.MonkeyPatch, **answer: Any) -> None:
    def engine(problem: Problem, choices: EngineOptions, monitor: Monitor) -> SearchResult:
        monitor.offer(np.array([[2.75]]))
        fields: dict[str, Any] = {
            "x": monitor.best_x,
            "value": monitor.best_value,
            "bound": math.inf,
            "kind": "none",
            "status": "heuristic",
            "proof": Proof("fake"),
            **answer,
        }
        return SearchResult(**fields)

    monkeypatch.setitem(methods.METHODS, "boxes", engine)


def test_an_engine_without_a_proof_is_helped_out(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch)
    result = certified()
    assert (result.status, result.kind, result.value) == ("feasible", "rigorous", 1.25)
    assert 1.5 <= result.bound < 6.0
    assert result.certificate.check(tent()).confirmed


def test_infeasible_is_not_believed_beside_an_admissible_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake(monkeypatch, status="infeasible", bound=-math.inf, kind="solver")
    result = certified()
    assert (result.status, result.value, result.bound) == ("heuristic", 1.25, math.inf)
    assert "none was proven" in str(result)


def test_optimal_is_computed_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, status="optimal", bound=1.75, kind="solver")
    result = certified()
    assert (result.status, result.gap, result.kind) == ("feasible", 0.5, "solver")


# -- progress and interruption ----------------------------------------------------------

SLOW = {"method": "boxes", "time_limit": 1.0}


def slow_problem() -> tuple[nm.Network, list[tuple[float, float]]]:
    return random_network(2, (14, 60, 60, 1)), [(-1.0, 2.0)] * 14


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_progress_is_reported_in_the_users_direction(direction: Any) -> None:
    seen: list[nm.Progress] = []
    network, space = slow_problem()
    result = nm.certify(network, space, direction=direction, progress=seen.append, **SLOW)
    assert seen
    sign = 1.0 if direction == "maximize" else -1.0
    for progress in seen:
        assert sign * progress.value <= sign * progress.bound
        assert progress.seconds >= 0.0
        assert progress.remaining <= 1.0
        assert progress.counters["boxes"] > 0
    assert sign * seen[-1].value <= sign * result.value


def test_plain_lines_are_written_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    network, space = slow_problem()
    nm.certify(network, space, progress="live", **SLOW)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1  # one every few seconds
    for part in ("boxes", "value", "bound", "absolute gap", "left"):
        assert part in lines[0]


def test_a_terminal_gets_a_live_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    network, space = slow_problem()
    nm.certify(network, space, direction="minimize", progress=True, **SLOW)
    assert "bound" in capsys.readouterr().err


def test_ctrl_c_returns_the_best_so_far() -> None:
    script = """
import numpy as np, nnbo_mip as nm, signal
from tests.exact.test_certify import slow_problem
network, space = slow_problem()
seen = []
def tell(progress):
    if not seen:
        print("running", flush=True)
    seen.append(progress)
before = signal.getsignal(signal.SIGINT)
result = nm.certify(network, space, method="boxes", time_limit=300.0, progress=tell)
assert signal.getsignal(signal.SIGINT) is before
print(result.status, result.value, result.bound, result.message, sep="|")
print(result.certificate.check(network, time_limit=1.0).refuted)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    started = time.perf_counter()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert time.perf_counter() - started < 30.0
    status, value, bound, message = output.splitlines()[0].split("|")
    assert status == "feasible"
    assert float(value) < float(bound) < math.inf
    assert "interrupted" in message
    assert output.splitlines()[1] == "False"


def test_a_second_ctrl_c_stops_at_once() -> None:
    problem = Problem(tent(), nm.Domain([1.0], [7.0]))
    monitor = Monitor(problem, 1e-4)
    before = signal.getsignal(signal.SIGINT)
    with interruptible(monitor.interrupt):
        signal.raise_signal(signal.SIGINT)
        assert monitor.interrupted
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_leave_signals_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    results: list[nm.CertifyResult] = []
    thread = threading.Thread(target=lambda: results.append(certified()))
    thread.start()
    thread.join()
    assert results[0].value == 1.5
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("method", ["auto", "mip", "boxes"])
def test_weights_beyond_float64_are_refused(method):
    wild = nm.Network.from_layers([([[1e200], [-1e200]], [0.5, 1.0]), ([[1e200, -1e200]], [0.0])])
    with pytest.raises(nm.InputError, match=r"stay below 1e\+120 .* rescale"):
        nm.certify(wild, [(-0.5, 2.0)], method=method)
