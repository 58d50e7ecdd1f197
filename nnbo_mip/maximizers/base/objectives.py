"""From a resolved acquisition to the objective that the exact maximizers see of it."""

from __future__ import annotations

from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.maximizers.base.readouts_of_beliefs import readout_of
from nnbo_mip.maximizers.base.readouts_of_draws import readout_of_draws
from nnbo_mip.scores.base.abstract import MemberHead, MixtureHead
from nnbo_mip.scores.objective import Objective


def objective_of(scorer: Scorer) -> Objective:
    """Return the head on the readout of the belief, or of the draws, that it reads.

    Raises `UnsupportedError` where no readout has proven bounds.
    """
    if isinstance(scorer.head, MixtureHead):
        raise UnsupportedError(
            "a score must read mean and std, or members, to be maximized exactly; this one reads "
            f"the mixture of a {scorer.belief.family} belief; choose empirical_ei or empirical_pi "
            "where the belief has members, or a heuristic maximizer."
        )
    if scorer.draws:
        return Objective(readout_of_draws(scorer.draws), scorer.head)
    members = isinstance(scorer.head, MemberHead)
    return Objective(readout_of(scorer.belief, members), scorer.head)
