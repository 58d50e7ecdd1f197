"""Parse TOML: `tomllib` takes integers of any length, which no other reader of TOML has."""

from __future__ import annotations

import tomllib
from typing import Any

LARGEST = 2**63 - 1


def parsed_toml(text: str) -> dict[str, Any]:
    """Return the tree of a text; a ValueError says what is wrong with it.

    >>> parsed_toml("steps = 4")
    {'steps': 4}
    >>> parsed_toml("steps = 0x8000000000000000")
    Traceback (most recent call last):
    ValueError: an integer of TOML has 64 bits, and one here has more
    """
    try:
        tree = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    _check(tree)
    return tree


def _check(tree: Any) -> None:
    if isinstance(tree, dict | list):
        for part in tree.values() if isinstance(tree, dict) else tree:
            _check(part)
    elif isinstance(tree, int) and not -LARGEST - 1 <= tree <= LARGEST:
        raise ValueError("an integer of TOML has 64 bits, and one here has more")
