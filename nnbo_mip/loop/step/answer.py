"""From the maximizer's proposal to what `ask` returns: the user's x, and what is true of it.

Decoding rounds to the user's units. What will be told is encoded again, and may differ from the
proposal in the last digits; value, gap and status are those of that point. Under an embedding they
are those of the point of the embedding, which the journal keeps.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.loop.policies.escape import Escaped
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.warps.warping import Outward, as_floats
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace, SearchSpace
from nnbo_mip.surrogates.base.abstract import Belief, Capability

OPENED = "the gap was closed at a point that x is rounded from."


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
    found = proposal.found
    if scorer is not None and not np.array_equal(place, proposal.x):
        found = _scored(found, Target(scorer, space.model()), place, gap)
    said = "" if found.status == proposal.status else OPENED
    message = " ".join(part for part in (proposal.message, escaped.message, said) if part)
    mean, std = expected(belief, place[None], outward)
    certificate = proposal.certificate
    return Suggestion(
        x=x,
        z=z,
        found=replace(found, x=None, steps=(), message=message, time_limited=False),
        maximizer=proposal.maximizer,
        mean=sign * mean,
        std=std,
        c=escaped.c,
        eps=escaped.eps,
        doublings=escaped.doublings,
        evaluations=proposal.evaluations,
        certificate_text="" if certificate is None else certificate.to_json(),
        proposal=proposal,
    )


def expected(belief: Belief, place: FloatArray, outward: Outward) -> tuple[float, float]:
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


def _scored(found: SearchResult, target: Target, place: FloatArray, gap: float) -> SearchResult:
    """Return what is true of the point (k,) that the user's x is encoded to.

    A rounding may lead out of the set that the bound is about, out of a region or nearer to a known
    point, and the score above the bound. That score is the bound then: larger, so proven as well.
    """
    searched, measure = target.searched, target.measure
    in_logarithms = searched.is_logarithm and found.score == searched.name
    compared = target.value(place)
    value = compared if in_logarithms else float(target.score(place[None, :])[0])
    bound = highest = max(found.bound, value)
    if not searched.is_logarithm:
        compared = value
    else:
        if not in_logarithms:
            highest = math.log(bound) if bound > 0.0 else -math.inf
        highest = max(highest, compared)
    status = found.status
    if status == "optimal" and not measure.closes(compared, highest, gap):
        status = "feasible"
    return replace(
        found, value=value, bound=bound, gap=measure.gap(compared, highest), status=status
    )
