"""Which code bounds the score of an objective, to check what others claim about it."""

from __future__ import annotations

from functools import singledispatch

from nnbo_mip.exact.checking.heads.constrained_score import constrained_score
from nnbo_mip.exact.checking.heads.forest_score import forest_score
from nnbo_mip.exact.checking.heads.outputs import OutputBounder
from nnbo_mip.exact.checking.heads.pairs import pairwise_score
from nnbo_mip.exact.checking.heads.process_score import process_score
from nnbo_mip.exact.checking.heads.scores import MemberScore, MomentScore, ScoreBounder
from nnbo_mip.exact.checking.heads.sphere_score import sphere_score
from nnbo_mip.exact.checking.heads.stds import std_bounder
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.scores.functions.constrained import ConstrainedImprovement
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import CompiledPosterior, MembersPosterior, Posterior
from nnbo_mip.scores.posteriors.joint import JointPosterior
from nnbo_mip.scores.posteriors.pairs import PairwisePosterior
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.scores.posteriors.spherical import OnSphere
from nnbo_mip.scores.posteriors.trees import TreePosterior
from nnbo_mip.space.domain import Domain


def score_bounder(objective: Objective, domain: Domain) -> ScoreBounder | None:
    """Return what bounds the score of an objective; None where nothing is known about it."""
    found = _bounder(objective.posterior, objective, domain)
    return found if found is not None and found.is_useful else None


@singledispatch
def _bounder(posterior: Posterior, objective: Objective, domain: Domain) -> ScoreBounder | None:
    """Return what bounds the score; a posterior of one more kind registers its own."""
    moments, stds = objective.parts(MomentHead, object), std_bounder(posterior)
    if moments is None or stds is None:
        return None
    outputs = OutputBounder(stds.network, stds.outputs, domain.lower, domain.upper)
    return MomentScore(moments[0], stds, outputs)


@_bounder.register
def _of_members(
    posterior: MembersPosterior, objective: Objective, domain: Domain
) -> ScoreBounder | None:
    members = objective.parts(EmpiricalImprovement, object)
    if members is None:
        return _bounder.dispatch(CompiledPosterior)(posterior, objective, domain)
    names = ("mean", *posterior.names)
    outputs = OutputBounder(posterior.network, names, domain.lower, domain.upper)
    return MemberScore(members[0], outputs)


@_bounder.register
def _of_process(
    posterior: ProcessPosterior, objective: Objective, domain: Domain
) -> ScoreBounder | None:
    moments = objective.parts(MomentHead, ProcessPosterior)
    return None if moments is None else process_score(*moments, domain)


@_bounder.register
def _of_trees(posterior: TreePosterior, objective: Objective, _: Domain) -> ScoreBounder | None:
    return forest_score(objective)


@_bounder.register
def _of_sphere(posterior: OnSphere, objective: Objective, _: Domain) -> ScoreBounder | None:
    return sphere_score(objective)


@_bounder.register
def _of_parts(
    posterior: JointPosterior, objective: Objective, domain: Domain
) -> ScoreBounder | None:
    found = objective.parts(ConstrainedImprovement, JointPosterior)
    return None if found is None else constrained_score(*found, domain)


@_bounder.register
def _of_pairs(
    posterior: PairwisePosterior, objective: Objective, domain: Domain
) -> ScoreBounder | None:
    return pairwise_score(objective)
