"""The option ``dimension`` of scalable problems, and boxes of equal sides."""

from __future__ import annotations

from nnbo_mip.core.checks import as_whole
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.space import Space


def check_dimension(name: str, dimension: object, least: int = 1, most: int = 10_000) -> int:
    """Return the number of variables of a problem, from `least` to `most`."""
    number = as_whole(dimension, f"the dimension of {name!r}")
    if not least <= number <= most:
        raise InputError(
            f"the dimension of {name!r} must be from {least} to {most}; got {number}; choose one."
        )
    return number


def cube(dimension: int, lower: float, upper: float) -> Space:
    """Return the box [lower, upper]^dimension."""
    return Space.box([lower] * dimension, [upper] * dimension)
