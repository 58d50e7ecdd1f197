"""Options of a Gaussian process that are ranges, groups or categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from nnbo_mip.core.checks import check_number
from nnbo_mip.core.errors import InputError


def check_range(name: str, value: object, ends: object) -> None:
    """Refuse a range that is none, or that leaves out where the search starts."""
    number = check_number(name, value, above=0.0)
    if ends == "fixed":
        return
    pair = ends if isinstance(ends, tuple | list) and len(ends) == 2 else (None, None)
    low, high = (check_number(f"each end of {name}_bounds", end, above=0.0) for end in pair)
    if not low < high:
        raise InputError(
            f"{name}_bounds must be 'fixed' or (low, high) with low < high; got {ends!r}; "
            "swap or widen them."
        )
    if not low <= number <= high:
        raise InputError(
            f"{name} must lie within {name}_bounds = {ends!r}, as the search starts there; got "
            f"{number!r}; choose a value between them."
        )


def check_groups(given: object) -> tuple[tuple[int, ...], ...]:
    """Return disjoint groups that hold the inputs 0, 1, …, each once."""
    rows = list(given) if isinstance(given, tuple | list) else []
    members = [one for row in rows if isinstance(row, tuple | list) for one in row]
    whole = all(isinstance(row, tuple | list) and len(row) for row in rows) and bool(rows)
    counted = all(
        isinstance(one, int | np.integer) and not isinstance(one, bool) for one in members
    )
    if not (whole and counted and sorted(members) == list(range(len(members)))):
        raise InputError(
            "groups must be a tuple of groups of inputs that hold each of 0, 1, … once; got "
            f"{given!r:.80}; write ((0, 1), (2,)), say."
        )
    return tuple(tuple(int(one) for one in row) for row in rows)


def check_categories(given: object) -> tuple[tuple[int, ...], ...]:
    """Return disjoint groups of inputs, counted from 0."""
    rows: list[Any] = list(given) if isinstance(given, tuple | list) else [given]
    members = [one for row in rows if isinstance(row, tuple | list) for one in row]
    whole = all(isinstance(row, tuple | list) and len(row) for row in rows)
    counted = all(
        isinstance(one, int | np.integer) and not isinstance(one, bool) and one >= 0
        for one in members
    )
    if not (whole and counted and len(set(members)) == len(members)):
        raise InputError(
            "categories must be a tuple of disjoint groups of inputs, counted from 0; got "
            f"{given!r:.80}; write ((1, 2, 3),), say."
        )
    return tuple(tuple(int(one) for one in row) for row in rows)
