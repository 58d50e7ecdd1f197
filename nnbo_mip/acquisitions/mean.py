"""Exploitation: the expected value alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.abstract import Acquisition
from nnbo_mip.acquisitions.evidence import Evidence, check_incumbent
from nnbo_mip.heads import Head, LinearHead
from nnbo_mip.surrogates.abstract import Belief, Capability


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

    incumbent: float | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_incumbent(self.incumbent)

    @property
    def needs(self) -> frozenset[Capability]:
        """A mean."""
        return frozenset({Capability.MEAN})

    def head(self, belief: Belief, evidence: Evidence) -> Head:
        """Return the head ``mean - incumbent``."""
        return LinearHead(constant=-(self.incumbent or 0.0))
