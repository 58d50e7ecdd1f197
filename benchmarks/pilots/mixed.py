"""Two functions of numbers and categories, made for the question what a process learns of levels.

Both are known, and least at 0 or a little above it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.problems import Problem

SHIFTED = nm.Space(
    [
        nm.Real("a", 0.0, 1.0),
        nm.Real("b", 0.0, 1.0),
        nm.Integer("n", 1, 12),
        nm.Categorical("kind", ["p", "q", "r", "s", "t"]),
    ]
)
"""Each level moves the bowl, and lifts it."""

ADDITIVE = nm.Space(
    [
        nm.Real("a", -1.0, 1.0),
        nm.Real("b", -1.0, 1.0),
        nm.Real("c", -1.0, 1.0),
        nm.Categorical("first", list("abcd")),
        nm.Categorical("second", list("abcdef")),
        nm.Categorical("idle", list("abcd")),
    ]
)
"""Two categories add a number each, the third one does nothing."""


def shifted() -> Problem:
    """Return a bowl whose place and floor depend on the level."""
    return Problem("shifted", SHIFTED, lambda raw: [_bowl(x) for x in SHIFTED.from_numeric(raw)])


def additive() -> Problem:
    """Return a wavy sum of three numbers and of what two levels add."""
    return Problem("additive", ADDITIVE, lambda raw: [_sum(x) for x in ADDITIVE.from_numeric(raw)])


MADE = {"pilot_shifted": shifted, "pilot_additive": additive}
"""By the names under which pilots know them."""


def _bowl(x: Any) -> float:
    level = "pqrst".index(x["kind"])
    centre = np.array([0.2 + 0.15 * level, 0.8 - 0.12 * level])
    bowl = float(np.square(np.array([x["a"], x["b"]]) - centre).sum())
    floor = (0.5, 0.2, 0.0, 0.3, 0.6)[level]
    return 4.0 * bowl + 0.02 * float(x["n"] - 3 - level) ** 2 + floor


def _sum(x: Any) -> float:
    numbers = np.array([x["a"], x["b"], x["c"]])
    wavy = float(np.square(numbers - 0.3).sum() + 0.3 * (1.0 - np.cos(4.0 * (numbers - 0.3))).sum())
    first, second = "abcd".index(x["first"]), "abcdef".index(x["second"])
    added = (0.6, 0.0, 0.9, 0.3)[first] + (0.8, 0.5, 0.0, 1.0, 0.2, 0.6)[second]
    return wavy + added
