"""What users write: spaces in the forms of other libraries, and points of a space.

A point x has one value a dimension: an array for a box and a dict for named dimensions.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_floats, as_points
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.conditions import Conditions
from nnbo_mip.space.dimensions import Real
from nnbo_mip.space.domain import Domain

if TYPE_CHECKING:
    from nnbo_mip.space.space import Space

FORMS = (
    "Space, Domain, [(lo, hi), …], {'name': (lo, hi), …}, scipy.optimize.Bounds, or a list of "
    "dimensions"
)


def as_space(given: object, constraints: object = ()) -> Space | Domain:
    """Make a space of anything that describes one; see `Space.coerce`."""
    from nnbo_mip.space.space import Space

    if isinstance(given, Space | Domain):
        if not isinstance(constraints, tuple | list) or constraints:
            raise InputError(
                f"a {type(given).__name__} carries its own constraints; got more beside it; "
                "pass them when you make it."
            )
        return given
    if isinstance(given, Mapping):
        return Space([_real(name, pair) for name, pair in given.items()], constraints)
    if hasattr(given, "lb") and hasattr(given, "ub") and not hasattr(given, "A"):
        return _from_bounds(given, constraints)
    if isinstance(given, Sequence) and given and isinstance(given[0], Dimension):
        return Space(given, constraints)
    if isinstance(given, np.ndarray) or (
        isinstance(given, Sequence) and not isinstance(given, str)
    ):
        pairs = _pairs(given)
        return Space.box(pairs[:, 0], pairs[:, 1], constraints)
    raise InputError(f"a space must be given as {FORMS}; got {given!r}; use one of these.")


def _real(name: Any, pair: object) -> Real:
    if isinstance(pair, Dimension):
        raise InputError(
            f"a dict of bounds maps names to (lo, hi); got {pair!r} for {name!r}; "
            "pass dimensions in a list."
        )
    ends = as_floats(pair, f"bounds of {name!r}")
    if ends.shape != (2,):
        raise InputError(
            f"bounds of {name!r} must be a pair (lo, hi); got {pair!r}; give both ends."
        )
    return Real(name, float(ends[0]), float(ends[1]))


def _from_bounds(given: Any, constraints: object) -> Space:
    """Turn a ``scipy.optimize.Bounds``, whose ends may be scalars, into a box."""
    from nnbo_mip.space.space import Space

    try:
        lower, upper = np.broadcast_arrays(
            np.atleast_1d(as_floats(given.lb, "lb")), np.atleast_1d(as_floats(given.ub, "ub"))
        )
    except ValueError as error:
        raise InputError(
            f"lb and ub of Bounds must have the same length; got {np.shape(given.lb)} and "
            f"{np.shape(given.ub)}; give both ends of every dimension."
        ) from error
    return Space.box(lower, upper, constraints)


def _pairs(given: Any) -> FloatArray:
    """Return (d, 2) pairs; refuse two stacked rows of lower and upper ends, with a hint."""
    hint = "did you mean Space.box(lower, upper), or bounds.T?"
    pairs = as_floats(given, "bounds")
    if pairs.ndim == 2 and pairs.shape[0] == 2 and pairs.shape[1] != 2:
        raise InputError(
            f"bounds must be pairs [(lo, hi), …], shape (d, 2); got shape {pairs.shape}; {hint}"
        )
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.shape[0] == 0:
        raise InputError(
            f"bounds must be pairs [(lo, hi), …], shape (d, 2); got shape {pairs.shape}; "
            "give one pair a dimension."
        )
    if pairs.shape[0] == 2 and (isinstance(given, np.ndarray) or _only_reads_stacked(pairs)):
        raise InputError(
            f"two bounds must be given as a list of pairs [(lo, hi), (lo, hi)]; got "
            f"{pairs.tolist()}, which may as well be [lower, upper]; {hint}"
        )
    return pairs


def _only_reads_stacked(pairs: FloatArray) -> bool:
    """Whether a (2, 2) list makes sense as [lower, upper] but hardly as two pairs."""
    stacked = bool((pairs[0] <= pairs[1]).all())
    widths = pairs[:, 1] - pairs[:, 0]
    return stacked and bool((widths < 0.0).any() or (widths == 0.0).all())


def read_array(x: object, dimension: int) -> tuple[list[Sequence[Any]], bool]:
    """Return the columns of a point (d,) or of points (n, d), and whether it was one point."""
    array = as_floats(plain(x), "x")
    return list(as_points(array, dimension).T), array.ndim == 1 and array.size > 0


def read_dicts(
    x: object, names: tuple[str, ...], conditions: Conditions
) -> tuple[list[Sequence[Any]], bool]:
    """Return the columns of a dict or of a sequence of dicts, and whether it was one dict.

    Inactive dimensions have their default, whether they are given or not.
    """
    single = isinstance(x, Mapping)
    points = [x] if single else x
    if not isinstance(points, Sequence | np.ndarray) or isinstance(points, str):
        raise InputError(
            f"x must be a dict with the keys {list(names)}, or a sequence of them; got {x!r}; "
            "name the values."
        )
    rows = [_row(point, names, conditions) for point in points]
    return [[row[j] for row in rows] for j in range(len(names))], single


def write_array(columns: list[list[Any]], single: bool) -> Any:
    """Return the point (d,) or the points (n, d) with these columns."""
    array = np.array(columns, dtype=np.float64).T.copy()
    return array[0] if single else array


def write_dicts(
    columns: list[list[Any]], names: tuple[str, ...], conditions: Conditions, single: bool
) -> Any:
    """Return the dict or the list of dicts with these columns, inactive dimensions left out."""
    points = [
        conditions.stripped(dict(zip(names, values, strict=True)))
        for values in zip(*columns, strict=True)
    ]
    return points[0] if single else points


def _row(point: object, names: tuple[str, ...], conditions: Conditions) -> list[Any]:
    """Return the values of one dict in the order of the names."""
    if not isinstance(point, Mapping):
        raise InputError(
            f"x must be a dict with the keys {list(names)}; got {point!r}; name the values."
        )
    unknown = [key for key in point if key not in names]
    if unknown:
        close = difflib.get_close_matches(str(unknown[0]), names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "drop it."
        raise InputError(
            f"x must be a dict with the keys {list(names)}; got {unknown[0]!r} as well; {hint}"
        )
    point = conditions.filled(point)
    missing = [name for name in names if name not in point]
    if missing:
        raise InputError(
            f"x must be a dict with the keys {list(names)}; {missing[0]!r} is missing; add it."
        )
    return [plain(point[name]) for name in names]


def plain(x: Any) -> Any:
    """Return tensors as lists of numbers, other things as they are; refuse what stands for none."""
    if isinstance(x, float | int | str):
        return x
    if isinstance(x, list | tuple):
        return [plain(entry) for entry in x]
    if isinstance(x, np.ma.MaskedArray) and np.ma.getmaskarray(x).any():
        raise InputError(f"x must have a value in every entry; got {x!r:.80}; fill what is masked.")
    if getattr(getattr(x, "dtype", None), "kind", "") in ("m", "M"):
        raise InputError(f"x must be made of numbers; got {x!r:.80}; convert times to one unit.")
    # A tensor that is learned, or of a type that NumPy lacks, is no array; torch is not imported.
    return x.tolist() if hasattr(x, "detach") and hasattr(x, "tolist") else x
