"""Past observations, read from whatever table holds them, for a warm start.

>>> from nnbo_mip.loop.tables import read_table
>>> from nnbo_mip.space import Categorical, Real, Space
>>> space = Space([Real("lr", 1e-4, 1e-1, log=True), Categorical("layers", [1, 2])])
>>> table = read_table({"lr": [1e-4, 1e-1], "layers": [1, 2], "loss": [0.7, None]}, space, "loss")
>>> table.x[1], table.X.tolist(), table.y.tolist()
({'lr': 0.1, 'layers': 2}, [[-1.0, 1.0, 0.0], [1.0, 0.0, 1.0]], [0.7, nan])
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nnbo_mip.checks import check_choice
from nnbo_mip.errors import InputError
from nnbo_mip.loop.csv_columns import read_csv
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.arrays import FloatArray, frozen
from nnbo_mip.space.dimensions import Categorical, Integer
from nnbo_mip.space.space import Space

MISSING_WORDS = frozenset({"", "nan", "na", "n/a", "none", "null"})
"""What an empty cell is written as, in small letters."""

MISSING_TYPES = frozenset({"NAType", "NaTType"})
"""Of pandas, which need not be installed."""

FORMS = "the path of a CSV file, a data frame, a dict of columns, or a pair (X, y)"


@dataclass(frozen=True, eq=False)
class Table:
    """Observations as they were told.

    Parameters
    ----------
    x : tuple
        The n points in the user's form: dicts, or arrays (d,) for a box.
    X : (n, k) array
        The same in model coordinates.
    y : (n,) array
        Values in the user's units and direction; NaN where the evaluation failed.
    noise : (n,) array
        Standard deviations of the observations; NaN where none is given.
    left_out : int
        Rows outside of the space that were left out because that was asked for.
    """

    x: tuple[Any, ...]
    X: FloatArray
    y: FloatArray
    noise: FloatArray
    left_out: int = 0

    @property
    def failed(self) -> tuple[bool, ...]:
        """Which of the evaluations failed."""
        return tuple(not math.isfinite(value) for value in self.y)

    def __len__(self) -> int:
        return len(self.x)


def read_table(
    given: object,
    space: Space,
    value: str = "y",
    noise: str | None = None,
    outside: str = "refuse",
) -> Table:
    """Read past observations.

    Parameters
    ----------
    given : str, Path, data frame, dict or pair
        The path of a CSV file with a header line (separated by commas, semicolons or tabs), a
        pandas data frame, a dict of columns, or a pair (X, y) with X an array (n, d) in the order
        of the dimensions or a list of dicts.
    space : Space
        Columns are called as its dimensions, those of a box x0, x1, …; others are ignored.
    value : str
        The column of values. An empty, NaN or infinite one is a failed evaluation.
    noise : str, optional
        The column of the observations' standard deviations, each at least zero or empty.
    outside : {"refuse", "drop"}
        What happens to points that the space, or one of its constraints, does not admit;
        unreadable ones are among them.

    Examples
    --------
    >>> from nnbo_mip.space import Space
    >>> read_table(([[0.0], [3.0]], [1.0, 2.0]), Space.box([0], [2]), outside="drop").left_out
    1
    """
    check_choice("outside", outside, ("refuse", "drop"))
    columns, places = _columns(given, space, value)
    _check_columns(columns, space, value, noise)
    points: list[Any] = []
    kept: list[int] = []
    names = space.dim_names
    for row, place in enumerate(places):
        cells = {name: columns[name][row] for name in names}
        try:
            points.append(_point(cells, space))
            kept.append(row)
        except InputError as error:
            if outside == "refuse":
                raise InputError(f"{place}: {error}") from error
    X = space.encode(points) if points else np.empty((0, space.model().dimension))
    return Table(
        tuple(points),
        frozen(X),
        frozen(np.array([_value(columns[value][row], places[row], value) for row in kept])),
        frozen(np.array([_noise(columns, row, places[row], noise) for row in kept])),
        len(places) - len(kept),
    )


def _columns(
    given: object, space: Space, value: str
) -> tuple[Mapping[str, Sequence[Any]], list[str]]:
    """Return the columns, and what each row is called in an error."""
    if isinstance(given, str | Path):
        return read_csv(Path(given), (*space.dim_names, value))
    if isinstance(given, Mapping):
        columns = {str(name): _cells(name, column) for name, column in given.items()}
    elif _is_frame(given):
        columns = _columns_of_frame(given)
    elif isinstance(given, tuple | list) and len(given) == 2:
        X, y = given
        columns = _columns_of_frame(X) if _is_frame(X) else _columns_of_rows(X, space)
        columns[value] = _cells("y", y)
    else:
        raise InputError(f"past observations must be {FORMS}; got {given!r:.80}; use one of these.")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"columns must have the same length; got {lengths}; fill or drop cells.")
    n = next(iter(lengths.values()), 0)
    return columns, [f"row {row}" for row in range(n)]


def _is_frame(given: object) -> bool:
    return hasattr(given, "columns") and hasattr(given, "__getitem__")


def _columns_of_frame(frame: Any) -> dict[str, list[Any]]:
    names = list(frame.columns)
    if len(set(map(str, names))) != len(names):
        raise InputError(
            f"columns must have distinct names; got {names!r:.80}; rename or drop some."
        )
    return {str(name): _cells(name, frame[name]) for name in names}


def _columns_of_rows(X: Any, space: Space) -> dict[str, list[Any]]:
    """Return the columns of a list of dicts, or of an array in the order of the dimensions."""
    names = space.dim_names
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for place, row in enumerate(_cells("X", X)):
        point = row
        if not isinstance(row, Mapping) and np.shape(row) == (len(names),):
            point = dict(zip(names, row, strict=True))
        if not isinstance(point, Mapping) or set(point) != set(names):
            raise InputError(
                f"row {place}: X must have one value a dimension, {', '.join(names)}; got "
                f"{row!r:.80}; pass an array (n, {len(names)}) or a list of dicts."
            )
        for name in names:
            columns[name].append(point[name])
    return columns


def _cells(name: object, column: Any) -> list[Any]:
    if isinstance(column, str | Mapping) or not isinstance(column, Iterable):
        raise InputError(
            f"the column {name!r} must be a sequence of values; got {column!r:.60}; pass a list."
        )
    return list(column)


def _check_columns(
    columns: Mapping[str, Sequence[Any]], space: Space, value: str, noise: str | None
) -> None:
    for name in (value, noise):
        if name in space.dim_names:
            raise InputError(
                f"values and noise must have columns beside those of the dimensions; got {name!r}; "
                "name another column."
            )
    for name in (*space.dim_names, value, *([] if noise is None else [noise])):
        if name not in columns:
            near = difflib.get_close_matches(name, columns, n=1)
            advice = f"did you mean {near[0]!r}?" if near else "add it, or say value=…."
            raise InputError(
                f"the table must have a column {name!r}; got {', '.join(columns) or 'none'}; "
                f"{advice}"
            )


def _point(cells: Mapping[str, Any], space: Space) -> Any:
    """Return the user's x that a row stands for; refuse what the space does not admit."""
    checked = [
        dimension.checked(_cell(dimension, cells[dimension.name])) for dimension in space.dimensions
    ]
    x: Any = dict(zip(space.dim_names, checked, strict=True))
    if not space.is_named:
        x = np.array(checked, dtype=np.float64)
    if space.constraints and not space.model().admissible(space.encode(x))[0]:
        raise InputError(
            f"a point must satisfy the constraints of the space; got {x!r:.80}; drop it, or say "
            'outside="drop".'
        )
    return x


def _cell(dimension: Dimension, cell: Any) -> Any:
    """Return what a text stands for in a dimension; other values as they are."""
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    if isinstance(dimension, Categorical):
        return next((level for level in dimension.levels if _reads_as(level, text)), cell)
    number = _number(text)
    if number is None:
        return cell
    return int(text) if isinstance(dimension, Integer) and text.lstrip("+-").isdigit() else number


def _reads_as(level: object, text: str) -> bool:
    if isinstance(level, bool | str):
        return str(level) == text or (isinstance(level, bool) and str(level).lower() == text)
    return level == _number(text)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING_WORDS
    if isinstance(cell, float | np.floating):
        return math.isnan(cell)
    return cell is None or type(cell).__name__ in MISSING_TYPES


def _value(cell: Any, place: str, name: str) -> float:
    """Return a value, NaN for none and for infinite ones."""
    if _is_missing(cell):
        return math.nan
    number = _number(cell) if isinstance(cell, str) else _real(cell)
    if number is None:
        raise InputError(
            f"{place}: {name!r} must be a number, or empty for a failed evaluation; got "
            f"{cell!r:.60}; mend the cell."
        )
    return number if math.isfinite(number) else math.nan


def _noise(columns: Mapping[str, Sequence[Any]], row: int, place: str, name: str | None) -> float:
    if name is None:
        return math.nan
    number = _value(columns[name][row], place, name)
    if number < 0.0:
        raise InputError(
            f"{place}: {name!r} must be a standard deviation >= 0, or empty; got {number!r}; mend "
            "the cell."
        )
    return number


def _real(cell: Any) -> float | None:
    """Return a real number as a float, None for anything else."""
    plain = (
        cell.item() if isinstance(cell, np.generic | np.ndarray) and np.size(cell) == 1 else cell
    )
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        return None
    try:
        return float(plain)
    except OverflowError:
        return math.inf
