"""The text of a VNN-LIB file as nested lists of words, and linear expressions in it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from nnbo_mip.core.errors import FileFormatError

Expression: TypeAlias = "str | list[Expression]"

MAX_NESTING = 64

_TOKEN = re.compile(r";[^\n]*|\s+|([()]|[^\s();\[]+(?:\s*\[[^\]]*\])?|\[[^\]]*\])")
"""A bracket behind a name, such as ``X [0, 3]``, belongs to it."""


def malformed(expected: str, got: object) -> FileFormatError:
    """Return the error about a text that is no property that can be read."""
    text = shown(got)
    text = text if len(text) <= 80 else text[:80] + "…"
    return FileFormatError(
        f"a VNN-LIB property must {expected}; got {text}; correct the file, or see the guide "
        "to verification for what is read."
    )


def shown(expression: object) -> str:
    """Return an expression as it was written."""
    if isinstance(expression, list):
        return f"({' '.join(map(shown, expression))})"
    return str(expression)


def parse(text: str) -> list[Expression]:
    """Return the expressions of a text, comments left out."""
    open_lists: list[list[Expression]] = [[]]
    for token in _tokens(text):
        if token == "(":
            if len(open_lists) > MAX_NESTING:
                raise malformed(f"nest at most {MAX_NESTING} deep", "more")
            open_lists.append([])
        elif token == ")":
            if len(open_lists) == 1:
                raise malformed("open every bracket that it closes", "a bracket too many")
            closed = open_lists.pop()
            open_lists[-1].append(closed)
        else:
            open_lists[-1].append(token)
    if len(open_lists) > 1:
        raise malformed("close every bracket", f"{len(open_lists) - 1} that are open at the end")
    return open_lists[0]


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise malformed("consist of words and brackets", repr(text[position : position + 20]))
        position = found.end()
        if found.group(1):
            yield found.group(1)


@dataclass(frozen=True)
class Linear:
    """A linear expression: coefficients of variables, and a constant."""

    terms: dict[tuple[str, int], Fraction]
    constant: Fraction

    def plus(self, other: Linear, factor: Fraction) -> Linear:
        """Return this and a multiple of another."""
        terms = dict(self.terms)
        for name, weight in other.terms.items():
            terms[name] = terms.get(name, Fraction(0)) + factor * weight
        return Linear(terms, self.constant + factor * other.constant)


Variable: TypeAlias = Callable[[str], "tuple[str, int] | None"]
"""From a word to ("X", index) or ("Y", index); None where it is no variable."""


def linear(expression: Expression, variable: Variable) -> Linear:
    """Return a linear expression; what is not linear is refused.

    Numbers are read as the nearest float64, and then computed with exactly.
    """
    if isinstance(expression, str):
        found = variable(expression)
        if found is not None:
            return Linear({found: Fraction(1)}, Fraction(0))
        return Linear({}, _number(expression))
    if not expression or expression[0] not in ("+", "-", "*", "/"):
        raise malformed("have linear terms, of +, -, * and numbers", expression)
    parts = [linear(part, variable) for part in expression[1:]]
    if not parts:
        raise malformed("give every operation something to work on", expression)
    sign, result = expression[0], parts[0]
    if sign in ("+", "-"):
        if len(parts) == 1 and sign == "-":
            return Linear({}, Fraction(0)).plus(result, Fraction(-1))
        for part in parts[1:]:
            result = result.plus(part, Fraction(1 if sign == "+" else -1))
        return result
    for part in parts[1:]:
        if sign == "/" and not part.terms and part.constant:
            part = Linear({}, 1 / part.constant)
        elif sign == "/" or (part.terms and result.terms):
            raise malformed("be linear", expression)
        if part.terms:
            result, part = part, result
        result = Linear({}, Fraction(0)).plus(result, part.constant)
    return result


def _number(text: str) -> Fraction:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise malformed("have numbers and declared variables only", repr(text))
    return Fraction(number)
