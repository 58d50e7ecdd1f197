"""The count of what a kill costs sees what is lost and what differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.durability import __main__ as durability
from benchmarks.durability import run as durability_run


def test_a_kill_loses_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durability, "KINDS", {"one in flight": durability.KINDS["one in flight"]})
    assert durability.main(["--kills", "1", "--seed", "3"]) == 0
    assert "\nmet: of 30 observations told 0 were lost" in capsys.readouterr().out


def test_what_was_told_and_is_not_in_the_journal_is_lost(tmp_path: Path) -> None:
    journal, log = tmp_path / "run.db", tmp_path / "run.log"
    kind = durability_run.KINDS["tells only"]
    durability_run.opened(kind, journal, 0).tell([1.0, 2.0], 3.0)
    for lines, lost in ((1, 0), (2, 1)):
        log.write_text("told [1.0, 2.0, 3.0]\n" * lines)
        tally = durability.Tally("tells only")
        durability._check(tally, journal, log)
        assert (tally.lost, tally.unreadable) == (lost, 0)
    journal.write_bytes(b"x" * 5000)
    tally = durability.Tally("tells only")
    durability._check(tally, journal, log)
    assert (tally.lost, tally.unreadable) == (0, 1)


def test_proposals_are_compared_in_everything_but_time(tmp_path: Path) -> None:
    found: list[Any] = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        journal = tmp_path / f"{name}.db"
        optimizer = durability_run.opened(durability_run.KINDS["one in flight"], journal, seed)
        for x in ([1.0, 2.0], [3.0, 4.0], [0.0, 9.0], [8.0, 5.0], [5.0, 5.0]):
            optimizer.tell(x, float(durability_run.FUNCTION(x)))
        optimizer.ask()
        found.append(durability._proposals(journal))
    first, same, other = found
    assert first[0]["status"] == "heuristic"
    assert first == same
    assert first != other


def test_certificates_are_compared_in_everything_but_time() -> None:
    claim = {"bound": 1.0, "seconds": 2.0, "digest": "ab", "sub_certificates": [{"seconds": 3.0}]}
    assert durability._untimed({"certificate": claim, "fit_seconds": 0.5}) == {
        "certificate": {"bound": 1.0, "sub_certificates": [{}]}
    }
