"""Levels of categories and tables, and the conditions under which a dimension is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from nnbo_mip.core.checks import unwrapped
from nnbo_mip.core.errors import InputError

if TYPE_CHECKING:
    from nnbo_mip.space.abstract import Dimension

Level: TypeAlias = str | int | float | bool
"""What a category may be: anything that JSON restores as the same object."""

WhenGiven: TypeAlias = Mapping[str, Level | Sequence[Level]]
"""Name of a category to the level, or the levels, where a dimension is active."""

When: TypeAlias = tuple[tuple[str, tuple[Level, ...]], ...]
"""The same in canonical form."""

STEP_TOLERANCE = 1e-6
"""How far, in steps, a real value may lie from a grid value and still be meant as it."""


def as_levels(name: str, given: object) -> tuple[Level, ...]:
    """Return distinct levels, at least one; refuse what is no level."""
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise InputError(f"levels of {name!r} must be a sequence; got {given!r}; pass a list.")
    levels = tuple(unwrapped(level) for level in given)
    if not levels:
        raise InputError(f"{name!r} must have at least one level; got none; list its levels.")
    for position, level in enumerate(levels):
        if not isinstance(level, str | int | float) or level != level:
            raise InputError(
                f"levels of {name!r} must be strings, numbers or booleans; got {level!r}; "
                "use a string and look your object up by it."
            )
        if isinstance(level, float) and not np.isfinite(level):
            raise InputError(f"levels of {name!r} must be finite; got {level!r}; use a string.")
        if level in levels[:position]:
            raise InputError(
                f"levels of {name!r} must be distinct; got {level!r} more than once "
                "(1, 1.0 and True are equal); drop or rename it."
            )
    return levels


def level_position(name: str, levels: Sequence[Level], value: Any) -> int:
    """Return the place of the level that equals a value."""
    plain = unwrapped(value)
    for position, level in enumerate(levels):
        # True == 1 in Python, but a flag given for a number is a mistake.
        if isinstance(level, bool) == isinstance(plain, bool) and level == plain:
            return position
    raise InputError(f"{name!r} must be one of {list(levels)}; got {value!r}; pick a level.")


def condition_of(dimension: Dimension) -> None:
    """Bring `when` and `default` of a new dimension into their canonical form."""
    name, given, default = dimension.name, dimension.when, dimension.default
    if given is None:
        if default is not None:
            raise InputError(
                f"default of {name!r} is what it counts as where its `when` does not hold; got "
                f"{default!r} without one; drop it, or say when."
            )
        return
    pairs = tuple(given.items()) if isinstance(given, Mapping) else given
    is_canonical = isinstance(pairs, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in pairs
    )
    if not is_canonical or not pairs:
        raise InputError(
            f"when of {name!r} must map the name of a category to a level, or to levels; got "
            f"{given!r}; write {{'optimizer': 'sgd'}}, say."
        )
    made = []
    for parent, levels in pairs:
        if not isinstance(parent, str):
            raise InputError(
                f"when of {name!r} must name categories; got {parent!r}; pass their names."
            )
        many = isinstance(levels, Sequence | np.ndarray)
        listed = list(levels) if many and not isinstance(levels, str) else [levels]
        made.append((parent, as_levels(f"{name} when {parent}", listed)))
    object.__setattr__(dimension, "when", tuple(made))
    if default is None:
        object.__setattr__(dimension, "default", dimension.middle())
        return
    try:
        object.__setattr__(dimension, "default", dimension.checked(default))
    except InputError as error:
        raise InputError(f"default of {name!r}: {error}") from error


def shown_condition(dimension: Dimension) -> str:
    """Return `when` and `default` as arguments, nothing where there are none."""
    if not dimension.when:
        return ""
    when = {
        parent: levels[0] if len(levels) == 1 else list(levels) for parent, levels in dimension.when
    }
    return f", when={when!r}, default={dimension.default!r}"
