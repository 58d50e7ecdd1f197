"""Exploitation: the expected value alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.context import Context, check_incumbent
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class Mean(Acquisition):
    """The mean.

    Parameters
    ----------
    incumbent : float, optional
        Subtracted, so that the score is the expected gain; it changes no maximizer.
    """

    name: ClassVar[str] = "mean"
    scores_y: ClassVar[bool] = True
    needs = frozenset({Capability.MEAN})

    incumbent: float | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_incumbent(self.incumbent)

    def head(self, belief: Belief, context: Context) -> Head:
        """Return the head ``mean - incumbent``."""
        return LinearHead(constant=-(self.incumbent or 0.0))
