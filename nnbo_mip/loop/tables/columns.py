"""Columns of past observations, from every form in which they may be given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.tables.csv_columns import read_csv
from nnbo_mip.space.space import Space

FORMS = "the path of a CSV file, a data frame, a dict of columns, or a pair (X, y)"


def columns_of(
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
        needed = {one.name for one in space.dimensions if not one.when}
        if not isinstance(point, Mapping) or not needed <= set(point) <= set(names):
            raise InputError(
                f"row {place}: X must have one value a dimension, {', '.join(names)}; got "
                f"{row!r:.80}; pass an array (n, {len(names)}) or a list of dicts."
            )
        for name in names:
            columns[name].append(point.get(name))
    return columns


def _cells(name: object, column: Any) -> list[Any]:
    is_one = not isinstance(column, Iterable) or getattr(column, "ndim", 1) == 0
    if is_one or isinstance(column, str | Mapping):
        raise InputError(
            f"the column {name!r} must be a sequence of values; got {column!r:.60}; pass a list."
        )
    return list(column)
