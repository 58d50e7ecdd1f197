"""What a user may hand to a public function, checked: gaps, limits, seeds, directions."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable

from nnbo_mip.core.errors import InputError
from nnbo_mip.core.terms import LARGEST_GAP, Direction

MAX_SEED = 2**63 - 1


def as_real(value: object, name: str) -> float:
    """Return a real number as a float; NaN, text and booleans are refused."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = float(value)
        if not math.isnan(number):
            return number
    raise InputError(f"{name} must be a number; got {value!r}; give one.")


def as_time_limit(value: object, name: str = "time_limit") -> float:
    """Return wall seconds > 0; infinity means no limit."""
    seconds = as_real(value, name)
    if seconds <= 0.0:
        raise InputError(
            f"{name} must be > 0 seconds; got {value!r}; give more, or inf for no limit."
        )
    return seconds


def as_gap(value: object, name: str = "gap") -> float:
    """Return a gap >= 0 that says something."""
    gap = as_real(value, name)
    if not 0.0 <= gap <= LARGEST_GAP:
        raise InputError(
            f"{name} must be >= 0 and finite, at most {LARGEST_GAP:g}; got {value!r}; 1e-4 is the "
            "default, 0 asks for all."
        )
    return gap


def as_seed(value: object, name: str = "seed") -> int:
    """Return a whole number >= 0."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        seed = int(value)
        if 0 <= seed <= MAX_SEED:
            return seed
    raise InputError(f"{name} must be a whole number from 0 to 2**63 - 1; got {value!r}; give one.")


def as_choice(given: object, name: str, known: Iterable[str]) -> str:
    """Return one of the known names; the error has all of them and the nearest one."""
    names = list(known)
    if isinstance(given, str) and given in names:
        return given
    nearest = difflib.get_close_matches(str(given).lower(), names, n=1, cutoff=0.5)
    hint = f"did you mean {nearest[0]!r}?" if nearest else "choose one of them."
    raise InputError(f"{name} must be one of {', '.join(names)}; got {given!r}; {hint}")


def as_direction(given: object) -> Direction:
    """Return ``"maximize"`` or ``"minimize"``."""
    name = as_choice(given, "direction", ("maximize", "minimize"))
    return "maximize" if name == "maximize" else "minimize"
