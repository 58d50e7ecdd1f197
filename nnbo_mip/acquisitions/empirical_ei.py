"""Expected improvement counted over members or draws, whatever their distribution.

References
----------
Aryan (2020), improvement counted over an ensemble [Aryan2020].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Improvement, seed_of
from nnbo_mip.acquisitions.base.context import Context
from nnbo_mip.core.checks import check_count, check_size
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class EmpiricalEi(Improvement):
    """``(1 / M) sum_k max(f_k - incumbent - xi, 0)`` over M members.

    Parameters
    ----------
    incumbent : float, optional
        The value to improve on; without it, the largest y, or the largest mean where
        values are noisy.
    xi : float or schedule
        Improvement that does not count yet, at least zero.
    n_draws : int
        0: the members of the belief. More: so many draws from a belief that has no members.
    seed : int
        Of the draws; each step has its own.
    """

    name: ClassVar[str] = "empirical_ei"
    kind: ClassVar[str] = "ei"

    n_draws: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_size("n_draws", self.n_draws, least=0)
        check_count("seed", self.seed, least=0)

    @property
    def needs(self) -> frozenset[Capability]:
        """Members, or draws in their place."""
        return frozenset({Capability.DRAWS if self.n_draws else Capability.MEMBERS})

    def draws(self, belief: Belief, step: int) -> tuple[Belief, ...]:
        """Return the draws of the step."""
        return tuple(belief.draw(seed_of(self.seed, step, k)) for k in range(self.n_draws))

    def head(self, belief: Belief, context: Context) -> Head:
        """Return the average over members."""
        return EmpiricalImprovement(self.threshold(belief, context), self.kind)

    def _remedy(self, missing: frozenset[Capability]) -> str:
        if Capability.MEMBERS in missing:
            return "give n_draws=32, say, where it offers draws, or choose another surrogate."
        return super()._remedy(missing)
