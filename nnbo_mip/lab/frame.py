"""`Frame`: a table as NumPy columns.

>>> from nnbo_mip.lab.frame import Frame
>>> types = {"method": str, "y": float}
>>> frame = Frame.of_rows([("nomu", 0.5), ("gp", 0.25), ("gp", None)], types)
>>> len(frame), frame.names, frame["y"].tolist()
(3, ('method', 'y'), [0.5, 0.25, nan])
>>> frame.where(frame["method"] == "gp")["y"].tolist()
[0.25, nan]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.errors import InputError

Column: TypeAlias = npt.NDArray[Any]

DTYPES: Mapping[type, npt.DTypeLike] = {
    float: np.float64,
    int: np.int64,
    bool: np.bool_,
    str: np.object_,
}


class Frame:
    """Columns of one length.

    Parameters
    ----------
    columns : mapping of str to array (n,)
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)
        lengths = {name: len(column) for name, column in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"columns must have the same length; got {lengths}; fill or cut them.")
        self._length = next(iter(lengths.values()), 0)

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[Any]], types: Mapping[str, type]) -> Frame:
        """Make a frame of rows.

        Parameters
        ----------
        rows : sequence of sequence
        types : mapping of str to type
            Names of the columns and what they hold: float (None becomes NaN), int, bool, or str,
            which becomes a column of objects.
        """
        columns: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(types)
        named = zip(types.items(), columns, strict=True)
        return cls({name: _column(values, kind) for (name, kind), values in named})

    @classmethod
    def stacked(cls, frames: Sequence[Frame]) -> Frame:
        """Return the rows of several frames, at least one, that have the same columns."""
        return cls(
            {name: np.concatenate([one[name] for one in frames]) for name in frames[0].names}
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self._columns)

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            raise InputError(
                f"a column must be one of {', '.join(self._columns)}; got {name!r}; choose one."
            )
        return self._columns[name]

    def __len__(self) -> int:
        return self._length

    def where(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.integer[Any]]) -> Frame:
        """Return the rows of a mask (n,) or of indices (k,)."""
        return Frame({name: column[rows] for name, column in self._columns.items()})

    def with_columns(self, more: Mapping[str, Column]) -> Frame:
        """Return a frame with further columns."""
        return Frame({**self._columns, **more})

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dicts of Python's own values."""
        lists = [column.tolist() for column in self._columns.values()]
        for row in zip(*lists, strict=True):
            yield dict(zip(self._columns, row, strict=True))

    def __repr__(self) -> str:
        return f"Frame({self._length} rows: {', '.join(self._columns)})"


def _column(values: Sequence[Any], kind: type) -> Column:
    if kind is not str:
        return np.array(values, dtype=DTYPES[kind])
    column = np.empty(len(values), dtype=np.object_)
    column[:] = list(map(sys.intern, values))  # a million equal texts are one
    return column
