"""Expected improvement of a mixture, by samples of its components.

References
----------
Kruse (2022), expected improvement of mixtures by samples [Kruse2022].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Improvement, seed_of
from nnbo_mip.acquisitions.base.context import Context
from nnbo_mip.core.checks import check_count, check_size
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.mixtures import SampledImprovement
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class EiSampled(Improvement):
    """``sum_k g_k (1 / S) sum_i max(m_k + s_k z_i - incumbent - xi, 0)``, z_i normal draws.

    Parameters
    ----------
    incumbent : float, optional
        The value to improve on; without it, the largest y, or the largest mean where
        values are noisy.
    xi : float or schedule
        Improvement that does not count yet, at least zero.
    n_samples : int
        S; `ei_mixture` is the limit of many.
    seed : int
        Of the draws; each step has its own, the same for all points.
    """

    name: ClassVar[str] = "ei_sampled"
    needs = frozenset({Capability.MIXTURE})

    n_samples: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_size("n_samples", self.n_samples)
        check_count("seed", self.seed, least=0)

    def head(self, belief: Belief, context: Context) -> Head:
        """Return the average improvement over incumbent + xi."""
        seed = seed_of(self.seed, context.step)
        return SampledImprovement(self.threshold(belief, context), self.n_samples, seed)
