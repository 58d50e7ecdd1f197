"""What a measured engine or peer answers, before anybody has checked it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from nnbo_mip.core.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Answer:
    """One answer to "maximize f over the domain".

    Parameters
    ----------
    x : (d,) array or None
        The point it returns.
    claimed_value : float
        What it says f(x) is.
    bound : float
        The upper bound it claims; ``inf`` if it claims none.
    status : str
        ``optimal``, ``infeasible``, ``time-out``, or its own word for anything else.
    """

    x: FloatArray | None
    claimed_value: float
    bound: float
    status: str

    @staticmethod
    def nothing(status: str, bound: float = math.inf) -> Answer:
        """Return an answer without a point."""
        return Answer(None, -math.inf, bound, status)


Call: TypeAlias = Callable[[], Answer]
"""A whole call: build the model, solve, read the answer."""
