"""Initial designs: the points that are evaluated before there is a model.

>>> from nnbo_mip.loop.designs.designs import design_of
>>> from nnbo_mip.space import Categorical, Integer, Space
>>> space = Space([Integer("layers", 1, 5), Categorical("act", ["relu", "tanh"])])
>>> points = design_of("sobol:n=4").points(space, seed=0)
>>> points.shape, len(space.decode(points))
((4, 3), 4)
>>> given = design_of([{"layers": 3, "act": "tanh"}])
>>> given.points(space).tolist()
[[0.0, 0.0, 1.0]]
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.registry import Registry
from nnbo_mip.space.embedded.embedded_space import SearchSpace


class Design(abc.ABC):
    """A frozen dataclass of options.

    Notes
    -----
    No point repeats another one; where a finite space has fewer points than were asked for, the
    design has fewer.
    """

    name: ClassVar[str]
    """Its name in the registry."""

    @abc.abstractmethod
    def points(
        self, space: SearchSpace, seed: int = 0, known: npt.ArrayLike | None = None
    ) -> FloatArray:
        """Return the design (n, d), in model coordinates and in the order of evaluation.

        Parameters
        ----------
        space : SearchSpace
        seed : int
            The same seed gives the same points.
        known : (k, d) array, optional
            Points in model coordinates that need no evaluation.
        """

    def remaining(
        self, space: SearchSpace, seed: int, known: FloatArray, valued: BoolArray
    ) -> FloatArray:
        """Return what of the design (n, d) is still wanted.

        Parameters
        ----------
        space, seed
            As in `points`.
        known : (k, d) array
            Points that need no evaluation.
        valued : (k,) bool array
            Which of them have a value; each of these counts as a point of the design.
        """
        points = self.points(space, seed, known)
        return points[: max(len(points) - int(valued.sum()), 0)]

    @abc.abstractmethod
    def again(self, space: SearchSpace, n: int | None = None) -> Design:
        """Return the design of a restart, of n points or as many as this one has."""


_ROOM = "nnbo_mip.loop"

registry: Registry[Design] = Registry(
    "design",
    Design,
    {
        "uniform": f"{_ROOM}.designs.spread:Uniform",
        "sobol": f"{_ROOM}.designs.spread:Sobol",
        "lhs": f"{_ROOM}.designs.spread:LatinHypercube",
        "maximin": f"{_ROOM}.designs.spread:Maximin",
        "grid": f"{_ROOM}.designs.grid:GridDesign",
        "given": f"{_ROOM}.designs.given:Given",
    },
    group="nnbo_mip.designs",
)
"""Filled by the package, by entry points, and by `register`."""


def design_of(initial: object) -> Design:
    """Return the design that a user described.

    Parameters
    ----------
    initial : None, int, str, dict, Design or points
        None for Sobol points, a number of them, a name with options, or points: a list of dicts
        or an array (n, d).
    """
    if initial is None:
        return registry.create("sobol")
    if isinstance(initial, int | np.integer) and not isinstance(initial, bool):
        return registry.create("sobol", n=int(initial))
    if isinstance(initial, Design | str) or (isinstance(initial, Mapping) and "name" in initial):
        return registry.create(initial)
    return registry.create("given", given=initial)
