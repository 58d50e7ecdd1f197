"""Noisy expected improvement: over the best value as the belief thinks it may be.

References
----------
Letham et al. (2019), noisy expected improvement [Letham2019].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Acquisition, seed_of
from nnbo_mip.acquisitions.base.context import Context, check_incumbent
from nnbo_mip.core.checks import check_count, check_size
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.sampled_incumbents import NoisyImprovement
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class NoisyEi(Acquisition):
    """``(1 / K) sum_k E max(f - t_k, 0)``, t_k the best of draw k at the evaluated points.

    Parameters
    ----------
    incumbent : float, optional
        The value to improve on, in place of drawn ones.
    n_draws : int
        K. Functions are drawn from the belief; the incumbent is the largest value of each at the
        evaluated points.
    seed : int
        Of the draws; each step has its own.

    Notes
    -----
    Letham et al. condition the belief on each draw as well; here f is what the belief says of it
    alone, so that the score reads mean and std and its maximum can be proven.
    """

    name: ClassVar[str] = "nei"

    incumbent: float | None = None
    n_draws: int = 32
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_incumbent(self.incumbent)
        check_size("n_draws", self.n_draws)
        check_count("seed", self.seed, least=0)

    @property
    def needs(self) -> frozenset[Capability]:
        """A mean and a std, and draws of incumbents."""
        return frozenset({Capability.MEAN, Capability.STD, Capability.DRAWS})

    def head(self, belief: Belief, context: Context) -> Head:
        """Return NEI over the incumbents of the step."""
        if self.incumbent is not None:
            return NoisyImprovement((self.incumbent,))
        points = context.evaluated()
        draws = (belief.draw(seed_of(self.seed, context.step, k)) for k in range(self.n_draws))
        return NoisyImprovement(tuple(float(draw.mean(points).max()) for draw in draws))
