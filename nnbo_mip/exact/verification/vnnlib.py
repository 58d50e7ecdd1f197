"""Read VNN-LIB: what the verification competition writes its properties in.

Version 1.0 declares variables ``X_0, …, Y_0, …``; of version 2.0 one network with one input and
one output tensor is read, indexed as ``X[0,3]``. Conditions are linear comparisons under ``and``
and ``or``. They are multiplied out to cases (`property.Case`).

References
----------
Demarchi et al. (2023), the format VNN-LIB [Demarchi2023].
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import numpy as np

from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.core.files import read_limited
from nnbo_mip.exact.search.rounding import rounded_up
from nnbo_mip.exact.verification.expressions import Expression, linear, malformed, parse
from nnbo_mip.exact.verification.property import Case, Property, Row

MAX_BYTES = 64 << 20
MOST_CASES = 10_000

IGNORED = ("set-logic", "set-info", "set-option", "check-sat", "get-model", "exit")
"""Commands of SMT-LIB that say nothing about the property."""

Conjunction: TypeAlias = "tuple[Row, ...]"

_VARIABLE = re.compile(r"([XY])_(\d{1,9})")
_TENSOR = re.compile(r"([A-Za-z]\w*)\s*\[([\d,\s]*)\]")


def read_property(path: str | Path) -> Property:
    """Read a property from a ``.vnnlib`` or ``.vnnlib.gz`` file."""
    remedy = "a property of that size cannot be proven case by case"
    try:
        text = read_limited(path, MAX_BYTES, "the property", remedy).decode("utf-8")
        return parse_property(text)
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} must be a VNN-LIB text; got binary data; pass the property second."
        ) from error
    except FileFormatError as error:
        raise FileFormatError(f"{path} cannot be read: {error}") from error


def parse_property(text: str) -> Property:
    """Return the property that a VNN-LIB text describes."""
    declared = _Variables()
    cases: list[Conjunction] = [()]
    for command in parse(text):
        if not isinstance(command, list) or not command or not isinstance(command[0], str):
            raise malformed("be a list of commands in brackets", command)
        if command[0] in ("declare-const", "declare-fun"):
            declared.add(command)
        elif command[0] == "declare-network":
            declared.add_network(command)
        elif command[0] == "assert" and len(command) == 2:
            cases = _both(cases, _cases(command[1], declared))
        elif command[0] not in (*IGNORED, "vnnlib-version"):
            raise malformed("consist of declare-const and assert commands", command)
    declared.check()
    boxes = [_case(rows, declared.count("X"), number) for number, rows in enumerate(cases)]
    return Property(declared.count("X"), declared.count("Y"), tuple(boxes))


class _Variables:
    """What a file declared."""

    def __init__(self) -> None:
        self._indices: dict[str, set[int]] = {"X": set(), "Y": set()}
        self._tensors: dict[str, tuple[str, tuple[int, ...]]] = {}

    def count(self, kind: str) -> int:
        """Return the number of inputs (X) or outputs (Y)."""
        return len(self._indices[kind])

    def add(self, command: list[Expression]) -> None:
        """Declare X_i or Y_i of version 1."""
        found = _VARIABLE.fullmatch(str(command[1])) if len(command) >= 3 else None
        if found is None or command[-1] != "Real":
            raise malformed("declare real X_0, X_1, …, Y_0, …", command)
        self._indices[found[1]].add(int(found[2]))

    def add_network(self, command: list[Expression]) -> None:
        """Declare the tensors of version 2."""
        if self._tensors:
            raise malformed("be about one network", command)
        for part in command[2:]:
            words = [str(word) for word in part] if isinstance(part, list) else []
            kind = {"declare-input": "X", "declare-output": "Y"}.get(words[0] if words else "")
            shape = re.fullmatch(r"\w+\s+\w+\s*\[([\d,\s]*)\]", " ".join(words[1:]))
            if kind is None or shape is None or any(k == kind for k, _ in self._tensors.values()):
                raise malformed("declare one input and one output tensor with shapes", command)
            sizes = tuple(int(size) for size in shape[1].split(",") if size.strip())
            self._tensors[words[1]] = (kind, sizes)
            if math.prod(sizes) > MAX_BYTES:
                raise malformed("declare tensors that fit into memory", words)
            self._indices[kind] = set(range(math.prod(sizes)))

    def check(self) -> None:
        """Refuse variables that are missing."""
        for kind, indices in self._indices.items():
            if not indices or max(indices) != len(indices) - 1:
                names = ", ".join(f"{kind}_{index}" for index in sorted(indices)[:5]) or "none"
                raise malformed(f"declare {kind}_0, {kind}_1, … without a hole", names)

    def place(self, word: str) -> tuple[str, int] | None:
        """Return what a word names; an unknown index is refused."""
        found, tensor = _VARIABLE.fullmatch(word), _TENSOR.fullmatch(word)
        if found is not None:
            place = (found[1], int(found[2]))
        elif tensor is not None and tensor[1] in self._tensors:
            kind, shape = self._tensors[tensor[1]]
            index = tuple(int(part) for part in tensor[2].split(",") if part.strip())
            inside = len(index) == len(shape) and all(
                i < n for i, n in zip(index, shape, strict=True)
            )
            if not inside:
                raise malformed(f"index within the shape {list(shape)}", word)
            place = (kind, int(np.ravel_multi_index(index, shape)) if shape else 0)
        else:
            return None
        if place[1] not in self._indices[place[0]]:
            raise malformed("declare what it names", f"{word}, which is not declared")
        return place


def _both(first: list[Conjunction], second: list[Conjunction]) -> list[Conjunction]:
    if len(first) * len(second) > MOST_CASES:
        raise malformed(f"have at most {MOST_CASES} cases", f"{len(first) * len(second)}")
    return [a + b for a in first for b in second]


def _cases(condition: Expression, declared: _Variables) -> list[Conjunction]:
    """Multiply a condition out."""
    if not isinstance(condition, list) or not condition:
        raise malformed("assert and, or, <=, >=, <, > or =", condition)
    word, parts = condition[0], condition[1:]
    if word == "and":
        cases: list[Conjunction] = [()]
        for part in parts:
            cases = _both(cases, _cases(part, declared))
        return cases
    if word == "or":
        cases = [case for part in parts for case in _cases(part, declared)]
        return _both(cases, [()])
    if word not in ("<=", ">=", "<", ">", "=", "==") or len(parts) != 2:
        raise malformed("assert and, or, <=, >=, <, > or =", condition)
    left, right = (linear(part, declared.place) for part in parts)
    difference = left.plus(right, Fraction(-1))  # is compared with zero
    rows = []
    for sign, words in ((1, ("<=", "<", "=", "==")), (-1, (">=", ">", "=", "=="))):
        if word in words:
            terms = {name: sign * weight for name, weight in difference.terms.items()}
            of = {k: {i: w for (kind, i), w in terms.items() if kind == k} for k in "XY"}
            limit = -sign * difference.constant
            rows.append(Row(of["X"], of["Y"], limit, word in ("<", ">")))
    return [tuple(rows)]


def _case(rows: Sequence[Row], n_inputs: int, number: int) -> Case:
    """Gather the ends of inputs into a box; rows that the box says as well are left out."""
    lower, upper = np.full(n_inputs, -np.inf), np.full(n_inputs, np.inf)
    kept = []
    for row in rows:
        if not row.is_end:
            kept.append(row)
            continue
        ((index, weight),) = row.inputs.items()
        end = row.limit / weight
        if weight > 0:
            near = rounded_up(end)
            upper[index] = min(upper[index], near)
        else:
            near = -rounded_up(-end)
            lower[index] = max(lower[index], near)
        if row.strict or not math.isfinite(near) or Fraction(near) != end:
            kept.append(row)
    without = np.flatnonzero(~(np.isfinite(lower) & np.isfinite(upper)))
    if len(without):
        raise malformed(
            "give every input a lower and an upper end in every case",
            f"none for X_{without[0]} in case {number + 1}",
        )
    return Case(lower, upper, tuple(kept))
