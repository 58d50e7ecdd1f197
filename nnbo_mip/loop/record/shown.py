"""A user's x and values as they are printed: as many digits as tell them from their neighbours."""

from __future__ import annotations

from typing import Any

from nnbo_mip.space.abstract import NumericDimension
from nnbo_mip.space.space import Space

DIGITS = 6
"""Significant ones of a number, where nothing asks for more."""

MOST_DIGITS = 17

PART = 1e-5
"""Of a side, by which a printed coordinate may be off."""


RELATIVE = 1e-9
"""Of a coordinate whose side is not known."""


def number_text(value: float, tolerance: float = float("inf")) -> str:
    """Return a number with six digits, or with more where it would be off by a tolerance."""
    for digits in range(DIGITS, MOST_DIGITS):
        text = f"{value:.{digits}g}"
        if abs(float(text) - value) <= tolerance:
            return text
    return repr(float(value))


def point_text(x: Any, space: Space | None = None) -> str:
    """Return an x on one line.

    Parameters
    ----------
    x : array (d,) or dict
    space : Space, optional
        Whose sides say how many digits are needed.
    """
    widths = {} if space is None else _widths(space)
    if isinstance(x, dict):
        entries = (f"{name!r}: {_entry(one, widths.get(name))}" for name, one in x.items())
        return "{" + ", ".join(entries) + "}"
    entries = (_entry(float(one), widths.get(f"x{k}")) for k, one in enumerate(x))
    return "[" + ", ".join(entries) + "]"


def _entry(value: Any, width: float | None) -> str:
    if not isinstance(value, float):
        return repr(value)
    if width is None:
        return number_text(value, RELATIVE * abs(value))
    return number_text(value, PART * (width or abs(value)))


def _widths(space: Space) -> dict[str, float]:
    """Return the width of each side of numbers by name; 0 for one of which a factor matters."""
    sides = (one for one in space.dimensions if isinstance(one, NumericDimension))
    return {one.name: 0.0 if one.scale.log else one.scale.upper - one.scale.lower for one in sides}
