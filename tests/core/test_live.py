"""What is said while a search runs, and while none does."""

from __future__ import annotations

import math
import runpy
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import nnbo_mip as nm
from nnbo_mip.core import live
from nnbo_mip.core.control import Progress
from nnbo_mip.core.live import Ticking, describe
from nnbo_mip.exact.search.monitor import COMPILING, Monitor
from nnbo_mip.exact.search.problem import Problem
from tests.exact.claims import tent


def progress(**changes: Any) -> Progress:
    given = {"engine": "boxes", "value": -250.0, "bound": -249.5, "seconds": 3.0, "remaining": 9.0}
    return Progress(**{**given, "counters": {"boxes": 1200}, **changes})


@pytest.mark.parametrize(
    ("maximize", "shown"), [(True, "value -250  bound -249.5"), (False, "value 250  bound 249.5")]
)
def test_the_line_shows_the_gap_of_the_result(maximize: bool, shown: str) -> None:
    line = describe(progress(), maximize=maximize)
    assert shown in line
    assert "absolute gap 0.5 " in line
    assert line.endswith("3 s  9 s left  1,200 boxes")


def test_an_unknown_bound_leaves_the_gap_open() -> None:
    line = describe(progress(bound=math.inf, remaining=math.inf), maximize=True)
    assert "bound none  gap open" in line
    assert "left" not in line


def test_the_last_gap_reported_is_in_the_units_of_the_result() -> None:
    seen: list[nm.Progress] = []
    net = nm.Network.from_layers([([[300.0], [300.0]], [-1.0, -2.0]), ([[1.0, 1.0]], [0.0])])
    result = nm.certify(net, [(-1.0, 2.0)], method="mip", gap=0.0, progress=seen.append)
    assert result.value > 1000.0
    for entry in seen:
        assert entry.gap == abs(entry.bound - entry.value)


def test_the_clock_goes_on_between_two_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 100.0, 102.5, 120.0])
    monkeypatch.setattr(live.time, "perf_counter", lambda: next(clock))
    ticking = Ticking(maximize=True)
    ticking.receive(progress())
    assert ticking.line().endswith("6 s  6 s left  1,200 boxes")  # 2.5 s later
    assert ticking.line().endswith("23 s  0 s left  1,200 boxes")


def test_before_the_first_report_the_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 12.0])
    monkeypatch.setattr(live.time, "perf_counter", lambda: next(clock))
    assert Ticking(maximize=True).line() == "starting  2 s"


KERNEL = """
from nnbo_mip.core.compiled import compiled

@compiled()
def twice(x):
    return 2.0 * x
"""


def test_compilation_is_announced_and_loading_is_not(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL)
    notes = []
    for _ in range(2):  # compiled, then loaded from the disk
        seen: list[nm.Progress] = []
        monitor = Monitor(Problem(tent(), nm.Domain([1.0], [7.0])), 1e-4, 60.0, seen.append)
        with monitor.clock_stopped():
            assert runpy.run_path(str(path))["twice"](1.5) == 3.0
        notes.append([entry.note for entry in seen])
    assert notes == [[COMPILING], []]


def test_a_note_is_shown_with_a_clock_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with live.live_line(maximize=True) as show:
        show(progress())
        show(progress(engine="", note=COMPILING))
        show(progress())
        show(progress())
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["boxes", COMPILING, "boxes"]


def test_a_check_reports_what_it_settles_in_the_users_direction() -> None:
    rows = [[1.0, 0.5, -1.0], [-0.7, 1.0, 0.3], [0.2, -1.0, 1.0], [0.9, 0.1, -0.4]]
    net = nm.Network.from_layers([(rows, [0.1, -0.2, 0.3, 0.0]), ([[1.0, -1.0, 0.5, 2.0]], [0.0])])
    result = nm.certify(net, [(-1.0, 2.0)] * 3, direction="minimize")
    seen: list[nm.Progress] = []
    answer = result.certificate.check(net, progress=seen.append)
    assert answer.confirmed
    assert seen
    for entry in seen:
        assert entry.engine.startswith("check by ")
        assert entry.value == pytest.approx(result.value, abs=1e-9)
        assert entry.bound == result.bound
        assert 0 <= entry.counters["percent_settled"] <= 100


def test_a_check_shows_a_line_in_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from typer.testing import CliRunner

    from nnbo_mip.cli import check as command
    from nnbo_mip.cli.app import app

    tent().save(tmp_path / "tent.npz")
    nm.certify(tent(), [(1.0, 7.0)]).certificate.save(tmp_path / "claim.json")
    monkeypatch.setattr(command, "progress_shown", lambda: True)
    run = CliRunner().invoke(
        app, ["check", str(tmp_path / "claim.json"), str(tmp_path / "tent.npz")]
    )
    assert run.exit_code == 0
    assert "check by boxes" in run.stderr
    assert "percent settled" in run.stderr


def test_a_check_refuses_a_progress_that_cannot_be_called() -> None:
    certificate = nm.certify(tent(), [(1.0, 7.0)]).certificate
    with pytest.raises(nm.InputError, match="progress must be a callable"):
        certificate.check(tent(), progress=3)  # type: ignore[arg-type]


def test_lines_of_a_log_become_rarer() -> None:
    passed, lines = 0.0, 0
    while passed < 3600.0:
        passed, lines = passed + live.pause(passed), lines + 1
    assert 30 < lines < 80
    assert live.pause(0.0) == live.pause(30.0) == live.PLAIN_INTERVAL


def test_a_notebook_has_one_line_that_is_rewritten(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "in_notebook", lambda: True)
    monkeypatch.setattr(live, "REDRAWN_PER_SECOND", 100)
    numbers = iter(range(10**6))
    with live.redrawn(lambda: f"line {next(numbers)}"):
        time.sleep(0.2)
    said = capsys.readouterr().err
    assert "\n" not in said
    shown = [part.strip() for part in said.split("\r") if part.strip()]
    assert shown[:3] == ["line 0", "line 1", "line 2"]
    assert said.endswith("\r")
    assert not said.split("\r")[-2].strip()  # nothing of it is left


def test_what_is_no_notebook_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    class ZMQInteractiveShell:
        pass

    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not live.in_notebook()
    kernel = SimpleNamespace(get_ipython=ZMQInteractiveShell)
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    assert live.in_notebook()
