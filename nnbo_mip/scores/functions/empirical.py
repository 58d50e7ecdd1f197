"""Improvement counted over members, whatever their distribution.

ei   (1 / M) sum_k max(f_k - threshold, 0)
pi   (1 / M) #{k : f_k >= threshold}
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_number
from nnbo_mip.scores.base.abstract import MemberHead

KINDS = ("ei", "pi")


@dataclass(frozen=True)
class EmpiricalImprovement(MemberHead):
    """Average improvement of the members, or the share of them that reach the threshold.

    Parameters
    ----------
    threshold : float
        Incumbent + xi.
    kind : str
        ``ei`` or ``pi``; the derivative of a share is zero.
    """

    threshold: float
    kind: str = "ei"

    @property
    def name(self) -> str:
        """``empirical_ei`` or ``empirical_pi``."""
        return f"empirical_{self.kind}"

    @property
    def largest_score(self) -> float:
        """1 for a share of members."""
        return 1.0 if self.kind == "pi" else math.inf

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("threshold", self.threshold)
        check_choice("kind", self.kind, KINDS)

    def _score(self, members: FloatArray) -> FloatArray:
        if self.kind == "pi":
            return np.asarray((members >= self.threshold).mean(axis=1))
        return np.asarray(np.maximum(members - self.threshold, 0.0).mean(axis=1))

    def _gradient(self, members: FloatArray) -> FloatArray:
        if self.kind == "pi":
            return np.zeros_like(members)
        return np.asarray((members > self.threshold) / members.shape[1])

    def climbing_slopes(self, members: FloatArray) -> FloatArray:
        """Return the derivatives; where members merely count, those that are short are pulled up.

        Such a score is flat.
        """
        if self.kind == "pi":
            return np.asarray((members < self.threshold) / members.shape[1])
        return self.gradient(members)
