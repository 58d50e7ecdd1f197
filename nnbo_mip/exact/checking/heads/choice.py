"""Which code bounds the score of an objective, to check what others claim about it."""

from __future__ import annotations

from nnbo_mip.exact.checking.heads.forest_score import ForestScore
from nnbo_mip.exact.checking.heads.outputs import OutputBounder
from nnbo_mip.exact.checking.heads.process_score import process_score
from nnbo_mip.exact.checking.heads.scores import MemberScore, MomentScore, ScoreBounder
from nnbo_mip.exact.checking.heads.stds import std_bounder
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.gp_readout import GpReadout
from nnbo_mip.scores.posteriors.readouts import MembersReadout
from nnbo_mip.scores.posteriors.tree_readout import TreeReadout
from nnbo_mip.space.domain import Domain


def score_bounder(objective: Objective, domain: Domain) -> ScoreBounder | None:
    """Return what bounds the score of an objective; None where nothing is known about it."""
    head, readout = objective.head, objective.readout
    if isinstance(readout, TreeReadout):
        forest = ForestScore(head, readout)
        known = isinstance(head, EmpiricalImprovement | MomentHead)
        return forest if known and forest.is_useful else None
    box = domain.lower, domain.upper
    if isinstance(head, EmpiricalImprovement) and isinstance(readout, MembersReadout):
        outputs = OutputBounder(readout.network, ("mean", *readout.names), *box)
        return MemberScore(head, outputs) if outputs.is_useful else None
    if not isinstance(head, MomentHead):
        return None
    if isinstance(readout, GpReadout):
        return process_score(head, readout, domain)
    stds = std_bounder(readout)
    if stds is None:
        return None
    outputs = OutputBounder(stds.network, stds.outputs, *box)
    return MomentScore(head, stds, outputs) if outputs.is_useful else None
