"""Proves or disproves a bound of a head again, by whatever did not make it.

First an attack: a point whose score exceeds the bound for certain ends the matter. Then, where
the claim is one about a weighted sum of outputs, the provers of such claims (`checking.reproof`);
elsewhere the search over boxes that was written for checking heads.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.control import Progress, ProgressCallback
from nnbo_mip.exact.checking.heads.attack import high_points
from nnbo_mip.exact.checking.heads.boxes import MOST_FREE, HeadRecheck, counterexample
from nnbo_mip.exact.checking.heads.choice import score_bounder
from nnbo_mip.exact.checking.heads.forest import ForestRecheck
from nnbo_mip.exact.checking.heads.forest_score import ForestScore
from nnbo_mip.exact.checking.heads.pairs import PairwiseRecheck, PairwiseScore
from nnbo_mip.exact.checking.heads.reduction import problem_of, reduced
from nnbo_mip.exact.checking.heads.scores import ScoreBounder
from nnbo_mip.exact.checking.heads.sphere import SphereRecheck, sphere_recheck
from nnbo_mip.exact.checking.heads.sphere_score import SphereScore
from nnbo_mip.exact.checking.reproof import Outcome, reprove
from nnbo_mip.exact.checking.sweep import Recheck
from nnbo_mip.exact.search.monitor import REPORT_INTERVAL
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.objective import Objective
from nnbo_mip.space.domain import Domain


@dataclass(frozen=True, eq=False)
class HeadClaim:
    """``score(x) <= level`` for every admissible x.

    Parameters
    ----------
    objective : Objective
    domain : Domain
    level : float
        ``-inf`` claims that there is no admissible point.
    claimant : Proof
        Who made the claim, and will not be asked.
    x : (d,) array or None
        The best point the claimant knew.
    rigorous : bool
        Whether a proof up to the tolerances of a solver is too little.
    """

    objective: Objective
    domain: Domain
    level: float
    claimant: Proof
    x: FloatArray | None
    rigorous: bool

    @property
    def sentence(self) -> str:
        """The claim in words."""
        return f"no admissible point scores above {self.level!r}"

    def refuted_by(self, x: FloatArray) -> Outcome:
        """Refute the claim with an admissible point."""
        value = float(self.objective.score(x[None, :])[0])
        return (
            "refuted",
            f"{x.tolist()} is admissible and scores {value!r}, beyond {self.level!r}.",
        )


def reprove_head(
    claim: HeadClaim, deadline: float, seed: int, callback: ProgressCallback | None = None
) -> Outcome:
    """Decide whether a claim holds, until a time of `time.perf_counter`."""
    if claim.level == -math.inf:
        return _reprove_emptiness(claim, deadline, seed, callback)
    scores = score_bounder(claim.objective, claim.domain)
    if scores is None:
        return "undecided", f"{claim.sentence}: {_unknown(claim.objective)}"
    if isinstance(scores, SphereScore | PairwiseScore):  # find the highest points themselves
        return _at_once(claim, scores, deadline, callback)
    known = np.empty((0, claim.domain.dimension)) if claim.x is None else claim.x[None, :]
    points = high_points(claim.objective, claim.domain, known, seed)
    higher = counterexample(claim.objective, claim.domain, scores, claim.level, points)
    if higher is not None:
        return claim.refuted_by(higher)
    if claim.level >= claim.objective.head.largest_score:
        return "confirmed", f"{claim.sentence}: no score of this head is larger."
    remaining = max(0.0, deadline - time.perf_counter())
    x = points[0] if len(points) else None
    if isinstance(scores, ForestScore):
        return _by_leaves(claim, scores, remaining, callback)
    simpler = reduced(claim.objective, claim.domain, claim.level)
    if simpler is None:
        return _by_boxes(claim, scores, x, remaining, callback)
    problem = problem_of(simpler, claim.domain)
    verdict, reason = reprove(
        problem, simpler.level, 1.0, x, claim.claimant, deadline, seed, callback, claim.rigorous
    )
    if verdict == "refuted":
        # The simpler claim may be the stronger one, so its counterexample has to be one of both.
        left = max(0.0, deadline - time.perf_counter())
        return _by_boxes(claim, scores, x, left, callback)
    return verdict, f"{claim.sentence}: as a sum of outputs, {reason.partition(': ')[2]}"


def _by_boxes(
    claim: HeadClaim,
    scores: ScoreBounder,
    best: FloatArray | None,
    seconds: float,
    callback: ProgressCallback | None,
) -> Outcome:
    search = HeadRecheck(claim.objective, claim.domain, scores, claim.level, best)
    if not search.fits:
        return (
            "undecided",
            f"{claim.sentence}: more than {MOST_FREE} coordinates are too many for boxes.",
        )
    return _outcome(claim, search.run(seconds, _watch(claim, seconds, callback)))


def _by_leaves(
    claim: HeadClaim, scores: ForestScore, seconds: float, callback: ProgressCallback | None
) -> Outcome:
    search = ForestRecheck(claim.objective, claim.domain, scores, claim.level)
    return _outcome(claim, search.run(seconds, _watch(claim, seconds, callback)))


def _at_once(
    claim: HeadClaim,
    scores: SphereScore | PairwiseScore,
    deadline: float,
    callback: ProgressCallback | None,
) -> Outcome:
    if claim.x is not None:
        higher = counterexample(
            claim.objective, claim.domain, scores, claim.level, claim.x[None, :]
        )
        if higher is not None:
            return claim.refuted_by(higher)
    if claim.level >= claim.objective.head.largest_score:
        return "confirmed", f"{claim.sentence}: no score of this head is larger."
    seconds = max(0.0, deadline - time.perf_counter())
    search: SphereRecheck | PairwiseRecheck
    if isinstance(scores, PairwiseScore):
        search = PairwiseRecheck(claim.objective, claim.domain, scores, claim.level)
    else:
        search = sphere_recheck(claim.objective, claim.domain, scores, claim.level)
    return _outcome(claim, search.run(seconds, _watch(claim, seconds, callback)))


def _outcome(claim: HeadClaim, answer: Recheck) -> Outcome:
    """Put what became of a search over boxes in words."""
    if answer.verdict == "proved":
        return "confirmed", (
            f"{claim.sentence}: proven again, rigorously, with {answer.count:,} boxes."
        )
    if answer.x is not None and answer.verdict == "counterexample":
        return claim.refuted_by(answer.x)
    if answer.x is not None:
        place = answer.x.tolist()
        reason = f"boxes cannot tell the bound from the score at {place}."
    else:
        reason = f"boxes had settled {answer.share:.0%} of the space when time was up."
    return "undecided", f"{claim.sentence}: neither proven nor disproven; {reason}"


def _reprove_emptiness(
    claim: HeadClaim, deadline: float, seed: int, callback: ProgressCallback | None
) -> Outcome:
    nothing = Network.from_layers([(np.zeros((1, claim.domain.dimension)), np.zeros(1))])
    problem = Problem(nothing, claim.domain)
    return reprove(
        problem, claim.level, 1.0, None, claim.claimant, deadline, seed, callback, claim.rigorous
    )


def _unknown(objective: Objective) -> str:
    head, posterior = type(objective.head).__name__, type(objective.posterior).__name__
    return f"nothing that was written for checking bounds a {head} on a {posterior} like this one."


def _watch(
    claim: HeadClaim, seconds: float, callback: ProgressCallback | None
) -> Callable[[int, float], None]:
    """Return what reports the work of boxes a few times a second."""
    started = time.perf_counter()
    last = -math.inf
    value = -math.inf if claim.x is None else float(claim.objective.score(claim.x[None, :])[0])

    def watch(count: int, share: float) -> None:
        nonlocal last
        now = time.perf_counter()
        if callback is None or now - last < REPORT_INTERVAL:
            return
        last = now
        work = {"percent_settled": int(100.0 * share), "looked_at": count}
        spent = now - started
        callback(Progress("boxes", value, claim.level, spent, max(0.0, seconds - spent), work))

    return watch
