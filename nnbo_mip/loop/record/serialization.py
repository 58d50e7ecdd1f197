"""Options, points and numbers as JSON holds them, and back.

An option object is written as ``{"name": …, field: value}``, all fields included, so that a later
release with other defaults makes the same object of it. Only fields that are infinite by default,
as a limit is where there is none, are left out: JSON has no infinity.

`as_value`, `shown` and `as_reason` say what objects of somebody else are, whatever their methods
do.
"""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nnbo_mip.core.errors import FileFormatError, InputError


def described(made: object, given: object, create: Callable[[Any], object]) -> Any:
    """Return a JSON-able description of an option object, None where there is none.

    Parameters
    ----------
    made : object
        The option object.
    given : object
        What the user gave, from which it was made: the description where the fields of the
        object do not say all.
    create : callable
        Makes an object of a description.
    """
    try:
        copy = json.loads(json.dumps(_fields(made), allow_nan=False))
        if isinstance(copy, dict) and create(copy) == made:
            return copy
    except (TypeError, ValueError):  # not JSON, or not what the registry knows
        pass
    if isinstance(given, str | Mapping):
        return json.loads(json.dumps(given, allow_nan=False))
    return None


def describes(description: Any, made: object) -> bool:
    """Whether a stored description is that of an object; no registry is asked."""
    try:
        return bool(json.loads(json.dumps(_fields(made), allow_nan=False)) == description)
    except (TypeError, ValueError):
        return False


def _fields(value: Any) -> Any:
    """Return an option object as a dict with its name, and NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [_fields(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: _fields(entry) for key, entry in value.items()}
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    name = getattr(value, "name", None)
    if not isinstance(name, str):
        raise TypeError(f"{type(value).__name__} has no name")
    kept = [field.name for field in dataclasses.fields(value) if not _is_unlimited(value, field)]
    return {"name": name, **{field: _fields(getattr(value, field)) for field in kept}}


def _is_unlimited(value: Any, field: dataclasses.Field[Any]) -> bool:
    """Whether a field is infinite and would be so without being written."""
    held = getattr(value, field.name)
    return isinstance(held, float) and math.isinf(held) and held == field.default


def point_out(x: Any) -> Any:
    """Return a user's x, an array or a dict, as JSON holds it."""
    return x.tolist() if isinstance(x, np.ndarray) else dict(x)


def point_in(x: Any) -> Any:
    """Return the user's x that `point_out` wrote."""
    if isinstance(x, list):
        return np.array(x, dtype=np.float64)
    if isinstance(x, dict):
        return x
    raise FileFormatError(f"a stored x must be a list or an object; got {x!r:.80}.")


def number_out(value: float) -> float | str:
    """Return a float as JSON holds it: infinities and NaN as text."""
    return float(value) if math.isfinite(value) else repr(float(value))


def number_in(value: Any) -> float:
    """Return the float that `number_out` wrote."""
    text = value in ("inf", "-inf", "nan")
    if not text and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise FileFormatError(f"a stored number must be one; got {value!r:.80}.")
    return float(value)


def limit_out(limit: float | str) -> float | str:
    """Return a limit of time as JSON holds it; one that is a word stays."""
    return limit if isinstance(limit, str) else number_out(limit)


def limit_in(stored: Any) -> float | str:
    """Return the limit that `limit_out` wrote."""
    return "auto" if stored == "auto" else number_in(stored)


def shown(value: object, letters: int = 60) -> str:
    """Return the beginning of an object's repr, or that it has none."""
    try:
        return repr(value)[:letters]
    except Exception:  # its methods may raise anything
        return f"an object of type {type(value).__name__} that cannot be printed"


def as_reason(given: object) -> str:
    """Return why something failed as text: of an exception its name and its first line."""
    try:
        said = "" if given is None else str(given)
        said = said.encode(errors="backslashreplace").decode()  # what a terminal can print
    except Exception:  # its methods may raise anything
        said = "" if isinstance(given, BaseException) else shown(given)
    if not isinstance(given, BaseException):
        return said
    name, line = type(given).__name__, said.partition("\n")[0]
    return f"{name}: {line}" if line else name


def as_value(given: object) -> float:
    """Return what an objective returned as a float; NaN and infinities pass.

    Numbers, arrays and tensors of one element are values; text, flags, complex numbers, None and
    larger arrays are not.
    """
    if given is None:
        raise _not_a_number("None", "did you forget to return it?")
    try:
        value = _one_entry(given)
        if _is_number(value):
            return float(value)
    except OverflowError:  # an integer beyond all floats
        return float("inf")
    except InputError:
        raise
    except Exception as error:  # whatever a method of somebody else raises
        raise _not_a_number(_with_its_type(given), "convert it") from error
    raise _not_a_number(_with_its_type(given), "convert it")


def _one_entry(given: Any) -> Any:
    """Return the entry of an array or a tensor; other things as they are."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.getmaskarray(given).any():
        raise _not_a_number("a masked one", "fill it")
    if isinstance(given, numbers.Number) or not hasattr(given, "__array__"):
        return given
    is_tensor = hasattr(given, "detach") and hasattr(given, "tolist")  # perhaps no array for NumPy
    array = np.asarray(given.tolist() if is_tensor else given)
    if array.size != 1:
        raise _not_a_number(f"an array of shape {array.shape}", "return one number a point")
    return array.reshape(())[()]


def _is_number(value: Any) -> bool:
    """Whether something is a real number, and not only convertible to one."""
    if isinstance(value, bool | np.bool_ | str | bytes | np.timedelta64 | np.datetime64):
        return False
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        return False
    return hasattr(value, "__float__") or hasattr(value, "__index__")


def _with_its_type(given: object) -> str:
    return f"{shown(given)} of type {type(given).__name__}"


def _not_a_number(got: str, remedy: str) -> InputError:
    stop = "" if remedy.endswith("?") else "."
    return InputError(f"a value must be one real number; got {got}; {remedy}{stop}")
