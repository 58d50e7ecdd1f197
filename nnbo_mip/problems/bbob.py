"""The 24 noiseless BBOB functions, as the package coco-experiment has them (extra ``bbob``).

References
----------
Hansen et al. (2009), the functions [Hansen2009].
Hansen et al. (2021), COCO [Hansen2021].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_floats, as_whole
from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.problems.dimensions import check_dimension, cube
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.sources import label

N_FUNCTIONS = 24

MAX_DIMENSION = 40
"""The largest one of the suite; from some 60 on the package crashes."""

MAX_INSTANCE = 100_000
"""Up to here the seeds that the package makes of instances stay within 32 bits."""


def bbob(function: int, dimension: int = 2, instance: int = 1) -> Problem:
    """BBOB functions 1 to 24 on [-5, 5]^d, moved and rotated anew in every instance.

    Parameters
    ----------
    function : int
        From 1 (sphere) to 24 (Lunacek bi-Rastrigin).
    dimension : int
        d, from 2 to 40.
    instance : int
        From 1; the suite of 2015 has 1 to 5 and 41 to 50.
    """
    number = _whole("function", function, N_FUNCTIONS)
    d = check_dimension("bbob", dimension, least=2, most=MAX_DIMENSION)
    which = _whole("instance", instance, MAX_INSTANCE)
    bare = Bbob(number, d, which)
    return Problem(
        label("bbob", function=number, dimension=d, instance=which),
        cube(d, -5.0, 5.0),
        bare,
        optimum=bare.optimum,
        optimizers=bare.optimizer[None],
    )


@dataclass(frozen=True)
class Bbob:
    """A BBOB function.

    Parameters
    ----------
    number, dimension, instance : int
        Within their ranges: the package ends the process where they are not.
    """

    number: int
    dimension: int
    instance: int

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the values (n,) at points (n, dimension)."""
        own = np.array(X, order="C")  # the package wants arrays that it could write to
        return as_floats(self._bare(own), "values")

    @property
    def optimum(self) -> float:
        """The least value."""
        return float(self._bare.best_value())

    @property
    def optimizer(self) -> FloatArray:
        """Where it is attained: (dimension,)."""
        return as_floats(self._bare.best_parameter(), "a minimizer")

    @cached_property
    def _bare(self) -> Any:
        try:
            from cocoex import BareProblem
        except ImportError as error:
            raise MissingExtraError(
                "the BBOB functions need the package coco-experiment, which cannot be imported "
                f"({error}); install it with pip install 'nnbo_mip[bbob]'."
            ) from error
        return BareProblem("bbob", self.number, self.dimension, self.instance)

    def __reduce__(self) -> tuple[type[Bbob], tuple[int, int, int]]:
        return Bbob, (self.number, self.dimension, self.instance)


def _whole(option: str, given: object, most: int) -> int:
    number = as_whole(given, f"the {option} of 'bbob'")
    if not 1 <= number <= most:
        raise InputError(
            f"the {option} of 'bbob' must be from 1 to {most}; got {number}; choose one."
        )
    return number
