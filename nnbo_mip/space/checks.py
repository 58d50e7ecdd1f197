"""What the values a user gives must be: names, real numbers, whole numbers, ordered ends."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from nnbo_mip.core.errors import InputError

MAX_INTEGER = 2**53
"""Beyond it float64 does not hold every integer."""


def check_name(name: object) -> None:
    """Refuse anything but a non-empty string."""
    if not isinstance(name, str) or not name:
        raise InputError(f"a dimension's name must be a non-empty string; got {name!r}; name it.")


def check_order(name: str, lower: float, upper: float, log: object) -> None:
    """Refuse crossed ends, ends that are too far apart, and logarithms of what is not > 0."""
    if not isinstance(log, bool):
        raise InputError(f"log of {name!r} must be True or False; got {log!r}; pass a bool.")
    if lower > upper:
        raise InputError(
            f"lower must be <= upper; got {lower} > {upper} for {name!r}; "
            "swap them or drop the dimension."
        )
    if log and lower <= 0:
        raise InputError(
            f"a logarithmic dimension needs lower > 0; got {lower} for {name!r}; "
            "raise lower or leave log out."
        )
    width = float(upper) - float(lower)
    if not np.isfinite(width) or (log and not np.isfinite(width / lower)):
        raise InputError(
            f"the width of {name!r} must be finite in float64 (relative to lower, if log); "
            f"got [{lower}, {upper}]; give narrower bounds."
        )


def as_real(value: Any, what: str) -> float:
    """Return a finite float; refuse text, booleans, NaN and infinities."""
    plain = unwrapped(value)
    if isinstance(plain, bool) or not isinstance(plain, numbers.Real):
        raise InputError(f"{what} must be a real number; got {value!r}; give a number.")
    try:
        number = float(plain)
    except OverflowError:
        number = float("inf")
    if not np.isfinite(number):
        raise InputError(f"{what} must be finite; got {value!r}; give a finite number.")
    return number + 0.0  # no negative zero


def as_whole(value: Any, what: str) -> int:
    """Return an int that float64 holds exactly; 3.0 counts as 3."""
    plain = unwrapped(value)
    number: int | None
    if isinstance(plain, int) and not isinstance(plain, bool):
        number = plain
    else:
        real = as_real(value, what)
        number = int(real) if real.is_integer() else None
    if number is None:
        raise InputError(f"{what} must be a whole number; got {value!r}; round it.")
    if abs(number) > MAX_INTEGER:
        raise InputError(
            f"{what} must be between -2**53 and 2**53, where float64 is exact; got {value!r}; "
            "rescale it."
        )
    return number


def unwrapped(value: Any) -> Any:
    """Return the Python number in a NumPy scalar or 0-d array, anything else as it is."""
    scalar = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if scalar else value
