"""The wrapper `embedded`: a problem of which many variables do not matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.checks import as_floats, as_whole
from nnbo_mip.core.errors import InputError
from nnbo_mip.problems.dimensions import check_dimension, cube
from nnbo_mip.problems.problem import Function, Problem
from nnbo_mip.space.dimensions import Real

IDLE = 0.5
"""The value that variables have in known optimizers where they do not matter."""


def embedded(problem: object, dimension: int = 100, coordinates: object = None) -> Problem:
    """Return a problem on [0, 1]^dimension that depends on few of its variables.

    Variable ``coordinates[j]``, mapped linearly from [0, 1] to its range, is variable j of the
    inner problem. Every value of the others is as good as any; the optimizers that are known have
    0.5 there.

    Parameters
    ----------
    problem : Problem, str or mapping
        What `create` takes, of real variables.
    dimension : int
        At least as many as the inner problem has.
    coordinates : sequence of int, optional
        Positions of the variables that matter, from 0; the first ones if left out.
    """
    from nnbo_mip.problems.catalogue import registry

    inner = registry.create(problem)
    _check_plain(inner)
    d = check_dimension("embedded", dimension, least=inner.dimension)
    places = _places(inner, d, coordinates)
    box = inner.space.numeric()
    if not (box.lower < box.upper).all():
        raise InputError(
            f"variables of an embedded problem must have a range; those of {inner.name!r} have "
            f"widths {(box.upper - box.lower).tolist()}; embed another one."
        )
    function = Embedded(inner.function, places, box.lower, box.upper - box.lower)
    return replace(
        inner,
        name=f"{inner.name} in {d} at {','.join(map(str, places.tolist()))}",
        space=cube(d, 0.0, 1.0),
        function=function,
        optimizers=None if inner.optimizers is None else function.inverse(inner.optimizers, d),
    )


@dataclass(frozen=True, eq=False)
class Embedded:
    """A function of some columns of its argument.

    Parameters
    ----------
    function : callable
        Of raw coordinates (n, d).
    places : (d,) array
        Columns that matter.
    start, width : (d,) arrays
        Range of the function's coordinates.
    """

    function: Function
    places: IntArray
    start: FloatArray
    width: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the values (n,) at points (n, dimension) of the unit cube."""
        inner = self.start + self.width * X[:, self.places]
        return as_floats(self.function(inner), "values")

    def inverse(self, X: FloatArray, dimension: int) -> FloatArray:
        """Return points (n, dimension) of the unit cube for arguments (n, d) of the function."""
        points = np.full((len(X), dimension), IDLE)
        points[:, self.places] = np.clip((X - self.start) / self.width, 0.0, 1.0)
        return points


def _check_plain(inner: Problem) -> None:
    for variable in inner.space.dimensions:
        plain = isinstance(variable, Real) and not variable.log and variable.step is None
        if not plain:
            raise InputError(
                f"an embedded problem must have real variables without step or logarithm; got "
                f"{variable!r} in {inner.name!r}; embed another one."
            )
    if inner.space.constraints or inner.noise is not None:
        raise InputError(
            f"constraints and noise come after embedding; {inner.name!r} has one of them; embed "
            "the problem first."
        )


def _places(inner: Problem, dimension: int, given: object) -> IntArray:
    """Return the columns of the variables that matter."""
    wanted = range(inner.dimension) if given is None else given
    if not isinstance(wanted, Sequence) or isinstance(wanted, str):
        raise InputError(
            f"coordinates must be a sequence of positions; got {given!r}; write (19, 64), say."
        )
    places = [as_whole(place, "an entry of coordinates") for place in wanted]
    distinct = len(set(places)) == len(places) == inner.dimension
    if not distinct or not all(0 <= place < dimension for place in places):
        raise InputError(
            f"coordinates of {inner.name!r} must be {inner.dimension} distinct positions below "
            f"{dimension}; got {tuple(places)}; choose others."
        )
    return np.array(places, dtype=np.int64)
