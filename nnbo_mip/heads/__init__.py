"""Heads and readouts: what is maximized of a belief, in pure numbers.

A head makes a score of mean and std, or of members; a readout gives these from a network.

>>> from nnbo_mip.heads import ExpectedImprovement
>>> head = ExpectedImprovement(threshold=1.0)
>>> head.score([1.0, 3.0], [1.0, 0.0]).round(4).tolist()
[0.3989, 2.0]
>>> head.mean_at_level([1.0, 0.0], 2.0).round(4).tolist()
[2.9915, 3.0]
"""

from __future__ import annotations

from nnbo_mip.heads.abstract import (
    Head,
    MemberHead,
    MixtureHead,
    MomentHead,
    RatioHead,
    Shape,
    Trend,
)
from nnbo_mip.heads.empirical import EmpiricalImprovement
from nnbo_mip.heads.entropy import MaxValueEntropy
from nnbo_mip.heads.improvement import ExpectedImprovement
from nnbo_mip.heads.linear import LinearHead
from nnbo_mip.heads.mixtures import MixtureImprovement, MixtureQuantile, SampledImprovement
from nnbo_mip.heads.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.heads.probability import ProbabilityOfImprovement

__all__ = [
    "AugmentedEI",
    "EmpiricalImprovement",
    "ExpectedImprovement",
    "Head",
    "LinearHead",
    "MaxValueEntropy",
    "MemberHead",
    "MixtureHead",
    "MixtureImprovement",
    "MixtureQuantile",
    "MomentHead",
    "ProbabilityOfImprovement",
    "QuantileImprovement",
    "RatioHead",
    "SampledImprovement",
    "Shape",
    "Trend",
]
