"""Files that describe a space, in TOML or JSON.

Both hold ``dimensions``, a list of tables with kind, name and the arguments of `Real`,
`Integer`, `Ordinal` or `Categorical`, and ``constraints``, a list of tables with ``coefficients``
(name to number), ``sense`` and ``bound``; a level of a category is named ``"name=level"``. JSON
may also be what ``Space.to_dict`` gives.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.core.files import read_limited
from nnbo_mip.core.toml import parsed_toml
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.constraints import LinearConstraint, Term
from nnbo_mip.space.dimensions import Categorical, Integer, Real
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.ordinal import Ordinal
from nnbo_mip.space.space import Space
from nnbo_mip.space.storage import DOMAIN_FORMAT, SPACE_FORMAT

MAX_BYTES = 16 << 20
ENDINGS = (".toml", ".json")
KINDS: dict[str, type[Real | Integer | Ordinal | Categorical]] = {
    "real": Real,
    "integer": Integer,
    "ordinal": Ordinal,
    "categorical": Categorical,
}
CONSTRAINT_KEYS = ("coefficients", "sense", "bound")


def read_space(path: Path) -> Space | Domain:
    """Read a space from a file that ends in .toml or .json; see the module."""
    text = read_limited(path, MAX_BYTES, "the space", "list fewer levels, or use ranges")
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"a file with a space ends in {' or '.join(ENDINGS)}; got {str(path)!r}; rename it, or "
            "name another one."
        )
    try:
        return _space(_parsed(text, path.suffix.lower()))
    except (InputError, FileFormatError) as error:
        raise FileFormatError(f"{path} holds no valid space: {error}") from error


def _parsed(text: bytes, ending: str) -> Any:
    try:
        return parsed_toml(text.decode()) if ending == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        got = "binary data" if isinstance(error, UnicodeDecodeError) else f"other text ({error})"
        raise FileFormatError(
            f"it must be valid {ending.lstrip('.').upper()}; got {got}; correct it."
        ) from error


def _space(data: Any) -> Space | Domain:
    if not isinstance(data, dict):
        raise FileFormatError(
            f"it must hold dimensions and, optionally, constraints; got a {type(data).__name__}; "
            "write an object with these keys."
        )
    if data.get("format") == DOMAIN_FORMAT:
        return Domain.from_dict(data)
    if data.get("format") == SPACE_FORMAT:
        return Space.from_dict(data)
    _check_keys(data, "it", ["dimensions"], ["constraints"])
    dimensions = [
        _dimension(entry, f"dimension {position}")
        for position, entry in enumerate(_tables(data["dimensions"], "dimensions"), start=1)
    ]
    if not dimensions:
        raise FileFormatError(
            "dimensions must list at least one dimension; got none; add one for every input."
        )
    constraints = [
        _constraint(entry, dimensions, f"constraint {position}")
        for position, entry in enumerate(_tables(data.get("constraints", []), "constraints"), 1)
    ]
    return Space(dimensions, constraints)


def _tables(value: object, name: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise FileFormatError(
            f"{name} must be a list of tables; got {value!r:.60}; begin each with [[{name}]] in "
            "TOML, or list objects in JSON."
        )
    return value


def _check_keys(
    entry: dict[str, Any], what: str, required: Sequence[str], optional: Sequence[str]
) -> None:
    missing = [name for name in required if name not in entry]
    unknown = [name for name in entry if name not in (*required, *optional)]
    if not missing and not unknown:
        return
    may = f" and may have {_listed(optional)}" if optional else ""
    wrong = [f"no {_listed(missing)}"] if missing else []
    wrong += [f"the unknown {_listed(unknown)}"] if unknown else []
    todo = f"add {_listed(missing)}" if missing else f"remove {_listed(unknown)}"
    raise FileFormatError(
        f"{what} must have {_listed(required)}{may}; got {' and '.join(wrong)}; {todo}."
    )


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else str(last)


def _dimension(entry: dict[str, Any], what: str) -> Dimension:
    arguments = dict(entry)
    kind = arguments.pop("kind", "categorical" if "levels" in entry else "real")
    if not isinstance(kind, str) or kind not in KINDS:
        raise FileFormatError(
            f"the kind of {what} must be one of {', '.join(KINDS)}; got {kind!r}; choose one."
        )
    given = [field for field in fields(KINDS[kind]) if field.init]
    required = [field.name for field in given if field.default is MISSING]
    optional = [field.name for field in given if field.default is not MISSING]
    _check_keys(arguments, f"{what}, of kind {kind},", required, optional)
    return KINDS[kind](**arguments)


def _constraint(
    entry: dict[str, Any], dimensions: Sequence[Dimension], what: str
) -> LinearConstraint:
    _check_keys(entry, what, CONSTRAINT_KEYS, [])
    coefficients = entry["coefficients"]
    if not isinstance(coefficients, dict):
        raise FileFormatError(
            f"the coefficients of {what} must be a table of names and numbers; got "
            f"{coefficients!r:.60}; write {{ x = 1.0 }}."
        )
    levels: dict[str, Term] = {
        f"{dimension.name}={level}": (dimension.name, level)
        for dimension in dimensions
        if isinstance(dimension, Categorical)
        for level in dimension.levels
    }
    terms: dict[Term, float] = {}
    for name, value in coefficients.items():
        terms[levels.get(str(name), str(name))] = value
    return LinearConstraint(terms, entry["sense"], entry["bound"])
