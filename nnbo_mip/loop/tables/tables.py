"""Past observations, read from whatever table holds them, for a warm start.

>>> from nnbo_mip.loop.tables.tables import read_table
>>> from nnbo_mip.space import Categorical, Real, Space
>>> space = Space([Real("lr", 1e-4, 1e-1, log=True), Categorical("layers", [1, 2])])
>>> table = read_table({"lr": [1e-4, 1e-1], "layers": [1, 2], "loss": [0.7, None]}, space, "loss")
>>> table.x[1], table.X.tolist(), table.y.tolist()
({'lr': 0.1, 'layers': 2}, [[-1.0, 1.0, 0.0], [1.0, 0.0, 1.0]], [0.7, nan])
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, frozen
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.tables.cells import cell_of, is_missing, value_of
from nnbo_mip.loop.tables.columns import columns_of
from nnbo_mip.space.space import Space


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
        Values in the user's units and direction; NaN or infinite where the evaluation failed.
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
    given : str, Path, data frame, dict, pair or Table
        The path of a CSV file with a header line (separated by commas, semicolons or tabs), a
        pandas data frame, a dict of columns, or a pair (X, y) with X an array (n, d) in the order
        of the dimensions or a list of dicts. A `Table` has been read and is returned.
    space : Space
        Columns are called as its dimensions, those of a box x0, x1, …; others are ignored. Cells
        of a dimension whose `when` does not hold in a row are ignored too, empty or not.
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
    if isinstance(given, Table):
        return given
    columns, places = columns_of(given, space, value)
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
        frozen(np.array([value_of(columns[value][row], places[row], value) for row in kept])),
        frozen(np.array([_noise(columns, row, places[row], noise) for row in kept])),
        len(places) - len(kept),
    )


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
            advice = (
                f"did you mean {near[0]!r}?" if near else "add it, or name the one that is meant."
            )
            raise InputError(
                f"the table must have a column {name!r}; got {', '.join(columns) or 'none'}; "
                f"{advice}"
            )


def _point(cells: Mapping[str, Any], space: Space) -> Any:
    """Return the user's x that a row stands for; refuse what the space does not admit."""
    given = {
        dimension.name: cell_of(dimension, cells[dimension.name])
        for dimension in space.dimensions
        if not (dimension.when and is_missing(cells[dimension.name]))
    }
    given = space.conditions.filled(given)
    absent = [name for name in space.dim_names if name not in given]
    if absent:
        raise InputError(f"{absent[0]!r} is empty where it has a meaning; fill it in.")
    checked = [dimension.checked(given[dimension.name]) for dimension in space.dimensions]
    x: Any = space.conditions.stripped(dict(zip(space.dim_names, checked, strict=True)))
    if not space.is_named:
        x = np.array(checked, dtype=np.float64)
    if space.constraints and not space.model().admissible(space.encode(x))[0]:
        raise InputError(
            f"a point must satisfy the constraints of the space; got {x!r:.80}; drop it, or say "
            'outside="drop".'
        )
    return x


def _noise(columns: Mapping[str, Sequence[Any]], row: int, place: str, name: str | None) -> float:
    if name is None:
        return math.nan
    number = value_of(columns[name][row], place, name)
    if number < 0.0 or math.isinf(number):
        raise InputError(
            f"{place}: {name!r} must be a standard deviation >= 0, or empty; got {number!r}; mend "
            "the cell."
        )
    return number
