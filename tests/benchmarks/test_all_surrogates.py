"""The table of all surrogates against the runs that are kept beside it."""

from __future__ import annotations

import pytest

import nnbo_mip as nm
from benchmarks import all_surrogates
from benchmarks.all_surrogates import Cell

RUN = [
    Cell("good", "branin", [0.1, 0.2, 0.3], 0.5, 0),
    Cell("good", "hartmann3", [1.0, 2.0, 3.0], 2.0, 0),
    Cell("poor", "branin", [1.1, 1.2, 1.3], 0.1, 0),
    Cell("poor", "hartmann3", [4.0, 5.0, 6.0], 0.1, 0),
    Cell("random", "branin", [0.15, 0.15, 0.15], 0.0, 0),
    Cell("random", "hartmann3", [9.0, 9.0, 9.0], 0.0, 0),
]


def test_the_table_is_that_of_the_runs() -> None:
    made = all_surrogates.table(all_surrogates.read())
    assert all_surrogates.written() == made, "run python -m benchmarks.all_surrogates"


def test_every_family_has_a_row_on_five_functions() -> None:
    found = all_surrogates.read()
    assert len({cell.problem for cell in found}) == 5
    rows = {cell.surrogate for cell in found if cell.regrets} - set(all_surrogates.BASELINES)
    shown = {nm.surrogates.create(row).name for row in rows}
    assert shown == {nm.surrogates.create(name).name for name in nm.surrogates.available()}


def test_rows_are_ordered_by_the_mean_rank_of_medians() -> None:
    _, _, *rows = all_surrogates.table(RUN).splitlines()
    assert [row.split(" | ")[0] for row in rows] == ["| `good`", "| `random`", "| `poor`"]
    assert rows[0] == "| `good` | 0.5 to 2 | 0.2 | 2 | 1.5 |"
    assert rows[1] == "| `random` |  | 0.15 | 9 | 2.0 |"


def test_a_method_that_lacks_a_function_has_no_rank() -> None:
    lacking = [Cell("new", "branin", [0.0], 0.1, 0), Cell("new", "hartmann3", [], 0.0, 3)]
    ranks = all_surrogates.mean_ranks([*RUN, *lacking])
    assert "new" not in ranks
    assert ranks["good"] == pytest.approx(1.5)
