"""The starts that all methods share: the first points of the Sobol sequence of a seed.

An experiment that imports this module may say ``starts = "seeded_sobol:n=12,seed={instance}"``.
The runs of the archive began there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.stats import qmc

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.designs.designs import Design, registry
from nnbo_mip.space.embedded.embedded_space import SearchSpace


@registry.register("seeded_sobol")
@dataclass(frozen=True)
class SeededSobol(Design):
    """Sobol points of a box, scrambled by a seed of their own.

    Parameters
    ----------
    n, seed : int
    """

    name: ClassVar[str] = "seeded_sobol"

    n: int
    seed: int

    def points(
        self, space: SearchSpace, seed: int = 0, known: npt.ArrayLike | None = None
    ) -> FloatArray:
        """Return the design (n, d)."""
        domain = space.model()
        sequence = qmc.Sobol(domain.dimension, rng=np.random.default_rng(self.seed))
        drawn = sequence.random_base2(max(self.n - 1, 0).bit_length())[: self.n]
        points: FloatArray = domain.lower + drawn * (domain.upper - domain.lower)
        return points

    def again(self, space: SearchSpace, n: int | None = None) -> Self:
        """Return this design, of n points."""
        return self if n is None else replace(self, n=n)
