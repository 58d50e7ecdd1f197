"""The training benchmark on tiny networks: verdicts, turns, rows across the process."""

from __future__ import annotations

import pytest

from benchmarks.training import __main__ as training
from benchmarks.training.rows import Row, duration, markdown, median_cpu_seconds


def test_a_row_says_whether_its_target_was_met() -> None:
    assert Row.below("fit", 0.0193, 0.02) == Row("fit", "19.3 ms", "< 20 ms", True)
    assert Row.below("fit", 2.5, 2.0).verdict == "MISSED"
    assert Row("fit", "3 s").verdict == ""
    assert duration(61.26) == "61.3 s"


def test_the_table_has_a_line_a_row() -> None:
    lines = markdown([Row.below("fit", 0.01, 0.02), Row("memory", "5 MB")]).splitlines()
    assert lines[2:] == ["| fit | 10 ms | < 20 ms | met |", "| memory | 5 MB |  |  |"]


def test_calls_take_turns() -> None:
    calls: list[str] = []
    median_cpu_seconds(lambda: calls.append("a"), lambda: calls.append("b"), repeats=2)
    assert "".join(calls) == "ababab"


@pytest.mark.parametrize("weights", [2 * (2 * 4 + 5), 27])
def test_large_networks_must_have_the_weights_that_are_named(weights: int) -> None:
    (row,) = training.thesis_rows("deep_ensemble", weights, 50, hidden=(4,), n_members=2)
    assert row.met == (weights == 26)
    assert "26 weights" in row.what
    assert "peak" in row.reached


def test_a_group_comes_back_from_its_process(capsys: pytest.CaptureFixture[str]) -> None:
    assert training.main(["--only", "brvfl"]) in (0, 1)  # whether a loaded machine meets them
    table = capsys.readouterr().out
    assert table.count("brvfl 300 units") == 3
    assert "< 100 ms" in table


def test_a_group_that_fails_is_a_missed_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(training.sys, "executable", "false")
    assert training.main(["--only", "ensemble"]) == 1
    assert "| ensemble | ended with status 1 | rows | MISSED |" in capsys.readouterr().out
