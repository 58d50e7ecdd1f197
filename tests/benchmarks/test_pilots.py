"""Pilots: runs are kept and not made twice; regrets are those without noise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import pilots


def test_runs_are_kept_and_not_made_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "pilots.jsonl"
    command = ["--problems", "sinone", "--shares", "0", "0.3", "--seeds", "1", "--out", str(out)]
    command += ["--evaluations", "13"]
    assert pilots.main(command) == 0
    printed = capsys.readouterr().out
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["share"], row["way"]) for row in rows] == [
        (0.0, "silent"),
        (0.0, "random"),
        (0.3, "told"),
        (0.3, "silent"),
        (0.3, "random"),
    ]
    assert all(0.0 <= row["seen"] <= row["reported"] < 4.0 for row in rows)
    assert rows[0]["seen"] == rows[0]["reported"] < rows[1]["seen"]
    assert "| sinone | 0.3 |" in printed

    def refused(**cell: object) -> None:
        raise AssertionError(cell)

    monkeypatch.setattr(pilots, "run", refused)
    with out.open("a") as file:
        file.write('{"problem": "sin')  # cut short by a kill
    assert pilots.main(command) == 0
    assert capsys.readouterr().out == printed
    assert pilots.main([*command, "--problems", "camelback", "--report"]) == 0


def test_pilots_are_no_tasks_by_which_noisy_runs_are_judged() -> None:
    names = " ".join(pilots.PROBLEMS.values())
    assert not [task for task in ("branin", "hartmann", "levy", "ackley") if task in names]
