"""Which code bounds the score of an objective, to check what others claim about it."""

from __future__ import annotations

from nnbo_mip.exact.checking.heads.forest_score import ForestScore
from nnbo_mip.exact.checking.heads.outputs import OutputBounder
from nnbo_mip.exact.checking.heads.pairs import pairwise_score
from nnbo_mip.exact.checking.heads.process_score import process_score
from nnbo_mip.exact.checking.heads.scores import MemberScore, MomentScore, ScoreBounder
from nnbo_mip.exact.checking.heads.sphere_score import sphere_score
from nnbo_mip.exact.checking.heads.stds import std_bounder
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import MembersPosterior
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.scores.posteriors.spherical import OnSphere
from nnbo_mip.scores.posteriors.trees import TreePosterior
from nnbo_mip.space.domain import Domain


def score_bounder(objective: Objective, domain: Domain) -> ScoreBounder | None:
    """Return what bounds the score of an objective; None where nothing is known about it."""
    head, posterior = objective.head, objective.posterior
    if isinstance(posterior, TreePosterior):
        forest = ForestScore(head, posterior)
        known = isinstance(head, EmpiricalImprovement | MomentHead)
        return forest if known and forest.is_useful else None
    if isinstance(posterior, OnSphere):
        return sphere_score(objective)
    if posterior.is_pairwise:
        return pairwise_score(objective)
    box = domain.lower, domain.upper
    if isinstance(head, EmpiricalImprovement) and isinstance(posterior, MembersPosterior):
        outputs = OutputBounder(posterior.network, ("mean", *posterior.names), *box)
        return MemberScore(head, outputs) if outputs.is_useful else None
    if not isinstance(head, MomentHead):
        return None
    if isinstance(posterior, ProcessPosterior):
        return process_score(head, posterior, domain)
    stds = std_bounder(posterior)
    if stds is None:
        return None
    outputs = OutputBounder(stds.network, stds.outputs, *box)
    return MomentScore(head, stds, outputs) if outputs.is_useful else None
