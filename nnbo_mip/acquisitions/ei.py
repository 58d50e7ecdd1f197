"""Expected improvement.

References
----------
Mockus et al. (1978), expected improvement [Mockus1978].
Jones et al. (1998), its closed form [Jones1998].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Improvement
from nnbo_mip.acquisitions.base.context import Context
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class Ei(Improvement):
    """``E max(f - incumbent - xi, 0)`` where f is normal.

    Parameters
    ----------
    incumbent : float, optional
        The value to improve on; without it, the largest y, or the largest mean where
        values are noisy.
    xi : float or schedule
        Improvement that does not count yet, at least zero. (To aim below the incumbent, give
        a lower incumbent.)
    """

    name: ClassVar[str] = "ei"
    log: ClassVar[bool] = False
    needs = frozenset({Capability.MEAN, Capability.STD})

    def head(self, belief: Belief, context: Context) -> Head:
        """Return EI over incumbent + xi."""
        return ExpectedImprovement(self.threshold(belief, context), self.log)
