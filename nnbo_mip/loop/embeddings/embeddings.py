r"""Embeddings: a search in few coordinates for a function of many.

Where a function of k variables depends on few of them, or on few combinations, a random subspace
of few dimensions e is likely to hold points about as good as the best. Models learn, and points
are looked for and proven, in z of [-1, 1]^e; the user sees x alone. With M the matrix of
`nnbo_mip.space.embedded.linear_embedding`,

    rembo:    M = sqrt(e) A,  A_ij normal;              x is clipped to its box,
    hashed:   M_ij = s_i where j = h(i), else 0;        h: buckets of equal size, s_i = 1 or -1.

The hashed embedding needs no clipping. M is drawn from the run's seed. `autoencoder` learns a
bent surface instead, from examples.

>>> from nnbo_mip.loop.embeddings.embeddings import embedding_of
>>> from nnbo_mip.space import Space
>>> embedded = embedding_of("hashed:dimension=2").embedded(Space.box([0] * 4, [1] * 4), seed=0)
>>> sorted(abs(embedded.matrix).sum(axis=0).tolist())  # two of the four sides a bucket
[2.0, 2.0]

References
----------
Wang et al. (2016), REMBO [Wang2016].
Nayebi et al. (2019), HeSBO, hashed embeddings [Nayebi2019].
Papenmeier et al. (2022), BAxUS, buckets of equal size [Papenmeier2022].
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.checks import check_count
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.registry import Registry
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace
from nnbo_mip.space.embedded.linear_embedding import LinearEmbeddedSpace
from nnbo_mip.space.space import Space


class Embedding(abc.ABC):
    """A frozen dataclass of options; a pure rule."""

    name: ClassVar[str]
    """Its name in the registry."""

    @abc.abstractmethod
    def embedded(self, space: Space, seed: int) -> EmbeddedSpace | None:
        """Return the space as models see it; None for the space itself."""


@dataclass(frozen=True)
class NoEmbedding(Embedding):
    """Search in the space itself."""

    name: ClassVar[str] = "none"

    def embedded(self, space: Space, seed: int) -> EmbeddedSpace | None:
        """Return None."""
        return None


@dataclass(frozen=True)
class LinearEmbedding(Embedding):
    """What linear embeddings share.

    Parameters
    ----------
    dimension : int
        e, at most the number of sides that have a length.
    """

    dimension: int

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_count("dimension", self.dimension)

    def embedded(self, space: Space, seed: int) -> LinearEmbeddedSpace:
        """Return the space as models see it."""
        domain = space.model()
        moving = np.flatnonzero(domain.lower < domain.upper)
        if self.dimension > len(moving):
            raise InputError(
                f"an embedding must have at most as many dimensions as the space has sides, "
                f"{len(moving)}; got {self.dimension}; lower it, or leave the embedding out."
            )
        matrix = np.zeros((domain.dimension, self.dimension))
        matrix[moving] = self._drawn(len(moving), np.random.default_rng(seed))
        return LinearEmbeddedSpace(space, matrix)

    @abc.abstractmethod
    def _drawn(self, sides: int, rng: np.random.Generator) -> FloatArray:
        """Return M (sides, dimension)."""


@dataclass(frozen=True)
class Rembo(LinearEmbedding):
    """Normal directions; images beyond the box are clipped to it.

    Parameters
    ----------
    dimension : int
        At least that of the function's effective subspace.
    """

    name: ClassVar[str] = "rembo"

    dimension: int = 4

    def _drawn(self, sides: int, rng: np.random.Generator) -> FloatArray:
        return math.sqrt(self.dimension) * rng.standard_normal((sides, self.dimension))


@dataclass(frozen=True)
class Hashed(LinearEmbedding):
    """Each side follows one coordinate, up to its sign.

    Parameters
    ----------
    dimension : int
        Enough that variables which matter fall into different buckets.
    """

    name: ClassVar[str] = "hashed"

    dimension: int = 10

    def _drawn(self, sides: int, rng: np.random.Generator) -> FloatArray:
        matrix = np.zeros((sides, self.dimension))
        buckets: IntArray = rng.permutation(sides) % self.dimension
        matrix[np.arange(sides), buckets] = rng.choice([-1.0, 1.0], size=sides)
        return matrix


registry: Registry[Embedding] = Registry(
    "embedding",
    Embedding,
    {
        "none": f"{__name__}:NoEmbedding",
        "rembo": f"{__name__}:Rembo",
        "hashed": f"{__name__}:Hashed",
        "autoencoder": "nnbo_mip.loop.embeddings.autoencoder:Autoencoder",
    },
    group="nnbo_mip.embeddings",
    experimental=("autoencoder",),
    of_none="none",
)
"""Filled by this module, by entry points, and by `register`."""


embedding_of = registry.create
"""Returns an embedding that was named, described or given; None is none."""
