"""Heads: pure numbers between the outputs of a belief and the score that is maximized.

>>> from nnbo_mip.acquisitions.heads import ExpectedImprovement
>>> head = ExpectedImprovement(threshold=1.0)
>>> head.score([1.0, 3.0], [1.0, 0.0]).round(4).tolist()
[0.3989, 2.0]
>>> head.mean_at_level([1.0, 0.0], 2.0).round(4).tolist()
[2.9915, 3.0]
"""

from __future__ import annotations

from nnbo_mip.acquisitions.heads.abstract import (
    Head,
    MemberHead,
    MomentHead,
    RatioHead,
    Shape,
    Trend,
)
from nnbo_mip.acquisitions.heads.empirical import EmpiricalImprovement
from nnbo_mip.acquisitions.heads.entropy import MaxValueEntropy
from nnbo_mip.acquisitions.heads.improvement import ExpectedImprovement
from nnbo_mip.acquisitions.heads.linear import LinearHead
from nnbo_mip.acquisitions.heads.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.acquisitions.heads.probability import ProbabilityOfImprovement

__all__ = [
    "AugmentedEI",
    "EmpiricalImprovement",
    "ExpectedImprovement",
    "Head",
    "LinearHead",
    "MaxValueEntropy",
    "MemberHead",
    "MomentHead",
    "ProbabilityOfImprovement",
    "QuantileImprovement",
    "RatioHead",
    "Shape",
    "Trend",
]
