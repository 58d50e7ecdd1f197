"""Expected quantile improvement, for noisy observations.

References
----------
Picheny et al. (2013), expected quantile improvement [Picheny2013].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.context import Context, check_incumbent
from nnbo_mip.core.checks import check_number
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.noisy import QuantileImprovement
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class ExpectedQuantileImprovement(Acquisition):
    """Expected gain of the value that the function exceeds with probability beta.

    Parameters
    ----------
    incumbent : float, optional
        The quantile to improve on. Without it, the largest ``mean - z std`` at an evaluated
        point, z the beta-quantile of a standard normal variable.
    noise : float, optional
        Standard deviation of the next observation from the function. Without it, what comes with
        the data, or else the estimate of the belief.
    beta : float
        In [0.5, 1).
    """

    name: ClassVar[str] = "eqi"
    spans_of_y: ClassVar[tuple[str, ...]] = ("noise",)
    reads_noise: ClassVar[bool] = True
    needs = frozenset({Capability.MEAN, Capability.STD})

    incumbent: float | None = None
    noise: float | None = None
    beta: float = 0.9

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_incumbent(self.incumbent)
        if self.noise is not None:
            check_number("noise", self.noise, least=0.0)
        check_number("beta", self.beta, least=0.5, below=1.0)

    def head(self, belief: Belief, context: Context) -> Head:
        """Return EQI over the best quantile."""
        noise = context.noise_of(belief, self.noise)
        if self.incumbent is not None:
            return QuantileImprovement(self.incumbent, noise, self.beta)
        points = context.evaluated()
        z = QuantileImprovement(0.0, noise, self.beta).z
        best = float((belief.mean(points) - z * belief.std(points)).max())
        return QuantileImprovement(best, noise, self.beta)
