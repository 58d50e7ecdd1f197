r"""`LinearConstraint`, and how constraints become rows of a `Domain`.

In raw coordinates x a constraint is one row ``a x <= b`` (two of opposite sign for
``==``). With ``x_j = c_j + h_j z_j`` the same row reads in model coordinates

    sum_j (a_j h_j) z_j <= b - sum_j a_j c_j = b'.

A domain admits rows within ``1e-9 (1 + |b|)``, and |b'| is not |b|: the slack in model
coordinates could exceed the one in raw coordinates. The right-hand side is then lowered
until ``b' + slack`` stands below the raw limit, so that a point admissible in model
coordinates decodes to an admissible point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_finite
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.abstract import Dimension, NumericDimension
from nnbo_mip.space.dimensions import Categorical
from nnbo_mip.space.domain import ROW_SLACK
from nnbo_mip.space.levels import Level

Term: TypeAlias = str | tuple[str, Level]
Sense: TypeAlias = Literal["<=", ">=", "=="]

SENSES = ("<=", ">=", "==")

SHARE_OF_SLACK = 0.75
"""Part of the raw slack that model rows use; the rest is left to the rounding of decoding."""


@dataclass(frozen=True, repr=False)
class LinearConstraint:
    """``sum of coefficient * dimension  (<=, >= or ==)  bound``.

    Parameters
    ----------
    coefficients : mapping
        Name of a dimension to its coefficient. A level of a categorical is named by the
        pair (name, level) and counts 1 when chosen, 0 when not.
    sense : {"<=", ">=", "=="}
        The relation.
    bound : float
        The right-hand side.

    Examples
    --------
    >>> LinearConstraint({"x": 1.0, "layers": 2.0}, "<=", 9.0)
    LinearConstraint({'x': 1.0, 'layers': 2.0}, '<=', 9.0)
    """

    coefficients: Mapping[Term, float] = field(hash=False)
    sense: Sense
    bound: float

    def __post_init__(self) -> None:
        given: object = self.coefficients
        if not isinstance(given, Mapping) or not given:
            raise InputError(
                "coefficients must map names of dimensions to numbers, at least one; "
                f"got {given!r}; pass a dict such as {{'x': 1.0}}."
            )
        if self.sense not in SENSES:
            raise InputError(
                f"the sense of a constraint must be one of {SENSES}; got {self.sense!r}; "
                "pick one (strict inequalities have no exact meaning in floating point)."
            )
        terms = {
            term: as_finite(number, f"the coefficient of {term!r}")
            for term, number in given.items()
        }
        object.__setattr__(self, "coefficients", terms)
        object.__setattr__(self, "bound", as_finite(self.bound, "the bound of a constraint"))

    def __repr__(self) -> str:
        return f"LinearConstraint({self.coefficients!r}, {self.sense!r}, {self.bound!r})"


def as_constraints(given: object, dimensions: Sequence[Dimension]) -> tuple[LinearConstraint, ...]:
    """Convert ours, SciPy's, or any mixture of them in a sequence."""
    if isinstance(given, LinearConstraint) or _is_scipy_constraint(given):
        given = (given,)
    if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
        raise InputError(
            "constraints must be LinearConstraint objects (ours or scipy.optimize's); "
            f"got {given!r}; make one, or a list of them."
        )
    constraints: list[LinearConstraint] = []
    for entry in given:
        if isinstance(entry, LinearConstraint):
            constraints.append(entry)
        elif _is_scipy_constraint(entry):
            constraints.extend(_from_scipy(entry, dimensions))
        else:
            raise InputError(
                "constraints must be linear: LinearConstraint objects, ours or scipy.optimize's; "
                f"got {entry!r}; nonlinear constraints are not supported."
            )
    return tuple(constraints)


def raw_rows(
    constraints: Sequence[LinearConstraint], dimensions: Sequence[Dimension]
) -> tuple[FloatArray, FloatArray]:
    """Return A (m, d) and b (m,) of ``A x <= b`` in raw coordinates."""
    columns = _columns(dimensions)
    width = sum(dimension.width for dimension in dimensions)
    A: list[FloatArray] = []
    b: list[float] = []
    for constraint in constraints:
        row = np.zeros(width)
        for term, coefficient in constraint.coefficients.items():
            row[_column(term, columns, constraint)] += coefficient
        if constraint.sense != ">=":
            A.append(row)
            b.append(constraint.bound)
        if constraint.sense != "<=":
            A.append(-row)
            b.append(-constraint.bound)
    return np.array(A).reshape(len(b), width), np.array(b)


def model_rows(
    A: FloatArray, b: FloatArray, dimensions: Sequence[Dimension]
) -> tuple[FloatArray, FloatArray]:
    """Rewrite raw rows in model coordinates; see the module docstring."""
    centre, half_width = [], []
    for dimension in dimensions:
        # No row has a coefficient at one that is not affine, so its entry is never used.
        affine = dimension.scale.affine() if isinstance(dimension, NumericDimension) else (0.0, 1.0)
        centre += [affine[0]] * dimension.width
        half_width += [affine[1]] * dimension.width
    scaled = A * np.array(half_width)
    shifted = [math.fsum([right, *(-row * centre)]) for row, right in zip(A, b, strict=True)]
    limits = [
        right + SHARE_OF_SLACK * ROW_SLACK * (1.0 + abs(raw))
        for right, raw in zip(shifted, b, strict=True)
    ]
    rights = [min(s, _largest_right(limit)) for s, limit in zip(shifted, limits, strict=True)]
    return scaled, np.array(rights)


def _largest_right(limit: float) -> float:
    """Return the largest b with ``b + ROW_SLACK * (1 + |b|) <= limit``, up to rounding."""
    factor = 1.0 + ROW_SLACK if limit >= ROW_SLACK else 1.0 - ROW_SLACK
    right = (limit - ROW_SLACK) / factor
    while right + ROW_SLACK * (1.0 + abs(right)) > limit:
        right = math.nextafter(right, -math.inf)
    return right


def _columns(dimensions: Sequence[Dimension]) -> dict[Term, int | str]:
    """Map each term a constraint may name to its column, or to why it may not be named."""
    columns: dict[Term, int | str] = {}
    start = 0
    for dimension in dimensions:
        name = dimension.name
        if isinstance(dimension, Categorical):
            columns[name] = f"it is categorical: name a level, as in ({name!r}, level)"
            for offset, level in enumerate(dimension.levels):
                columns[name, level] = start + offset
        elif isinstance(dimension, NumericDimension) and not dimension.scale.is_affine:
            columns[name] = "it is logarithmic: leave log out, or constrain other dimensions"
            if dimension.scale.by_rank:
                columns[name] = "models see its ranks: say log=False where levels are numbers"
        else:
            columns[name] = start
        start += dimension.width
    return columns


def _column(term: Term, columns: dict[Term, int | str], constraint: LinearConstraint) -> int:
    column = columns.get(term)
    if column is None:
        raise InputError(
            f"constraints must name dimensions of the space; got {term!r} in {constraint!r}; "
            f"the known ones are {list(columns)}."
        )
    if isinstance(column, str):
        raise InputError(
            f"a linear constraint needs dimensions on a linear scale; got {term!r} in "
            f"{constraint!r}, but {column}."
        )
    return column


def _is_scipy_constraint(given: object) -> bool:
    return all(hasattr(given, part) for part in ("A", "lb", "ub"))


def _from_scipy(given: Any, dimensions: Sequence[Dimension]) -> list[LinearConstraint]:
    """Turn ``lb <= A x <= ub`` into one or two constraints a row."""
    if any(dimension.width != 1 or isinstance(dimension, Categorical) for dimension in dimensions):
        raise InputError(
            "scipy.optimize.LinearConstraint needs one column a dimension; got a space with "
            "categorical dimensions; use nnbo_mip.LinearConstraint, which goes by names."
        )
    dense = given.A.toarray() if hasattr(given.A, "toarray") else given.A
    A = np.atleast_2d(np.asarray(dense, dtype=np.float64))
    if A.ndim != 2 or A.shape[1] != len(dimensions):
        raise InputError(
            f"A of a scipy.optimize.LinearConstraint must have {len(dimensions)} columns, one a "
            f"dimension; got shape {A.shape}; did you pass A.T?"
        )
    lower = np.broadcast_to(np.asarray(given.lb, dtype=np.float64), A.shape[:1])
    upper = np.broadcast_to(np.asarray(given.ub, dtype=np.float64), A.shape[:1])
    constraints: list[LinearConstraint] = []
    for row, low, high in zip(A, lower.tolist(), upper.tolist(), strict=True):
        terms: dict[Term, float] = {
            dimension.name: float(coefficient)
            for dimension, coefficient in zip(dimensions, row, strict=True)
            if coefficient != 0.0
        } or {dimensions[0].name: 0.0}
        if low == high:
            constraints.append(LinearConstraint(terms, "==", low))
            continue
        if high != math.inf:
            constraints.append(LinearConstraint(terms, "<=", high))
        if low != -math.inf:
            constraints.append(LinearConstraint(terms, ">=", low))
    return constraints
