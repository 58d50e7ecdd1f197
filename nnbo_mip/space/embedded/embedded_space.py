"""`EmbeddedSpace`: a space seen through few coordinates.

A point z of [-1, 1]^e stands for an x in the space, rounded as the space rounds. Every z has an
image; most x are none's image. `linear_embedding` and `decoded_space` say which image.
"""

from __future__ import annotations

import abc
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_points
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.abstract import NumericDimension
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.space import Space

SAME = 2e-6
"""By which a continuous model coordinate may differ from an image and still be meant as it."""


class EmbeddedSpace(abc.ABC):
    """The image of [-1, 1]^e in a space of numbers without constraints; a frozen dataclass."""

    space: Space

    @property
    @abc.abstractmethod
    def dimension(self) -> int:
        """e, the number of coordinates."""

    @abc.abstractmethod
    def _lifted(self, points: FloatArray) -> FloatArray:
        """Return the model coordinates (n, k) of points (n, e), before they are cut to the box.

        A point alone has those it has in a batch, to the last bit.
        """

    @abc.abstractmethod
    def _guesses(self, wanted: FloatArray) -> list[FloatArray]:
        """Return points (e,) that model coordinates (k,) may be the image of, likely ones first."""

    def model(self) -> Domain:
        """Return [-1, 1]^e."""
        return self._model

    @cached_property
    def _model(self) -> Domain:
        return Domain(np.full(self.dimension, -1.0), np.ones(self.dimension))

    def lift(self, z: npt.ArrayLike) -> FloatArray:
        """Return the model coordinates (n, k) that points (n, e) stand for, before rounding."""
        return np.clip(self._lifted(as_points(z, self.dimension)), -1.0, 1.0)

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
        for guess in self._guesses(wanted):
            z = np.clip(guess, -1.0, 1.0)
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


def check_embeddable(space: Space) -> None:
    """Refuse a space with levels or constraints."""
    for side in space.dimensions:
        if not isinstance(side, NumericDimension):
            raise InputError(
                f"an embedding takes numbers only, as levels have no line between them; got "
                f"{side!r}; drop it, or make one run a level."
            )
    if space.constraints:
        raise InputError(
            f"an embedding takes no constraints; got {space.constraints[0]}; leave the "
            "embedding out, or let points that violate them fail."
        )


SearchSpace: TypeAlias = Space | EmbeddedSpace
"""Where models learn and points are looked for."""
