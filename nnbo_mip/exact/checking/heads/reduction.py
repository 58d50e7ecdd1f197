r"""Claims about heads that are claims about a weighted sum of a network's outputs.

    a mean + b std + c <= level       where the std is an output, or b = 0
    b std + c <= level                where the std is a smooth curve of r: r at most a number
    PI, MES <= level                  mean - t std < threshold, t the ratio of the level, likewise
    empirical EI <= level             (1 / M) sum_k relu(f_k - threshold) <= level

The reduced claim is not weaker: its level is lowered by what rounding its weights may cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.excess import ExcessBounder
from nnbo_mip.exact.checking.heads.stds import POSITIVE, with_positive_part
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import drop_unread_layers
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.ranges import preactivation_ranges
from nnbo_mip.scores.base.abstract import RatioHead
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import (
    CompiledPosterior,
    MembersPosterior,
    PlainPosterior,
    SmoothPosterior,
)
from nnbo_mip.space.domain import Domain

UNIT = 2.0**-53

CURVE_ROUNDING = 1e-14
"""Relative error of a smooth curve."""

LOWERINGS = 40
"""Doublings of a step of one rounding by which the argument of a posterior is lowered."""

RANGE_ROUNDING = 1e-6
"""Relative error of ranges of units, generously."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """``network <= level`` implies the claim."""

    network: Network
    level: float


def reduced(objective: Objective, domain: Domain, level: float) -> Reduced | None:
    """Return a claim about a network that implies ``score <= level``; None where there is none."""
    if not math.isfinite(level):
        return None
    if members := objective.parts(EmpiricalImprovement, MembersPosterior):
        return _of_members(*members, domain, level) if members[0].kind == "ei" else None
    if linear := objective.parts(LinearHead, CompiledPosterior):
        if not linear[0].reads_std or objective.parts(LinearHead, PlainPosterior):
            return _of_linear(*linear, domain, level)
        curve = objective.parts(LinearHead, SmoothPosterior)
        return None if curve is None else _of_curve(*curve, domain, level)
    ratio = objective.parts(RatioHead, PlainPosterior)
    return None if ratio is None else _of_ratio(*ratio, domain, level)


def _of_linear(
    head: LinearHead, posterior: CompiledPosterior, domain: Domain, level: float
) -> Reduced:
    weights = {"mean": head.mean_weight, POSITIVE: head.std_weight}
    sum_level = Fraction(level) - Fraction(head.constant)
    return _of_sum(posterior.network, weights, domain, sum_level, strict=False)


def _of_ratio(
    head: RatioHead, posterior: PlainPosterior, domain: Domain, level: float
) -> Reduced | None:
    ratio = ExcessBounder(head, level).ratio
    if not math.isfinite(ratio):
        return None
    weights = {"mean": 1.0, POSITIVE: -ratio}
    return _of_sum(posterior.network, weights, domain, Fraction(head.threshold), strict=True)


def _of_sum(
    network: Network,
    weights: Mapping[str, float],
    domain: Domain,
    level: Fraction,
    strict: bool,
) -> Reduced:
    """Reduce ``sum of weighted outputs <= level``, or ``<``; `POSITIVE` is the std's."""
    used = {name: weight for name, weight in weights.items() if weight != 0.0} or {"mean": 0.0}
    if POSITIVE in used:
        network = with_positive_part(network, "std")
    return _of_network(network, used, domain, level, strict)


def _of_network(
    network: Network,
    used: Mapping[str, float],
    domain: Domain,
    level: Fraction,
    strict: bool,
) -> Reduced:
    """Reduce a claim about a weighted sum of a network's outputs."""
    objective = drop_unread_layers(_without_zeros(network.objective(used)))
    single = len(used) == 1 and abs(next(iter(used.values()))) == 1.0
    margin = 0.0 if single else _rounding_of_weights(network, used, domain)
    lowered = _rounded_down(level - Fraction(margin))
    return Reduced(objective, math.nextafter(lowered, -math.inf) if strict else lowered)


def _of_curve(
    head: LinearHead, posterior: SmoothPosterior, domain: Domain, level: float
) -> Reduced | None:
    """Reduce ``b g(r) + c <= level`` to ``r <= a number``, g rising."""
    top = posterior.factor * posterior.l_max
    if head.mean_weight != 0.0:
        return None
    if not (head.std_weight > 0.0 and top > 0.0 and posterior.l_min >= 0.0):
        return None
    std = float((Fraction(level) - Fraction(head.constant)) / Fraction(head.std_weight))
    if not 0.0 < std < top:
        return None
    r = -posterior.l_max * math.log1p(-std / top) - posterior.l_min
    for doubling in range(LOWERINGS):
        lowered = r - UNIT * 2.0**doubling * (abs(r) + posterior.l_min + posterior.l_max)
        if lowered < 0.0:
            return None
        if float(posterior.std_of(lowered)) * (1.0 + CURVE_ROUNDING) <= std * (1.0 - 4.0 * UNIT):
            network = with_positive_part(posterior.network, "relu_raw")
            weights = {POSITIVE: 1.0}
            return _of_network(network, weights, domain, Fraction(lowered), strict=False)
    return None


def _rounding_of_weights(network: Network, weights: Mapping[str, float], domain: Domain) -> float:
    """Bound what rounded products and sums of the head's weights change of the output."""
    sizes = np.array([abs(weight) for weight in weights.values()])
    rows = network.head.rows([network.output_index(name) for name in weights])
    total = float(sizes @ np.abs(rows.bias))
    for source, reach in enumerate(_reaches(network, domain)):
        if source in rows.terms:
            total += float(sizes @ np.abs(rows.dense(source)) @ reach)
    # One rounding a product, and one a sum of two.
    return 1.01 * (len(weights) + 1.0) * UNIT * total + 1e-300


def _of_members(
    head: EmpiricalImprovement, posterior: MembersPosterior, domain: Domain, level: float
) -> Reduced:
    network = posterior.network
    members = network.head.rows([network.output_index(name) for name in posterior.names])
    count = members.width
    layer = Affine(members.bias - head.threshold, members.terms)
    last = len(network.layers) + 1
    average = Affine(np.zeros(1), {last: np.full((1, count), 1.0 / count)})
    objective = drop_unread_layers(Network(network.n_inputs, (*network.layers, layer), average))
    # The offsets and the weight 1 / M are rounded once.
    sizes = np.abs(members.bias) + abs(head.threshold)
    for source, reach in enumerate(_reaches(network, domain)):
        if source in members.terms:
            sizes = sizes + np.abs(members.dense(source)) @ reach
    margin = 2.02 * UNIT * float(sizes.mean()) + 1e-300
    return Reduced(objective, _rounded_down(Fraction(level) - Fraction(margin)))


def _reaches(network: Network, domain: Domain) -> list[FloatArray]:
    """Return bounds on the sizes of the inputs and of every layer's units."""
    reaches = [np.maximum(np.abs(domain.lower), np.abs(domain.upper))]
    for _, high in preactivation_ranges(network, domain.lower, domain.upper):
        reaches.append(np.maximum(high, 0.0) * (1.0 + RANGE_ROUNDING) + 1e-300)
    return reaches


def _without_zeros(network: Network) -> Network:
    """Leave out sources that no output reads."""
    head = network.head
    terms = {k: w for k, w in head.terms.items() if head.dense(k).any()}
    return Network(network.n_inputs, network.layers, Affine(head.bias, terms), network.output_names)


def _rounded_down(number: Fraction) -> float:
    near = float(number)
    return near if Fraction(near) <= number else math.nextafter(near, -math.inf)


def problem_of(claim: Reduced, domain: Domain) -> Problem:
    """Return the maximization problem whose values the reduced claim bounds."""
    return Problem(claim.network, domain)
