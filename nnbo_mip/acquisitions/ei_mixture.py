"""Expected improvement of a mixture, exactly.

References
----------
Kruse (2022), mixtures as surrogates, with improvement by samples [Kruse2022].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.context import Context, check_incumbent, check_scheduled
from nnbo_mip.acquisitions.base.schedules import Scheduled
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.mixtures import MixtureImprovement
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class EiMixture(Acquisition):
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
    spans_of_y: ClassVar[tuple[str, ...]] = ("xi",)
    kind: ClassVar[str] = "ei"
    needs = frozenset({Capability.MIXTURE})

    incumbent: float | None = None
    xi: Scheduled = 0.0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_incumbent(self.incumbent)
        check_scheduled("xi", self.xi)

    def head(self, belief: Belief, context: Context) -> Head:
        """Return the score over incumbent + xi."""
        xi = context.scheduled("xi", self.xi, belief.n_inputs)
        return MixtureImprovement(context.incumbent(self.incumbent, belief) + xi, self.kind)
