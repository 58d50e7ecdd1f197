"""What a cell of a table stands for: a value of a dimension, or an observed value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nnbo_mip.core.errors import InputError
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.dimensions import Categorical, Integer
from nnbo_mip.space.ordinal import Ordinal

MISSING_WORDS = frozenset({"", "nan", "na", "n/a", "none", "null"})
"""What an empty cell is written as, in small letters."""

MISSING_TYPES = frozenset({"NAType", "NaTType"})
"""Of pandas, which need not be installed."""


def cell_of(dimension: Dimension, cell: Any) -> Any:
    """Return what a text stands for in a dimension; other values as they are."""
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    number = _number(text)
    if isinstance(dimension, Categorical | Ordinal):
        meant = [level for level in dimension.levels if _reads_as(level, text)]
        is_numeric = isinstance(dimension, Ordinal) and dimension.is_numeric
        otherwise = number if is_numeric and number is not None else cell
        return max(meant, key=lambda level: str(level) == text, default=otherwise)  # as written
    if number is None:
        return cell
    return int(text) if isinstance(dimension, Integer) and text.lstrip("+-").isdigit() else number


def _reads_as(level: object, text: str) -> bool:
    if isinstance(level, bool):
        return str(level).lower() == text.lower()
    return level == (text if isinstance(level, str) else _number(text))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def is_missing(cell: Any) -> bool:
    """Whether a cell is empty, or holds what stands for none."""
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING_WORDS
    if isinstance(cell, float | np.floating):
        return math.isnan(cell)
    return cell is None or type(cell).__name__ in MISSING_TYPES


def value_of(cell: Any, place: str, name: str) -> float:
    """Return a value, perhaps infinite, NaN for none."""
    if is_missing(cell):
        return math.nan
    number = _number(cell) if isinstance(cell, str) else _real(cell)
    if number is None:
        raise InputError(
            f"{place}: {name!r} must be a number, or empty for a failed evaluation; got "
            f"{cell!r:.60}; mend the cell."
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
