"""Expected improvement of a mixture, exactly.

References
----------
Kruse (2022), mixtures as surrogates, with improvement by samples [Kruse2022].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Improvement
from nnbo_mip.acquisitions.base.context import Context
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.mixtures import MixtureImprovement
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class EiMixture(Improvement):
    """``sum_k g_k E max(f_k - incumbent - xi, 0)`` over normal components f_k of weight g_k.

    Parameters
    ----------
    incumbent : float, optional
        The value to improve on; without it, the largest y, or the largest mean where
        values are noisy.
    xi : float or schedule
        Improvement that does not count yet, at least zero.
    """

    name: ClassVar[str] = "ei_mixture"
    kind: ClassVar[str] = "ei"
    needs = frozenset({Capability.MIXTURE})

    def head(self, belief: Belief, context: Context) -> Head:
        """Return the score over incumbent + xi."""
        return MixtureImprovement(self.threshold(belief, context), self.kind)
