"""What the commands show while they work: a live line on a terminal, lines in a log."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import nnbo_mip as nm
from nnbo_mip.cli import stages as cli_stages
from nnbo_mip.cli.common import progress_shown
from nnbo_mip.cli.stages import Stages
from nnbo_mip.core import live
from nnbo_mip.core.control import Progress
from tests.exact.claims import tent
from tests.lab.reported import written


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time that clocks show, to be turned."""
    now = [100.0]
    for module in (cli_stages, live):
        monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])
    return now


def test_parts_have_numbers_and_time_left(clock: list[float]) -> None:
    stages = Stages(live=True)
    stages.begin_part("reading", 0, 4)
    clock[0] += 3.0
    assert stages.line() == "1/4 reading  3 s"
    stages.begin_part("branin", 1, 4)
    assert stages.line() == "2/4 branin  3 s  about 9 s left"
    clock[0] += 2.0
    assert stages.line() == "2/4 branin  5 s  about 7 s left"
    stages.begin("another stage")
    assert stages.line() == "another stage  0 s"


def test_in_a_log_quick_parts_leave_no_lines(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    stages = Stages(live=False)
    for done in range(8):
        stages.begin_part(f"problem {done}", done, 8)
        clock[0] += 2.0
    assert capsys.readouterr().err.splitlines() == [
        "nnbo-mip: 4/8 problem 3  6 s  about 10 s left",
        "nnbo-mip: 7/8 problem 6  12 s  about 4 s left",
    ]


def test_in_a_log_searches_leave_a_line_now_and_then(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    show = progress_shown()
    assert callable(show)
    for seconds in range(9):
        show(Progress("boxes", 1.0, 1.5, float(seconds), 60.0 - seconds))
        clock[0] += 1.0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("value 1  bound 1.5  absolute gap 0.5  5 s  55 s left")


def test_an_ask_tells_what_it_does() -> None:
    bo = nm.BayesianOptimizer(nm.Space.box([-1.0], [3.0]), "brvfl:n_hidden=8", "ucb", initial=3)
    for _ in range(3):
        suggestion = bo.ask(progress=print)  # points of the design: nothing is searched
        bo.tell(suggestion, float(suggestion.x[0] ** 2))
    seen: list[nm.Progress] = []
    asked = bo.ask(progress=seen.append)
    assert seen[0].note == "brvfl learns from 3 values"
    assert len(seen) > 1
    assert all(entry.value <= asked.value and entry.bound >= asked.value for entry in seen)
    with pytest.raises(nm.InputError, match="progress must be a callable"):
        bo.ask(progress=3)  # type: ignore[call-overload]


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """Run the command with standard error on a terminal, and return what was shown there."""
    terminal, end = pty.openpty()
    with os.fdopen(terminal, "rb", buffering=0) as shown:
        process = subprocess.Popen(
            [sys.executable, "-m", "nnbo_mip", *arguments],
            cwd=folder,
            stderr=end,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "xterm"},
        )
        os.close(end)
        parts = []
        try:
            while part := shown.read(4096):
                parts.append(part)
        except OSError:  # how Linux says that the other end was closed
            pass
        assert process.wait() == 0
    return b"".join(parts).decode()


def test_check_report_and_suggest_show_a_line_on_a_terminal(tmp_path: Path) -> None:
    tent().save(tmp_path / "tent.npz")
    nm.certify(tent(), [(1.0, 7.0)]).certificate.save(tmp_path / "claim.json")
    written(tmp_path / "results.db", instances=2)
    (tmp_path / "space.toml").write_text('[[dimensions]]\nname = "x"\nlower = 0\nupper = 1\n')
    (tmp_path / "past.csv").write_text("x,y\n0.1,1\n0.5,2\n0.9,1.5\n")
    assert "check by boxes" in on_a_terminal(tmp_path, "check", "claim.json", "tent.npz")
    assert "/9 " in on_a_terminal(tmp_path, "report", "results.db")
    chosen = ("--space", "space.toml", "--surrogate", "brvfl:n_hidden=8")
    shown = on_a_terminal(tmp_path, "suggest", "past.csv", *chosen)
    assert "brvfl learns from 3" in shown or " s left" in shown  # whichever was under way
