"""Checks of options, one sentence each."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from nnbo_mip.core.errors import InputError
from nnbo_mip.core.nearest import nearest


def check_count(name: str, value: object, least: int = 1) -> int:
    """Return an option that must be an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be an integer >= {least}; got {value!r}; choose one.")
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
        number = float(value)
        if math.isfinite(number) and above < number < below and least <= number <= most:
            return number
    limits = [f"> {above:g}"] if math.isfinite(above) else []
    limits += [f">= {least:g}"] if math.isfinite(least) else []
    limits += [f"< {below:g}"] if math.isfinite(below) else []
    limits += [f"<= {most:g}"] if math.isfinite(most) else []
    wanted = " and ".join(limits) or "finite"
    raise InputError(f"{name} must be a number {wanted}; got {value!r}; choose one.")


def check_choice(name: str, value: object, choices: Sequence[str]) -> str:
    """Return an option that must be one of some words."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(
            f"{name} must be one of {', '.join(choices)}; got {value!r}; choose one of them."
        )
    return value


def check_flag(name: str, value: object) -> bool:
    """Return an option that must be True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False; got {value!r}; choose one.")
    return bool(value)


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
    return tuple(check_count(f"every width of {name}", width) for width in widths)
