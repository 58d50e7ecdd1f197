"""From the maximizer's proposal to what `ask` returns: the user's x, and what is true of it.

Decoding rounds to the user's units. What will be told is encoded again, and may differ from the
proposal in the last digits; value and gap are those of that point. Under an embedding they are
those of the point of the embedding, which the journal keeps.
"""

from __future__ import annotations

import math

import numpy as np

from nnbo_mip.acquisitions.scorer import Scorer
from nnbo_mip.exact.result import Measure
from nnbo_mip.loop.escape import Escaped
from nnbo_mip.loop.suggestion import Suggestion
from nnbo_mip.loop.warping import Outward, as_floats
from nnbo_mip.maximizers.proposal import Proposal
from nnbo_mip.maximizers.sought import Sought
from nnbo_mip.maximizers.target import Target
from nnbo_mip.network.affine import FloatArray
from nnbo_mip.space.embedded_space import EmbeddedSpace, SearchSpace
from nnbo_mip.surrogates.abstract import Belief, Capability


def suggested(
    space: SearchSpace,
    sign: float,
    belief: Belief,
    scorer: Scorer | None,
    escaped: Escaped,
    outward: Outward,
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
    """
    proposal = escaped.proposal
    assert proposal.x is not None
    x = space.decode(proposal.x)
    z = proposal.x if isinstance(space, EmbeddedSpace) else None
    place = space.encode(x) if z is None else z[None, :]
    value, gap = proposal.value, proposal.gap
    if scorer is not None:
        value, gap = _value_and_gap(proposal, Target(scorer, space.model()), place[0])
    mean, std = _expected(belief, place, outward)
    certificate = proposal.certificate
    return Suggestion(
        x=x,
        z=z,
        status=proposal.status,
        value=value,
        bound=proposal.bound,
        gap=gap,
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
        message=" ".join(part for part in (proposal.message, escaped.message) if part),
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


def _value_and_gap(proposal: Proposal, target: Target, place: FloatArray) -> tuple[float, float]:
    """Return value and gap at the point (k,) that the user's x is encoded to."""
    if np.array_equal(place, np.asarray(proposal.x)):
        return proposal.value, proposal.gap
    sought = Sought(target)
    compared = sought.value(place)
    in_logarithms = proposal.head.startswith("log")
    value = compared if in_logarithms else float(target.score(place[None, :])[0])
    if sought.measure is not Measure.LOGARITHM:
        return value, proposal.bound - value
    bound = proposal.bound
    if not in_logarithms:
        bound = math.log(bound) if bound > 0.0 else -math.inf
    return value, bound - compared
