"""Scores: functions of what a belief says at a point, in pure numbers, and how it says it.

A score function (`functions`) makes a number of mean and std, or of members; a posterior
(`posteriors`) gives these at a point; an `Objective` is one on the other.

>>> import nnbo_mip as nm
>>> head = nm.scores.ExpectedImprovement(threshold=1.0)
>>> head.score([1.0, 3.0], [1.0, 0.0]).round(4).tolist()
[0.3989, 2.0]
>>> head.mean_at_level([1.0, 0.0], 2.0).round(4).tolist()
[2.9915, 3.0]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nnbo_mip.scores.base.abstract import Head as Head
    from nnbo_mip.scores.base.abstract import MemberHead as MemberHead
    from nnbo_mip.scores.base.abstract import MomentHead as MomentHead
    from nnbo_mip.scores.functions.empirical import EmpiricalImprovement as EmpiricalImprovement
    from nnbo_mip.scores.functions.entropy import MaxValueEntropy as MaxValueEntropy
    from nnbo_mip.scores.functions.improvement import ExpectedImprovement as ExpectedImprovement
    from nnbo_mip.scores.functions.linear import LinearHead as LinearHead
    from nnbo_mip.scores.functions.noisy import AugmentedEI as AugmentedEI
    from nnbo_mip.scores.functions.noisy import QuantileImprovement as QuantileImprovement
    from nnbo_mip.scores.functions.probability import LogProbability as LogProbability
    from nnbo_mip.scores.functions.probability import (
        ProbabilityOfImprovement as ProbabilityOfImprovement,
    )
    from nnbo_mip.scores.functions.sampled_incumbents import NoisyImprovement as NoisyImprovement
    from nnbo_mip.scores.objective import Objective as Objective
    from nnbo_mip.scores.posteriors.compiled import MembersPosterior as MembersPosterior
    from nnbo_mip.scores.posteriors.compiled import PlainPosterior as PlainPosterior
    from nnbo_mip.scores.posteriors.compiled import Posterior as Posterior
    from nnbo_mip.scores.posteriors.compiled import QuadraticPosterior as QuadraticPosterior
    from nnbo_mip.scores.posteriors.compiled import SmoothPosterior as SmoothPosterior
    from nnbo_mip.scores.posteriors.pairs import PairwisePosterior as PairwisePosterior
    from nnbo_mip.scores.posteriors.process import ProcessPosterior as ProcessPosterior
    from nnbo_mip.scores.posteriors.spherical import SphericalMembers as SphericalMembers
    from nnbo_mip.scores.posteriors.spherical import SphericalPosterior as SphericalPosterior
    from nnbo_mip.scores.posteriors.tanh import TanhFeatures as TanhFeatures
    from nnbo_mip.scores.posteriors.tanh import TanhMembers as TanhMembers
    from nnbo_mip.scores.posteriors.trees import TreePosterior as TreePosterior

# Where each public name lives; imported when it is first asked for.
_HOMES = {
    "Head": "base.abstract",
    "MemberHead": "base.abstract",
    "MomentHead": "base.abstract",
    "EmpiricalImprovement": "functions.empirical",
    "MaxValueEntropy": "functions.entropy",
    "ExpectedImprovement": "functions.improvement",
    "LinearHead": "functions.linear",
    "AugmentedEI": "functions.noisy",
    "QuantileImprovement": "functions.noisy",
    "LogProbability": "functions.probability",
    "ProbabilityOfImprovement": "functions.probability",
    "NoisyImprovement": "functions.sampled_incumbents",
    "Objective": "objective",
    "PairwisePosterior": "posteriors.pairs",
    "ProcessPosterior": "posteriors.process",
    "MembersPosterior": "posteriors.compiled",
    "PlainPosterior": "posteriors.compiled",
    "QuadraticPosterior": "posteriors.compiled",
    "Posterior": "posteriors.compiled",
    "SmoothPosterior": "posteriors.compiled",
    "SphericalMembers": "posteriors.spherical",
    "SphericalPosterior": "posteriors.spherical",
    "TanhFeatures": "posteriors.tanh",
    "TanhMembers": "posteriors.tanh",
    "TreePosterior": "posteriors.trees",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
