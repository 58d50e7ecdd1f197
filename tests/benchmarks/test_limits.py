"""The measurement of limits itself: a search that is too large ends in time and in memory."""

from __future__ import annotations

import sys

import pytest

from benchmarks.limits.__main__ import CASES, main


@pytest.mark.skipif(sys.platform != "linux", reason="the most memory held is what Linux says")
def test_twenty_thousand_relus_end_in_time_and_in_memory(capsys: pytest.CaptureFixture) -> None:
    assert main(["--cases", "phases, 20", "--time-limit", "1"]) == 0
    *_, row = capsys.readouterr().out.splitlines()
    name, status, overshoot, memory, message = (cell.strip() for cell in row.strip("|").split("|"))
    assert name in CASES
    assert status == "feasible"
    assert float(overshoot) <= 1.0
    assert float(memory) < 1024
    assert "a dense system of" in message
