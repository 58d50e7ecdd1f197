"""A user's x: one value a dimension, as an array for a box and a dict for named dimensions."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import as_floats, as_points
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.conditions import Conditions


def read_array(x: object, dimension: int) -> tuple[list[Sequence[Any]], bool]:
    """Return the columns of a point (d,) or of points (n, d), and whether it was one point."""
    array = as_floats(plain(x), "x")
    return list(as_points(array, dimension).T), array.ndim == 1 and array.size > 0


def read_dicts(
    x: object, names: tuple[str, ...], conditions: Conditions
) -> tuple[list[Sequence[Any]], bool]:
    """Return the columns of a dict or of a sequence of dicts, and whether it was one dict.

    Inactive dimensions have their default, whether they are given or not.
    """
    single = isinstance(x, Mapping)
    points = [x] if single else x
    if not isinstance(points, Sequence | np.ndarray) or isinstance(points, str):
        raise InputError(
            f"x must be a dict with the keys {list(names)}, or a sequence of them; got {x!r}; "
            "name the values."
        )
    rows = [_row(point, names, conditions) for point in points]
    return [[row[j] for row in rows] for j in range(len(names))], single


def write_array(columns: list[list[Any]], single: bool) -> Any:
    """Return the point (d,) or the points (n, d) with these columns."""
    array = np.array(columns, dtype=np.float64).T.copy()
    return array[0] if single else array


def write_dicts(
    columns: list[list[Any]], names: tuple[str, ...], conditions: Conditions, single: bool
) -> Any:
    """Return the dict or the list of dicts with these columns, inactive dimensions left out."""
    points = [
        conditions.stripped(dict(zip(names, values, strict=True)))
        for values in zip(*columns, strict=True)
    ]
    return points[0] if single else points


def _row(point: object, names: tuple[str, ...], conditions: Conditions) -> list[Any]:
    """Return the values of one dict in the order of the names."""
    if not isinstance(point, Mapping):
        raise InputError(
            f"x must be a dict with the keys {list(names)}; got {point!r}; name the values."
        )
    unknown = [key for key in point if key not in names]
    if unknown:
        close = difflib.get_close_matches(str(unknown[0]), names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "drop it."
        raise InputError(
            f"x must be a dict with the keys {list(names)}; got {unknown[0]!r} as well; {hint}"
        )
    point = conditions.filled(point)
    missing = [name for name in names if name not in point]
    if missing:
        raise InputError(
            f"x must be a dict with the keys {list(names)}; {missing[0]!r} is missing; add it."
        )
    return [plain(point[name]) for name in names]


def plain(x: Any) -> Any:
    """Return tensors as lists of numbers, other things as they are; refuse what stands for none."""
    if isinstance(x, float | int | str):
        return x
    if isinstance(x, list | tuple):
        return [plain(entry) for entry in x]
    if isinstance(x, np.ma.MaskedArray) and np.ma.getmaskarray(x).any():
        raise InputError(f"x must have a value in every entry; got {x!r:.80}; fill what is masked.")
    if getattr(getattr(x, "dtype", None), "kind", "") in ("m", "M"):
        raise InputError(f"x must be made of numbers; got {x!r:.80}; convert times to one unit.")
    # A tensor that is learned, or of a type that NumPy lacks, is no array; torch is not imported.
    return x.tolist() if hasattr(x, "detach") and hasattr(x, "tolist") else x
