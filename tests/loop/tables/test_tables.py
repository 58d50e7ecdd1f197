"""One set of observations in every form, and what each form says where it is broken."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError, MissingFileError
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.tables.tables import Table, read_table
from nnbo_mip.space import Categorical, Integer, LinearConstraint, Real, Space

SPACE = Space(
    [
        Real("lr", 1e-4, 1e-1, log=True),
        Integer("depth", 2, 5),
        Categorical("act", ["relu", "tanh"]),
        Categorical("bias", [True, False]),
        Categorical("heads", [1, 2, 4]),
    ]
)
POINTS = [
    {"lr": 1e-4, "depth": 2, "act": "tanh", "bias": True, "heads": 4},
    {"lr": 0.1, "depth": 5, "act": "relu", "bias": False, "heads": 1},
    {"lr": 0.01, "depth": 3, "act": "relu", "bias": True, "heads": 2},
]
VALUES = [0.75, math.nan, -2.5]
MODEL = [
    [-1.0, -1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0],
    [1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
    [1.0 / 3.0, -1.0 / 3.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0],
]
COLUMNS = {name: [point[name] for point in POINTS] for name in SPACE.dim_names}
CSV = """depth,lr,act,bias,heads,loss,sd,when
2,1e-4,tanh,True,4,0.75,0.1,"Monday, 9 h"
5,0.1,relu,false,1,,,Tuesday
3,0.01,relu,true,2.0,-2.5,0,Wednesday
"""
BOX = Space.box([99.0, -3.0], [101.0, -1.0])


class Frame:
    """What a table reads of a data frame: names of columns, and columns by name."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: str) -> Iterator[Any]:
        return iter(self._columns[name])


def written(folder: Path, text: str) -> Path:
    path = folder / "past.csv"
    path.write_text(text, encoding="utf-8")
    return path


def check(table: Table) -> None:
    assert list(table.x) == POINTS
    assert all(
        type(table.x[row][name]) is type(POINTS[row][name])
        for row in range(3)
        for name in POINTS[0]
    )
    np.testing.assert_allclose(table.X, MODEL, atol=1e-12)
    np.testing.assert_array_equal(table.y, VALUES)
    assert table.failed == (False, True, False)
    assert (len(table), table.left_out) == (3, 0)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n"])
def test_a_csv_file(tmp_path: Path, separator: str, start: str) -> None:
    text = CSV.replace('"Monday, 9 h"', "Monday").replace(",", separator)
    if separator == ",":
        text = CSV
    table = read_table(written(tmp_path, start + text), SPACE, "loss", noise="sd")
    check(table)
    np.testing.assert_array_equal(table.noise, [0.1, math.nan, 0.0])
    check(read_table(str(tmp_path / "past.csv"), SPACE, "loss"))


def test_line_ends_of_windows_and_quoted_line_breaks(tmp_path: Path) -> None:
    text = CSV.replace("Monday, 9 h", "Monday\n9 h").replace("\n", "\r\n")
    path = tmp_path / "past.csv"
    path.write_bytes(text.encode())
    check(read_table(path, SPACE, "loss"))


@pytest.mark.parametrize("cell", ["nan", "NaN", "None", " "])
def test_a_value_that_is_none_is_a_failure(tmp_path: Path, cell: str) -> None:
    check(read_table(written(tmp_path, CSV.replace("1,,", f"1,{cell},")), SPACE, "loss"))


@pytest.mark.parametrize(
    ("cell", "value"), [("inf", math.inf), ("-Infinity", -math.inf), ("1e999", math.inf)]
)
def test_an_infinite_value_is_a_failure_that_says_so(
    tmp_path: Path, cell: str, value: float
) -> None:
    path = written(tmp_path, CSV.replace("1,,", f"1,{cell},"))
    table = read_table(path, SPACE, "loss")
    assert table.y.tolist() == [0.75, value, -2.5]
    assert table.failed == (False, True, False)
    run = BayesianOptimizer(SPACE, "brvfl")
    run.tell_table(path, "loss")
    assert [told.reason for told in run.history] == ["", "the value was infinite", ""]


@pytest.mark.parametrize(
    ("true", "false"), [("TRUE", "FALSE"), ("True", "False"), ("true", "false"), ("tRUE", "fALSE")]
)
def test_booleans_are_read_in_any_case(tmp_path: Path, true: str, false: str) -> None:
    text = CSV.replace("True", true).replace("true", true).replace("false", false)
    check(read_table(written(tmp_path, text), SPACE, "loss"))


def test_a_level_that_is_written_the_same_comes_first(tmp_path: Path) -> None:
    space = Space([Categorical("c", [True, "TRUE", 2, "2.0"])])
    path = written(tmp_path, "c,y\ntrue,0\nTRUE,1\n2,2\n2.0,3\n2.00,4\n")
    assert [x["c"] for x in read_table(path, space).x] == [True, "TRUE", 2, "2.0", 2]


def test_columns_frames_and_pairs() -> None:
    told = {**COLUMNS, "y": [0.75, None, -2.5]}
    check(read_table(told, SPACE))
    check(read_table({**told, "note": ["a", "b", "c"]}, SPACE))
    check(read_table(Frame(told), SPACE))
    check(read_table((POINTS, VALUES), SPACE))
    check(read_table(([list(point.values()) for point in POINTS], np.array(VALUES)), SPACE))
    check(read_table((Frame(COLUMNS), iter([0.75, np.nan, np.float32(-2.5)])), SPACE))
    table = read_table(told, SPACE)
    assert read_table(table, SPACE) is table
    assert read_table((POINTS, [0.75, np.inf, 10**400]), SPACE).failed == (False, True, True)


def test_pandas_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({**COLUMNS, "y": VALUES}, index=[7, 8, 9])
    check(read_table(frame, SPACE))
    check(read_table(frame.convert_dtypes(), SPACE))
    check(read_table((frame.drop(columns="y"), frame["y"]), SPACE))


def test_a_box_has_arrays() -> None:
    X = np.array([[99.0, -1.0], [100.0, -2.0]])
    for given in [(X, [1.0, 2.0]), {"x0": X[:, 0], "x1": X[:, 1], "y": [1.0, 2.0]}]:
        table = read_table(given, BOX)
        assert [x.tolist() for x in table.x] == X.tolist()
        assert table.X.tolist() == [[-1.0, 1.0], [0.0, 0.0]]
        assert table.y.tolist() == [1.0, 2.0]
        assert np.isnan(table.noise).all()


def test_nothing_is_a_table_too(tmp_path: Path) -> None:
    for given in [([], []), {"x0": [], "x1": [], "y": []}, written(tmp_path, "x0,x1,y\n")]:
        table = read_table(given, BOX)
        assert len(table) == 0
        assert table.X.shape == (0, 2)
        assert table.y.shape == table.noise.shape == (0,)


def test_points_outside_are_refused_or_left_out() -> None:
    limited = Space.box([0.0, 0.0], [1.0, 1.0], [LinearConstraint({"x0": 1, "x1": 1}, "<=", 1.0)])
    given = ([[0.5, 0.5], [0.9, 0.9], [2.0, 0.0]], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match=r"^row 1: a point must satisfy the constraints"):
        read_table(given, limited)
    with pytest.raises(InputError, match=r"^row 2: 'x0' must lie in \[0.0, 1.0\]; got 2.0"):
        read_table(given, Space.box([0.0, 0.0], [1.0, 1.0]))
    table = read_table(given, limited, outside="drop")
    assert (table.y.tolist(), table.left_out) == ([1.0], 2)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("0.75", "0,75", r"line 2 of 'past.csv': a row must have 8 cells, .* got 9"),
        ("-2.5", "low", r"line 4 of 'past.csv': 'loss' must be a number, .* got 'low'"),
        ("loss", "Loss", r"must have a column 'loss'; got depth, .*; did you mean 'Loss'\?"),
        ("relu,false", "rely,false", r"line 3 .*'act' must be one of .* got 'rely'"),
        ("1,,", "3,,", r"line 3 .*'heads' must be one of \[1, 2, 4\]; got '3'"),
        ("\n5,", "\n5.5,", r"line 3 .*'depth' must be a whole number"),
        ("\n5,", "\nfive,", r"line 3 .*'depth' must be a real number; got 'five'"),
        (",sd", ",loss", r"columns of 'past.csv' must have distinct names"),
        ("-2.5,0", "-2.5,-1", r"line 4 .*'sd' must be a standard deviation >= 0"),
        ("-2.5,0", "-2.5,inf", r"line 4 .*'sd' must be a standard deviation >= 0, .* got inf"),
        (CSV, " \n\n", "'past.csv' is empty"),
        ('9 h"', "9 h", "must be a CSV file; reading it failed"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    assert old in CSV
    with pytest.raises(InputError, match=sentence):
        read_table(written(tmp_path, CSV.replace(old, new, 1)), SPACE, "loss", noise="sd")


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="must be a CSV file that exists"):
        read_table(tmp_path / "none.csv", SPACE)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00x")
    with pytest.raises(InputError, match="must be a text file in UTF-8"):
        read_table(tmp_path / "binary.csv", SPACE)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (3, "must be the path of a CSV file, a data frame"),
        ({"x0": [99.0], "x1": [-1.0, -2.0], "y": [1.0]}, "must have the same length"),
        (([[99.0, -1.0]], [1.0, 2.0]), "must have the same length"),
        (([[99.0]], [1.0]), r"row 0: X must have one value a dimension, x0, x1; got \[99.0\]"),
        (([99.0, -1.0], [1.0]), "row 0: X must have one value a dimension"),
        (([[99.0, -1.0]], 1.0), "the column 'y' must be a sequence"),
        (([[99.0, -1.0]], [True]), "row 0: 'y' must be a number"),
        (([[99.0, -1.0]], [1j]), "row 0: 'y' must be a number"),
        (([[99.0, -1.0]], ["low"]), "row 0: 'y' must be a number"),
        (([[math.nan, -1.0]], [1.0]), "row 0: 'x0' must be finite"),
        ({"x0": [99.0], "x1": [-1.0]}, "must have a column 'y'; got x0, x1"),
    ],
)
def test_what_is_no_table_is_refused(given: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_table(given, BOX)


def test_names_of_columns_must_be_free() -> None:
    with pytest.raises(InputError, match="beside those of the dimensions; got 'lr'"):
        read_table(COLUMNS, SPACE, "lr")
    with pytest.raises(InputError, match="outside must be one of refuse, drop"):
        read_table(COLUMNS, SPACE, outside="clip")
