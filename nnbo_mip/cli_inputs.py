"""What the command line says in text: numbers, outputs, files that describe a space."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nnbo_mip.errors import FileFormatError, InputError
from nnbo_mip.network.files import read_limited
from nnbo_mip.network.graph import Network
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.constraints import LinearConstraint, Term
from nnbo_mip.space.dimensions import Categorical, Integer, Real
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.space import Space
from nnbo_mip.space.storage import DOMAIN_FORMAT, SPACE_FORMAT

MAX_BYTES = 16 << 20
KINDS: dict[str, Callable[..., Dimension]] = {
    "real": Real,
    "integer": Integer,
    "categorical": Categorical,
}


def parse_space(
    network: Network, lower: str | None, upper: str | None, path: Path | None
) -> Space | Domain:
    """Return the space that --lower and --upper, or --space, describe."""
    if path is not None:
        if lower is not None or upper is not None:
            raise InputError(
                "the space is given by --space or by --lower and --upper; got both; drop one."
            )
        return read_space(path)
    if lower is None or upper is None:
        raise InputError(
            "the space needs --lower and --upper, or --space; got "
            f"{'only one end' if lower or upper else 'none'}; give both ends of every input."
        )
    low = _numbers(lower, "--lower", network.n_inputs)
    return Space.box(low, _numbers(upper, "--upper", network.n_inputs))


def _numbers(text: str, option: str, count: int) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(
            f"{option} must be a number or a comma list of numbers; got {text!r}; "
            f"write {option} -1 or {option} -1,0.5,2."
        ) from error
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise InputError(
            f"{option} must have one number, or {count}, as many as the network has inputs; "
            f"got {len(values)}."
        )
    return values


def parse_output(given: list[str] | None) -> str | dict[str, float] | None:
    """Return a name, or the weights of NAME=WEIGHT entries."""
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    weights: dict[str, float] = {}
    for entry in given:
        name, separator, weight = entry.rpartition("=")
        try:
            number = float(weight)
        except ValueError:
            separator = ""
        if not separator or name in weights:
            raise InputError(
                f"several outputs are given as NAME=WEIGHT, each once; got {entry!r}; "
                "write --output mean=1 --output std=0.5."
            )
        weights[name] = number
    return weights


def read_space(path: Path) -> Space | Domain:
    """Read a space from TOML or JSON.

    JSON may be what ``Space.to_dict`` gives. Otherwise both hold ``dimensions``, a list of
    tables with kind, name and the arguments of Real, Integer or Categorical, and
    ``constraints``, a list of tables with ``coefficients`` (name to number), ``sense`` and
    ``bound``; a level of a categorical is named ``"name=level"``.
    """
    text = read_limited(path, MAX_BYTES)
    try:
        if path.suffix.lower() == ".toml":
            data: Any = tomllib.loads(text.decode())
        else:
            data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{path} must be valid {path.suffix.lower().lstrip('.') or 'JSON'}; got something else "
            f"({error}); correct it."
        ) from error
    stored = data.get("format") if isinstance(data, dict) else None
    if stored == DOMAIN_FORMAT:
        return Domain.from_dict(data)
    if stored == SPACE_FORMAT:
        return Space.from_dict(data)
    if not isinstance(data, dict) or not set(data) <= {"dimensions", "constraints"}:
        raise FileFormatError(
            f"{path} must hold dimensions and, optionally, constraints; got "
            f"{sorted(data) if isinstance(data, dict) else type(data).__name__}; "
            "see nnbo-mip certify --help."
        )
    dimensions = [_dimension(entry) for entry in _tables(data.get("dimensions"), "dimensions")]
    constraints = _tables(data.get("constraints", []), "constraints")
    return Space(dimensions, [_constraint(entry, dimensions) for entry in constraints])


def _tables(value: object, name: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise FileFormatError(
            f"{name} must be a list of tables; got {type(value).__name__}; write [[{name}]]."
        )
    return value


def _dimension(entry: dict[str, Any]) -> Dimension:
    arguments = dict(entry)
    kind = arguments.pop("kind", "categorical" if "levels" in entry else "real")
    if not isinstance(kind, str) or kind not in KINDS:
        raise FileFormatError(
            f"the kind of a dimension must be one of {', '.join(KINDS)}; got {kind!r}."
        )
    try:
        return KINDS[kind](**arguments)
    except TypeError as error:
        raise FileFormatError(
            f"a dimension of kind {kind} has other arguments; got {sorted(arguments)} ({error})."
        ) from error


def _constraint(entry: dict[str, Any], dimensions: list[Dimension]) -> LinearConstraint:
    coefficients = entry.get("coefficients")
    if set(entry) != {"coefficients", "sense", "bound"} or not isinstance(coefficients, dict):
        raise FileFormatError(
            f"a constraint has coefficients (a table), sense and bound; got {sorted(entry)}."
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
