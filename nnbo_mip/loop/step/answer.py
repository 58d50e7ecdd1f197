"""From the maximizer's proposal to what `ask` returns: the user's x, and what is true of it.

Decoding rounds to the user's units. What will be told is encoded again, and may differ from the
proposal in the last digits; value, gap and status are those of that point. Under an embedding they
are those of the point of the embedding, which the journal keeps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.terms import Measure, Status
from nnbo_mip.exact.search.result import gap_closed
from nnbo_mip.loop.policies.escape import Escaped
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.warps.warping import Outward, as_floats
from nnbo_mip.maximizers.base.proposal import Proposal
from nnbo_mip.maximizers.base.sought import Sought
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace, SearchSpace
from nnbo_mip.surrogates.base.abstract import Belief, Capability

OPENED = "the gap was closed at a point that x is rounded from."


@dataclass(frozen=True)
class Scored:
    """Score, bound, gap and status of a point."""

    value: float
    bound: float
    gap: float
    status: Status


def suggested(
    space: SearchSpace,
    sign: float,
    belief: Belief,
    scorer: Scorer | None,
    escaped: Escaped,
    outward: Outward,
    gap: float,
) -> Suggestion:
    """Return the suggestion that a proposal with a point stands for.

    Parameters
    ----------
    space : SearchSpace
    sign : float
        -1 where small values are wanted.
    belief : Belief
        With the scale of the proposal.
    scorer : Scorer or None
        What was maximized; None where a criterion chose the point itself.
    escaped : Escaped
    outward : callable
        From values as the model sees them to those that were told.
    gap : float
        At which it counts as closed.
    """
    proposal = escaped.proposal
    assert proposal.x is not None
    x = space.decode(proposal.x)
    z = proposal.x if isinstance(space, EmbeddedSpace) else None
    place = space.encode(x)[0] if z is None else z
    scored = Scored(proposal.value, proposal.bound, proposal.gap, proposal.status)
    if scorer is not None and not np.array_equal(place, proposal.x):
        scored = _scored(proposal, Target(scorer, space.model()), place, gap)
    said = "" if scored.status == proposal.status else OPENED
    mean, std = _expected(belief, place[None], outward)
    certificate = proposal.certificate
    return Suggestion(
        x=x,
        z=z,
        status=scored.status,
        value=scored.value,
        bound=scored.bound,
        gap=scored.gap,
        kind=proposal.kind,
        engine=proposal.engine,
        head=proposal.head,
        maximizer=proposal.maximizer,
        mean=sign * mean,
        std=std,
        c=escaped.c,
        eps=escaped.eps,
        doublings=escaped.doublings,
        evaluations=proposal.evaluations,
        counters=proposal.counters,
        message=" ".join(part for part in (proposal.message, escaped.message, said) if part),
        certificate_text="" if certificate is None else certificate.to_json(),
        proposal=proposal,
    )


def _expected(belief: Belief, place: FloatArray, outward: Outward) -> tuple[float, float]:
    """Return the median and half of the band of one deviation about it, in the units told."""
    if Capability.MEAN not in belief.capabilities:
        return math.nan, math.nan
    mean = float(belief.mean(place)[0])
    if Capability.STD not in belief.capabilities:
        return float(outward([mean])[0]), math.nan
    std = float(belief.std(place)[0])
    if outward is as_floats:  # the detour below would cost digits
        return mean, std
    low, middle, high = outward([mean - std, mean, mean + std]).tolist()
    return middle, 0.5 * (high - low)


def _scored(proposal: Proposal, target: Target, place: FloatArray, gap: float) -> Scored:
    """Return what is true of the point (k,) that the user's x is encoded to.

    A rounding may lead out of the set that the bound is about, out of a region or nearer to a known
    point, and the score above the bound. That score is the bound then: larger, so proven as well.
    """
    sought = Sought(target)
    compared = sought.value(place)
    in_logarithms = proposal.head.startswith("log")
    value = compared if in_logarithms else float(target.score(place[None, :])[0])
    bound = max(proposal.bound, value)
    if sought.measure is not Measure.LOGARITHM:
        apart = bound - value
        closed = gap_closed(value, bound, gap, sought.measure)
    else:
        most = bound if in_logarithms else math.log(bound) if bound > 0.0 else -math.inf
        apart = max(most - compared, 0.0)
        closed = apart <= gap
    status = proposal.status
    if status == "optimal" and not closed:
        status = "feasible"
    return Scored(value, bound, apart, status)
