"""What a user gives, checked, one sentence each: options, numbers, limits, seeds, arrays."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.terms import LARGEST_GAP, Direction

MAX_SEED = 2**63 - 1

MOST_PARTS = 100_000
"""Units, members, trees or samples, of which a model made of a file's options could have any."""

MOST_WEIGHTS = 2**25
"""Between two layers; 256 MB as float64."""

MAX_INTEGER = 2**53
"""Beyond it float64 does not hold every integer."""


def check_count(name: str, value: object, least: int = 1, most: int = MAX_SEED) -> int:
    """Return an option that must be an integer from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be an integer >= {least}; got {value!r:.80}; choose one.")
    if value > most:
        words = "2**63 - 1" if most == MAX_SEED else str(most)
        raise InputError(f"{name} must be at most {words}; got {value!r:.80}; choose fewer.")
    return int(value)


def check_number(
    name: str,
    value: object,
    above: float = -math.inf,
    least: float = -math.inf,
    below: float = math.inf,
    most: float = math.inf,
) -> float:
    """Return an option: a finite number > `above`, >= `least`, < `below` and <= `most`."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_):
        number = _as_float(value)
        if math.isfinite(number) and above < number < below and least <= number <= most:
            return number
    limits = [f"> {above:g}"] if math.isfinite(above) else []
    limits += [f">= {least:g}"] if math.isfinite(least) else []
    limits += [f"< {below:g}"] if math.isfinite(below) else []
    limits += [f"<= {most:g}"] if math.isfinite(most) else []
    wanted = " and ".join(limits) or "finite"
    raise InputError(f"{name} must be a number {wanted}; got {value!r}; choose one.")


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return an option that must be one of some words; the error has the nearest one."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    hint = nearest(str(value).lower(), known, 0.5) or "choose one of them."
    raise InputError(f"{name} must be one of {', '.join(known)}; got {value!r}; {hint}")


def check_size(name: str, value: object, least: int = 1) -> int:
    """Return an option by which memory grows: units, members, trees, samples."""
    return check_count(name, value, least, MOST_PARTS)


def check_flag(name: str, value: object) -> bool:
    """Return an option that must be True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False; got {value!r}; choose one.")
    return bool(value)


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the question whether the nearest name is meant; empty where none is near."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"did you mean {near[0]!r}?" if near else ""


def check_known(what: str, given: str, known: Collection[str], otherwise: str = "drop it.") -> None:
    """Refuse a name that is not known; `otherwise` is what to do where none is near it."""
    if given not in known:
        advice = nearest(given, known) or otherwise
        raise InputError(f"{what} are {', '.join(known) or 'none'}; got {given!r}; {advice}")


def check_widths(name: str, value: object) -> tuple[int, ...]:
    """Return hidden widths, one a layer, as a tuple; a single integer is one layer."""
    widths = (value,) if isinstance(value, int | np.integer) else value
    if not isinstance(widths, tuple | list) or not widths:
        raise InputError(
            f"{name} must be a tuple of widths, one a layer; got {value!r}; write (32, 32), say."
        )
    checked = tuple(check_size(f"every width of {name}", width) for width in widths)
    weights = max((before * after for before, after in pairwise(checked)), default=0)
    if weights > MOST_WEIGHTS:
        raise InputError(
            f"two layers of {name} must have at most {MOST_WEIGHTS} weights between them; got "
            f"{weights}; choose narrower ones."
        )
    return checked


def as_real(value: object, name: str) -> float:
    """Return a real number as a float; NaN, text and booleans are refused."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = _as_float(value)
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


def as_direction(given: object) -> Direction:
    """Return ``"maximize"`` or ``"minimize"``."""
    name = check_choice("direction", given, ("maximize", "minimize"))
    return "maximize" if name == "maximize" else "minimize"


def as_finite(value: Any, what: str) -> float:
    """Return a finite float; refuse text, booleans, NaN and infinities."""
    plain = unwrapped(value)
    if isinstance(plain, bool) or not isinstance(plain, numbers.Real):
        raise InputError(f"{what} must be a real number; got {value!r}; give a number.")
    number = _as_float(plain)
    if not np.isfinite(number):
        raise InputError(f"{what} must be finite; got {value!r}; give a finite number.")
    return number + 0.0  # no negative zero


def _as_float(value: Any) -> float:
    """Return a number as a float, infinite where an integer is beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_whole(value: Any, what: str) -> int:
    """Return an int that float64 holds exactly; 3.0 counts as 3."""
    plain = unwrapped(value)
    number: int | None
    if isinstance(plain, int) and not isinstance(plain, bool):
        number = plain
    else:
        real = as_finite(value, what)
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


def frozen(values: FloatArray) -> FloatArray:
    """Return a read-only, contiguous copy in which -0.0 has become 0.0."""
    copy = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    copy.flags.writeable = False
    return copy


def as_floats(values: Any, name: str) -> FloatArray:
    """Convert to float64, refusing text, complex numbers and ragged nesting."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf" and array.size and array.dtype != object:
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{name} must be an array of real numbers; got {values!r}; pass numbers only, "
            "every row of the same length."
        ) from error


def as_finite_vector(values: Any, name: str) -> FloatArray:
    """Convert to a finite (d,) float64 array."""
    array = as_floats(values, name)
    if array.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, one number a dimension; got shape {array.shape}; "
            "pass a flat sequence."
        )
    broken = np.flatnonzero(~np.isfinite(array))
    if broken.size:
        index = int(broken[0])
        raise InputError(
            f"{name} must be finite in every dimension; got {name}[{index}]={array[index]}; "
            "give a finite number."
        )
    return array


def as_points(points: Any, dimension: int) -> FloatArray:
    """Convert (n, d) points, or one (d,) point, to an (n, d) float64 array."""
    array = as_floats(points, "x")
    if array.ndim == 1 and array.size in (0, dimension):
        array = array.reshape(-1, dimension)
    if array.ndim != 2 or array.shape[1] != dimension:
        raise InputError(
            f"points must have shape (n, {dimension}) or ({dimension},); got {array.shape}; "
            "pass one coordinate a dimension."
        )
    return array
