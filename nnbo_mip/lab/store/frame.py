"""`Frame`: a table as NumPy columns.

>>> import numpy as np
>>> from nnbo_mip.lab.store.frame import Frame
>>> frame = Frame.of_rows([("nomu", 0.5), ("gp", 0.25), ("gp", None)], {"method": str, "y": float})
>>> len(frame), frame.names, frame["y"].tolist()
(3, ('method', 'y'), [0.5, 0.25, nan])
>>> frame.where(frame["method"] == "gp")["y"].tolist()
[0.25, nan]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.errors import InputError

Column: TypeAlias = npt.NDArray[Any]

Source: TypeAlias = Column | Callable[[], Column]
"""A column, or what reads it when it is first asked for."""

DTYPES: Mapping[type, npt.DTypeLike] = {float: np.float64, int: np.int64, bool: np.bool_}


class Frame:
    """Columns of one length.

    Parameters
    ----------
    columns : mapping of str to array (n,) or callable
    length : int, optional
        n; must be given where all columns are still to be read.
    """

    def __init__(self, columns: Mapping[str, Source], length: int | None = None) -> None:
        self._columns = dict(columns)
        if length is None:
            read = (len(column) for column in columns.values() if not callable(column))
            length = next(read, 0)
        self._length = length
        for name, column in columns.items():
            if not callable(column):
                self._check(name, column)

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[Any]], types: Mapping[str, type]) -> Frame:
        """Make a frame of rows.

        Parameters
        ----------
        rows : sequence of sequence
        types : mapping of str to type
            Names of the columns and what they hold, as `column_of` takes it.
        """
        columns: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(types)
        named = zip(types.items(), columns, strict=True)
        return cls({name: column_of(values, kind) for (name, kind), values in named}, len(rows))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self._columns)

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            raise InputError(
                f"a column must be one of {', '.join(self._columns)}; got {name!r}; choose one."
            )
        column = self._columns[name]
        if callable(column):
            column = self._columns[name] = self._check(name, column())
        return column

    def __len__(self) -> int:
        return self._length

    def where(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.integer[Any]]) -> Frame:
        """Return the rows of a mask (n,) or of indices (k,)."""
        columns = {name: partial(self._taken, name, rows) for name in self._columns}
        return Frame(columns, len(np.arange(self._length)[rows]))

    def with_columns(self, more: Mapping[str, Source]) -> Frame:
        """Return a frame with further columns."""
        return Frame({**self._columns, **more}, self._length)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dicts of Python's own values."""
        lists = [self[name].tolist() for name in self._columns]
        for row in zip(*lists, strict=True):
            yield dict(zip(self._columns, row, strict=True))

    def _taken(self, name: str, rows: Column) -> Column:
        return self[name][rows]

    def _check(self, name: str, column: Column) -> Column:
        if len(column) != self._length:
            raise InputError(
                f"columns must have the same length, {self._length}; got {len(column)} in "
                f"{name!r}; fill or cut it."
            )
        return column

    def __repr__(self) -> str:
        return f"Frame({self._length} rows: {', '.join(self._columns)})"


def column_of(values: Sequence[Any], kind: type) -> Column:
    """Return values as an array (n,).

    Parameters
    ----------
    values : sequence
    kind : {float, int, bool, str}
        None becomes NaN among floats; texts become objects.
    """
    if kind is not str:
        return np.array(values, dtype=DTYPES[kind])
    column = np.empty(len(values), dtype=np.object_)
    # A million equal texts are one; NumPy would find none that ends with NUL, as it drops them.
    column[:] = [sys.intern(value.rstrip("\0")) for value in values]
    return column
