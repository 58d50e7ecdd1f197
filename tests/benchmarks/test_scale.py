"""`benchmarks.scale`, with a few units and rows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import nnbo_mip as nm
from benchmarks.scale.__main__ import lines_of
from benchmarks.scale.store import METHODS, PROBLEMS, STARTS, STEPS, store_part
from benchmarks.scale.units import local_part


def test_units_are_run_and_their_overhead_is_what_is_left_of_the_wall_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    try:
        figures = local_part(tmp_path / "results.db", 6)
    finally:  # the experiment imported a problem, which other tests must not meet
        del sys.modules["benchmarks.scale.problem"]
        nm.problems.unregister("sleeping")
    assert figures["units"] == figures["finished"] == 6
    each = 2 * figures["wall_seconds"] / 6
    assert figures["overhead_ms"] == pytest.approx(1e3 * (each - 0.05), abs=5.0)
    assert figures["efficiency"] == pytest.approx(0.05 / each, rel=0.1)


def test_a_store_has_the_rows_that_were_asked_for(tmp_path: Path) -> None:
    rows = 2 * METHODS * PROBLEMS * (STARTS + STEPS)
    figures = store_part(tmp_path / "results.db", rows)
    assert figures["rows"] == rows
    assert figures["curves"] == METHODS * PROBLEMS
    assert figures["asked_seconds"] == 0.75 * 2 * METHODS * PROBLEMS * STEPS
    assert figures["median_gap"] == 1e-4


def test_a_target_that_is_missed_is_told() -> None:
    figures = {"memory_mb": 600.0, "units": 2, "finished": 2, "overhead_ms": 4.0}
    assert [held for _, held in lines_of("local", figures)] == [False, True, True]
    figures = {"memory_mb": 90.0, "units": 2, "finished": 1, "efficiency": 0.84}
    assert [held for _, held in lines_of("dask", figures)] == [True, False, False]
    assert lines_of("store", {"memory_mb": 1.0, "rows": 3, "report_seconds": 4.9})[0][1]
