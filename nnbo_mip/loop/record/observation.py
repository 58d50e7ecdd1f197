"""`Observation`: one thing that was told."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.rebuilt import Rebuilt
from nnbo_mip.loop.record.plain import shown
from nnbo_mip.loop.record.suggestion import Suggestion


@dataclass(frozen=True, eq=False)
class Observation(Rebuilt):
    """A point and its value, in the user's units and direction.

    Parameters
    ----------
    number : int
        Its place in `history`, from 0.
    x : array (d,) or dict
    y : float or None
        None where the evaluation failed.
    failed : bool
    reason : str
        Why it failed, if anybody said so.
    noise : float or None
        Standard deviation of y, where it was told.
    suggestion : Suggestion or None
        What `ask` said of the point; None where it was never asked for.
    time : float
        When it was told, in seconds since 1970.
    z : (k,) array
        The point in model coordinates; under an embedding, its point there.
    """

    number: int
    x: Any
    y: float | None
    failed: bool
    reason: str
    noise: float | None
    suggestion: Suggestion | None
    time: float
    z: FloatArray

    def __post_init__(self) -> None:
        for point in (self.x, self.z):
            if isinstance(point, np.ndarray):
                point.setflags(write=False)

    def __repr__(self) -> str:
        value = f"failed={self.reason!r}" if self.failed else f"y={self.y!r}"
        return f"Observation({self.number}, x={self.x!r}, {value})"


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
