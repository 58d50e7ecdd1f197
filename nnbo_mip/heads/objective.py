"""`Objective`: a head on a readout, the function of a point whose maximum is proven."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from nnbo_mip.errors import InputError
from nnbo_mip.heads.abstract import Head, MemberHead, MomentHead
from nnbo_mip.heads.readouts import Readout
from nnbo_mip.network.affine import FloatArray


@dataclass(frozen=True, eq=False)
class Objective:
    """``score(x) = head(readout(x))``.

    Parameters
    ----------
    readout : Readout
        Where mean and std, or members, come from.
    head : Head
        What is made of them.
    """

    readout: Readout
    head: Head

    @property
    def dimension(self) -> int:
        """d, the number of inputs."""
        return self.readout.network.n_inputs

    def score(self, points: npt.ArrayLike) -> FloatArray:
        """Return the scores (n,) of points (n, d)."""
        if isinstance(self.head, MemberHead):
            return self.head.score(self.readout.members(points))
        if isinstance(self.head, MomentHead):
            return self.head.score(*self.readout.moments(points))
        raise InputError(
            f"a head must read moments or members; got a {type(self.head).__name__}; derive it "
            "from MomentHead or MemberHead."
        )
