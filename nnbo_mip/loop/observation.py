"""`Observation`: one thing that was told."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.errors import InputError
from nnbo_mip.loop.suggestion import Suggestion
from nnbo_mip.network.affine import FloatArray


@dataclass(frozen=True, eq=False)
class Observation:
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
    shown = f"{given!r:.60} of type {type(given).__name__}"
    try:
        value: Any = given
        if not isinstance(given, numbers.Number) and hasattr(given, "__array__"):
            array = np.asarray(given)
            if array.size != 1:
                raise _not_a_number(f"an array of shape {array.shape}", "return one number a point")
            value = array.reshape(()).item()
        is_complex = isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real)
        if is_complex or isinstance(value, bool | np.bool_ | str | bytes):
            raise _not_a_number(shown, "convert it")
        return float(value)
    except OverflowError:  # an integer beyond all floats
        return float("inf")
    except InputError:
        raise
    except (TypeError, ValueError, RuntimeError) as error:
        raise _not_a_number(shown, "convert it") from error


def _not_a_number(got: str, remedy: str) -> InputError:
    stop = "" if remedy.endswith("?") else "."
    return InputError(f"a value must be one real number; got {got}; {remedy}{stop}")
