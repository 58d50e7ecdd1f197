"""Every way in which somebody may alter one place of a JSON document."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

Place = tuple[str | int, ...]

DEPTH = 900
WORDS = ("maximize", "minimize", "optimal", "feasible", "heuristic", "infeasible")
KINDS = ("rigorous", "solver", "none", "nan", "inf", "-inf", "0" * 64, "", "another output")


def places(document: Any, inside: Place = ()) -> Iterator[Place]:
    """Yield the places of all values of a document, however deep."""
    entries: Any = ()
    if isinstance(document, dict):
        entries = document.items()
    elif isinstance(document, list):
        entries = enumerate(document)
    for key, value in entries:
        yield (*inside, key)
        yield from places(value, (*inside, key))


def value_at(document: Any, place: Place) -> Any:
    for key in place:
        document = document[key]
    return document


def altered(document: Any, place: Place) -> Iterator[Any]:
    """Yield copies of a document in which the value at a place is another, or is missing."""
    last = place[-1]
    for value in other_values(value_at(document, place)):
        changed = copy.deepcopy(document)
        value_at(changed, place[:-1])[last] = value
        yield changed
    missing = copy.deepcopy(document)
    del value_at(missing, place[:-1])[last]
    yield missing


def other_values(value: Any) -> Iterator[Any]:
    """Yield values of the same and of other types, none of them the given one."""
    yield from (None, True, 0, 7, "1", [value], {"a": value}, nested())
    if isinstance(value, bool):
        yield from (not value, float(value))
    elif isinstance(value, int | float):
        size = max(1.0, abs(value))
        yield from (value + 1, -value - 1, value + 1e-6 * size, value - 1e-6 * size)
        yield from (1e308, -1e308, 5e-324, 10**400, "inf", "-inf", "nan", False)
    elif isinstance(value, str):
        yield from (value + " ", value[::-1] + "\0", *(word for word in WORDS if word != value))
        yield from (kind for kind in KINDS if kind != value)
    elif isinstance(value, list):
        yield from ([], [*value, *value], value[1:], value[::-1] + value[:1], [*value, 0.0])
    elif isinstance(value, dict):
        yield from ({}, {**value, "remark": 1.0}, {**value, "": None})


def nested() -> list[Any]:
    inner: list[Any] = []
    for _ in range(DEPTH):
        inner = [inner]
    return inner
