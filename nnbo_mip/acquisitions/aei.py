"""Augmented expected improvement, for noisy observations.

References
----------
Huang et al. (2006), augmented expected improvement [Huang2006a].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.context import Context, check_incumbent
from nnbo_mip.core.checks import check_number
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.noisy import AugmentedEI
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class AugmentedEi(Acquisition):
    """EI over the effective best, times the share of the noise-free.

    Parameters
    ----------
    incumbent : float, optional
        The value to improve on. Without it, the mean at the effective best: the evaluated
        point with the largest ``mean - k std``.
    noise : float, optional
        Standard deviation of an observation from the function. Without it, what comes with the
        data, or else the estimate of the belief.
    k : float
        How much uncertainty counts against the effective best, at least zero.
    """

    name: ClassVar[str] = "aei"
    spans_of_y: ClassVar[tuple[str, ...]] = ("noise",)
    reads_noise: ClassVar[bool] = True
    needs = frozenset({Capability.MEAN, Capability.STD})

    incumbent: float | None = None
    noise: float | None = None
    k: float = 1.0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_incumbent(self.incumbent)
        if self.noise is not None:
            check_number("noise", self.noise, least=0.0)
        check_number("k", self.k, least=0.0)

    def head(self, belief: Belief, context: Context) -> Head:
        """Return AEI over the effective best."""
        noise = context.noise_of(belief, self.noise)
        if self.incumbent is not None:
            return AugmentedEI(self.incumbent, noise)
        points = context.evaluated()
        mean, std = belief.mean(points), belief.std(points)
        return AugmentedEI(float(mean[(mean - self.k * std).argmax()]), noise)
