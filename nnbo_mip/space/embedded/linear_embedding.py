r"""A space seen through a matrix.

A point z of [-1, 1]^e stands for the x whose model coordinates are

    clip(M z, -1, 1),        M of shape (k, e),

rounded as the space rounds.

>>> import numpy as np
>>> from nnbo_mip.space import Space
>>> from nnbo_mip.space.embedded.linear_embedding import LinearEmbeddedSpace
>>> signs = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
>>> embedded = LinearEmbeddedSpace(Space.box([0, 0, 0], [10, 10, 10]), signs)
>>> embedded.decode([0.5, -1.0])
array([7.5, 2.5, 0. ])
>>> embedded.encode([7.5, 2.5, 0.0])
array([[ 0.5, -1. ]])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import frozen
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace, check_embeddable
from nnbo_mip.space.space import Space


@dataclass(frozen=True, eq=False)
class LinearEmbeddedSpace(EmbeddedSpace):
    """The image of [-1, 1]^e under a matrix.

    Parameters
    ----------
    space : Space
    matrix : (k, e) array
        M; its rows for sides of length 0 do not matter.
    """

    space: Space
    matrix: FloatArray

    def __post_init__(self) -> None:
        check_embeddable(self.space)
        object.__setattr__(self, "matrix", frozen(self.matrix))

    @property
    def dimension(self) -> int:
        """e, the number of coordinates."""
        return int(self.matrix.shape[1])

    def _lifted(self, points: FloatArray) -> FloatArray:
        lifted = np.zeros((len(points), len(self.matrix)))
        # Column by column: every sum has the same order, however many points there are.
        for column, share in zip(self.matrix.T, points.T, strict=True):
            lifted += share[:, None] * column
        return lifted

    def _guesses(self, wanted: FloatArray) -> list[FloatArray]:
        # What was clipped or rounded says less about z, unless nothing else is there.
        inside = self._moving & (np.abs(wanted) < 1.0)
        return [
            np.asarray(
                np.linalg.lstsq(self.matrix[rows], wanted[rows], rcond=None)[0], dtype=np.float64
            )
            for rows in (self._moving, inside, inside & (self._allowed > 0.0))
        ]
