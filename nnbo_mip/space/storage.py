"""Domains and spaces as JSON-able dicts and as fingerprints.

Floats are written as JSON numbers, whose shortest decimal form restores every float64
exactly; infinities and NaN never occur in either and are refused on load.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nnbo_mip.core.checks import as_floats
from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.dimensions import Categorical, Integer, Real
from nnbo_mip.space.exclusions import ExclusionBoxes
from nnbo_mip.space.grid import Grid
from nnbo_mip.space.ordinal import Ordinal
from nnbo_mip.space.switches import Switch

if TYPE_CHECKING:
    from nnbo_mip.space.constraints import LinearConstraint, Term
    from nnbo_mip.space.domain import Domain
    from nnbo_mip.space.space import Space

DOMAIN_FORMAT = "nnbo_mip.domain"
SPACE_FORMAT = "nnbo_mip.space"
VERSION = 1

KINDS: dict[str, tuple[type[Real | Integer | Ordinal | Categorical], tuple[str, ...]]] = {
    "real": (Real, ("name", "lower", "upper", "log", "step")),
    "integer": (Integer, ("name", "lower", "upper", "step", "log")),
    "ordinal": (Ordinal, ("name", "levels", "log")),
    "categorical": (Categorical, ("name", "levels")),
}
CONDITION = ("when", "default")
"""Written of dimensions that are not always there."""


def domain_to_dict(domain: Domain) -> dict[str, Any]:
    """Return the JSON-able description of a domain; exclusions and switches where there are any."""
    data: dict[str, Any] = {
        "format": DOMAIN_FORMAT,
        "version": VERSION,
        "lower": domain.lower.tolist(),
        "upper": domain.upper.tolist(),
        "grids": [None if grid is None else grid_to_dict(grid) for grid in domain.grids],
        "one_hot": [list(group) for group in domain.one_hot],
        "A": domain.own_rows[0].tolist(),
        "b": domain.own_rows[1].tolist(),
    }
    if domain.switches:
        data["switches"] = [
            {
                "columns": list(switch.columns),
                "values": list(switch.values),
                "on": [list(levels) for levels in switch.on],
            }
            for switch in domain.switches
        ]
    if len(domain.exclusions):
        data["holes"] = {
            "lower": domain.exclusions.lower.tolist(),
            "upper": domain.exclusions.upper.tolist(),
        }
    return data


def domain_from_dict(data: Mapping[str, Any]) -> Domain:
    """Make the domain that `domain_to_dict` described."""
    from nnbo_mip.space.domain import Domain

    check_header(data, DOMAIN_FORMAT)
    parts = {"lower", "upper", "grids", "one_hot", "A", "b"}
    check_keys(data, parts | ({"holes", "switches"} & set(data)), header=True)
    groups = [
        [index(member, "one_hot") for member in items(group, "one_hot")]
        for group in items(data["one_hot"], "one_hot")
    ]
    grids = [
        None if grid is None else grid_from_dict(grid) for grid in items(data["grids"], "grids")
    ]
    try:
        return Domain(
            numbers(data["lower"], "lower"),
            numbers(data["upper"], "upper"),
            grids,
            groups,
            [numbers(row, "A") for row in items(data["A"], "A")],
            numbers(data["b"], "b"),
            _exclusions_from_dict(data["holes"]) if "holes" in data else None,
            [_switch_from_dict(entry) for entry in items(data.get("switches", []), "switches")],
        )
    except InputError as error:
        raise FileFormatError(f"the stored domain is not valid: {error}") from error


def _exclusions_from_dict(data: object) -> ExclusionBoxes:
    stored = check_keys(data, {"lower", "upper"})
    lower, upper = (
        as_floats([numbers(row, "holes") for row in items(stored[end], "holes")], "holes")
        for end in ("lower", "upper")
    )
    return ExclusionBoxes(lower, upper)


def _switch_from_dict(data: object) -> Switch:
    stored = check_keys(data, {"columns", "values", "on"})
    return Switch(
        tuple(index(column, "switches") for column in items(stored["columns"], "switches")),
        tuple(numbers(stored["values"], "switches")),
        tuple(
            tuple(index(level, "switches") for level in items(levels, "switches"))
            for levels in items(stored["on"], "switches")
        ),
    )


def domain_fingerprint(domain: Domain) -> str:
    """Hash ends, grids, groups, rows and any exclusions; counts separate the parts."""
    digest = hashlib.sha256(b"nnbo_mip.domain/1")
    _hash_floats(digest, domain.lower)
    _hash_floats(digest, domain.upper)
    for grid in domain.grids:
        if grid is None:
            digest.update(b"continuous;")
        elif grid.listed_values is not None:
            digest.update(b"listed;")
            _hash_floats(digest, grid.listed_values)
        else:
            digest.update(b"uniform;%d;" % grid.count)
            _hash_floats(digest, np.array([grid.first, grid.uniform_step or 0.0, grid.last]))
    digest.update(repr(domain.one_hot).encode())
    _hash_floats(digest, domain.A)
    _hash_floats(digest, domain.b)
    if len(domain.exclusions):
        digest.update(b"holes;")
        _hash_floats(digest, domain.exclusions.lower)
        _hash_floats(digest, domain.exclusions.upper)
    return digest.hexdigest()


def _hash_floats(digest: hashlib._Hash, values: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    digest.update(repr(values.shape).encode())
    digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())


def space_to_dict(space: Space) -> dict[str, Any]:
    """Return the JSON-able description of a space."""
    return {
        "format": SPACE_FORMAT,
        "version": VERSION,
        "named": space.is_named,
        "dimensions": [_dimension_to_dict(dimension) for dimension in space.dimensions],
        "constraints": [
            {
                "terms": [
                    [*(term if isinstance(term, tuple) else (term,)), coefficient]
                    for term, coefficient in constraint.coefficients.items()
                ],
                "sense": constraint.sense,
                "bound": constraint.bound,
            }
            for constraint in space.constraints
        ],
    }


def space_from_dict(data: object) -> Space:
    """Make the space that `space_to_dict` described."""
    from nnbo_mip.space.space import Space

    check_header(data, SPACE_FORMAT)
    stored = check_keys(data, {"named", "dimensions", "constraints"}, header=True)
    if not isinstance(stored["named"], bool):
        raise FileFormatError(f"named must be true or false; got {stored['named']!r}.")
    try:
        dimensions = [
            _dimension_from_dict(entry) for entry in items(stored["dimensions"], "dimensions")
        ]
        constraints = [
            _constraint_from_dict(entry) for entry in items(stored["constraints"], "constraints")
        ]
        if stored["named"]:
            return Space(dimensions, constraints)
        ends = [dimension.ends(model=False) for dimension in dimensions]
        box = Space.box([low for low, _ in ends], [high for _, high in ends])
        if box.dimensions != tuple(dimensions):
            raise FileFormatError(
                "the dimensions of a stored box must be continuous and called x0, x1, …; "
                f"got {dimensions}; store them with named = true."
            )
        return Space.box(box.numeric().lower, box.numeric().upper, constraints)
    except InputError as error:
        raise FileFormatError(f"the stored space is not valid: {error}") from error


def space_fingerprint(space: Space) -> str:
    """Hash the canonical JSON text of a space."""
    text = json.dumps(space_to_dict(space), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _dimension_to_dict(dimension: Dimension) -> dict[str, Any]:
    kind = next(kind for kind, (cls, _) in KINDS.items() if isinstance(dimension, cls))
    parts = {part: getattr(dimension, part) for part in KINDS[kind][1]}
    if "levels" in parts:
        parts["levels"] = list(parts["levels"])
    if dimension.when:
        parts["when"] = {parent: list(levels) for parent, levels in dimension.when}
        parts["default"] = dimension.default
    return {"kind": kind, **parts}


def _dimension_from_dict(data: object) -> Dimension:
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise FileFormatError(
            f"a stored dimension must have one of the kinds {list(KINDS)}; got {data!r}."
        )
    cls, parts = KINDS[kind]
    assert isinstance(data, Mapping)
    given = [*parts, *(CONDITION if "when" in data else ())]
    stored = check_keys(data, {"kind", *given})
    return cls(**{part: stored[part] for part in given})


def _constraint_from_dict(data: object) -> LinearConstraint:
    from nnbo_mip.space.constraints import LinearConstraint

    stored = check_keys(data, {"terms", "sense", "bound"})
    terms: dict[Term, float] = {}
    for entry in items(stored["terms"], "terms"):
        parts = items(entry, "terms")
        plain = all(isinstance(part, str | int | float) for part in parts)
        if not plain or not 2 <= len(parts) <= 3 or not isinstance(parts[0], str):
            raise FileFormatError(
                f"a stored term must be [name, coefficient] or [name, level, coefficient]; "
                f"got {entry!r}."
            )
        term: Term = parts[0] if len(parts) == 2 else (parts[0], parts[1])
        if term in terms:
            raise FileFormatError(f"a constraint must name {term!r} once; got it twice.")
        terms[term] = numbers(parts[-1:], "terms")[0]
    return LinearConstraint(terms, stored["sense"], numbers([stored["bound"]], "bound")[0])


def grid_to_dict(grid: Grid) -> dict[str, Any]:
    """Return the JSON-able description of a grid."""
    if grid.listed_values is not None:
        return {"values": grid.listed_values.tolist()}
    return {
        "first": grid.first,
        "step": grid.uniform_step,
        "count": grid.count,
        "last": grid.last,
    }


def grid_from_dict(data: object) -> Grid:
    """Make the grid that `grid_to_dict` described."""
    try:
        if isinstance(data, Mapping) and set(data) == {"values"}:
            return Grid.listed(numbers(data["values"], "values"))
        stored = check_keys(data, {"first", "step", "count", "last"})
        first, step, last = numbers([stored["first"], stored["step"], stored["last"]], "grids")
        return Grid.uniform(first, step, index(stored["count"], "count"), last)
    except InputError as error:
        raise FileFormatError(f"the stored grid is not valid: {error}") from error


def check_header(data: object, expected: str) -> None:
    """Refuse anything but a mapping of the expected format and version."""
    if not isinstance(data, Mapping) or data.get("format") != expected:
        got = data.get("format") if isinstance(data, Mapping) else type(data).__name__
        raise FileFormatError(
            f"expected a dict with format {expected!r}; got {got!r}; pass what to_dict returned."
        )
    version = data.get("version")
    if isinstance(version, bool) or version != VERSION:
        raise FileFormatError(
            f"{expected} version {VERSION} can be read; got {version!r}; "
            "read it with the release of nnbo_mip that wrote it."
        )


def check_keys(data: object, expected: set[str], header: bool = False) -> Mapping[str, Any]:
    """Return a mapping with exactly these keys; refuse anything else."""
    if not isinstance(data, Mapping):
        raise FileFormatError(f"expected a dict with keys {sorted(expected)}; got {data!r}.")
    known = expected | ({"format", "version"} if header else set())
    if set(data) != known:
        missing, unknown = sorted(known - set(data)), sorted(map(str, set(data) - known))
        raise FileFormatError(
            f"expected the keys {sorted(known)}; missing {missing}, unknown {unknown}; "
            "pass what to_dict returned."
        )
    return data


def items(value: object, name: str) -> list[Any]:
    """Return a JSON list; refuse anything else."""
    if not isinstance(value, list):
        raise FileFormatError(f"{name} must be a list; got {value!r}; pass what to_dict returned.")
    return value


def numbers(value: object, name: str) -> list[float]:
    """Return a JSON list of finite numbers as floats; refuse text, booleans, NaN, infinities."""
    entries = items(value, name)
    for entry in entries:
        number = isinstance(entry, (int, float)) and not isinstance(entry, bool)
        if not number or not abs(entry) <= sys.float_info.max:
            raise FileFormatError(
                f"{name} must hold finite numbers; got {entry!r}; pass what to_dict returned."
            )
    return [float(entry) for entry in entries]


def index(value: object, name: str) -> int:
    """Return a JSON integer; refuse booleans and fractions."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise FileFormatError(f"{name} must hold integers; got {value!r}.")
    return value
