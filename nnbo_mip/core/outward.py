"""Proven bounds as they are shown: never on the wrong side of what was proven."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context


def text_above(number: float, digits: int) -> str:
    """Return a bound from above as it is shown: in so many digits, rounded up."""
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return f"{float(context.create_decimal_from_float(number)):.{digits}g}"
