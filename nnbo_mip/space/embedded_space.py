r"""`EmbeddedSpace`: a space seen through few coordinates.

A point z of [-1, 1]^e stands for the x whose model coordinates are

    clip(M z, -1, 1),        M of shape (k, e),

rounded as the space rounds. Every z has an image; most x are none's image.

>>> import numpy as np
>>> from nnbo_mip.space import Space
>>> from nnbo_mip.space.embedded_space import EmbeddedSpace
>>> signs = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
>>> embedded = EmbeddedSpace(Space.box([0, 0, 0], [10, 10, 10]), signs)
>>> embedded.decode([0.5, -1.0])
array([7.5, 2.5, 0. ])
>>> embedded.encode([7.5, 2.5, 0.0])
array([[ 0.5, -1. ]])
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.errors import InputError
from nnbo_mip.space.abstract import NumericDimension
from nnbo_mip.space.arrays import FloatArray, as_points, frozen
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.space import Space

SAME = 2e-6
"""By which a continuous model coordinate may differ from an image and still be meant as it."""


@dataclass(frozen=True, eq=False)
class EmbeddedSpace:
    """The image of [-1, 1]^e in a space of numbers without constraints.

    Parameters
    ----------
    space : Space
    matrix : (k, e) array
        M; its rows for sides of length 0 do not matter.
    """

    space: Space
    matrix: FloatArray

    def __post_init__(self) -> None:
        for side in self.space.dimensions:
            if not isinstance(side, NumericDimension):
                raise InputError(
                    f"an embedding takes numbers only, as levels have no line between them; got "
                    f"{side!r}; drop it, or make one run a level."
                )
        if self.space.constraints:
            raise InputError(
                f"an embedding takes no constraints; got {self.space.constraints[0]}; leave the "
                "embedding out, or let points that violate them fail."
            )
        object.__setattr__(self, "matrix", frozen(self.matrix))

    @property
    def dimension(self) -> int:
        """e, the number of coordinates."""
        return int(self.matrix.shape[1])

    def model(self) -> Domain:
        """Return [-1, 1]^e."""
        return self._model

    @cached_property
    def _model(self) -> Domain:
        return Domain(np.full(self.dimension, -1.0), np.ones(self.dimension))

    def lift(self, z: npt.ArrayLike) -> FloatArray:
        """Return the model coordinates (n, k) that points (n, e) stand for, before rounding."""
        points = as_points(z, self.dimension)
        lifted = np.zeros((len(points), len(self.matrix)))
        # Column by column: every sum has the same order, however many points there are.
        for column, share in zip(self.matrix.T, points.T, strict=True):
            lifted += share[:, None] * column
        return np.clip(lifted, -1.0, 1.0)

    def decode(self, z: npt.ArrayLike) -> Any:
        """Return the user's x that z stands for: one for (e,), a batch for (n, e)."""
        lifted = self.lift(z)
        return self.space.decode(lifted[0] if np.ndim(z) == 1 else lifted)

    def encode(self, x: object) -> FloatArray:
        """Return points (n, e) whose images are the user's x, one or a batch; refuse others."""
        model = self.space.encode(x)
        return np.array([self._preimage(row) for row in model]).reshape(len(model), self.dimension)

    def _preimage(self, wanted: FloatArray) -> FloatArray:
        """Return a point (e,) for model coordinates (k,)."""
        misses = []
        # What was clipped or rounded says less about z, unless nothing else is there.
        inside = self._moving & (np.abs(wanted) < 1.0)
        for rows in (self._moving, inside, inside & (self._allowed > 0.0)):
            z = np.linalg.lstsq(self.matrix[rows], wanted[rows], rcond=None)[0]
            z = np.clip(z, -1.0, 1.0)
            miss = np.abs(self.space.encode(self.decode(z))[0] - wanted)
            if (miss <= self._allowed).all():
                return np.asarray(z)
            misses.append(miss)
        nearest = min(misses, key=np.max)
        place = int(nearest.argmax())
        name = self.space.dimensions[place].name
        raise InputError(
            "a point that was not asked for must be the image of a point of the embedding; the "
            f"nearest image that was found is {nearest[place]:.3g} away in {name!r}, where its "
            "side goes from -1 to 1; tell it to a run without an embedding."
        )

    @cached_property
    def _moving(self) -> npt.NDArray[np.bool_]:
        domain = self.space.model()
        return np.asarray(domain.lower < domain.upper)

    @cached_property
    def _allowed(self) -> FloatArray:
        return np.array([SAME if grid is None else 0.0 for grid in self.space.model().grids])


SearchSpace: TypeAlias = Space | EmbeddedSpace
"""Where models learn and points are looked for."""
