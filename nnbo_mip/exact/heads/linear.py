r"""Heads that are weighted sums of a network's outputs: one linear problem.

    a mean + b std + c                      on a `PlainReadout`, with any b
    a mean + c                              on any readout
    (1 / M) sum_k relu(f_k - threshold)     empirical EI: one more ReLU a member

The share of members that reach a threshold (empirical PI) is no such sum: it jumps, and is left
to boxes.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.heads.moments import PlainPlane
from nnbo_mip.exact.heads.sequence import (
    Allowance,
    Outputs,
    Sequence,
    SequenceOptions,
    appended,
)
from nnbo_mip.exact.scores.problem import HeadProblem, assemble
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import SearchResult, Step
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF, sum_above
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.posteriors.readouts import MembersReadout, PlainReadout
from nnbo_mip.scores.storage import network_of
from nnbo_mip.space.domain import Domain

WAY = "linear"

SPENT = 0.99
"""Share of the gap that a linear problem may leave open; rounding has the rest."""


def why_not(problem: HeadProblem) -> str:
    """Return why this way does not apply, in a sentence; empty where it does."""
    if problem.parts(LinearHead, PlainReadout):
        return ""
    if linear := problem.parts(LinearHead, object):
        if network_of(problem.readout) is None:
            return "the mean of this readout is no network of ReLUs; take boxes."
        if linear[0].std_weight == 0.0:
            return ""
        return "the std of this readout is not an output of the network."
    members = problem.parts(EmpiricalImprovement, MembersReadout)
    if members is None:
        return "the head is no weighted sum of outputs of the network."
    if members[0].kind == "ei":
        return ""
    return "the share of members above a threshold jumps and is no sum of ReLUs; take boxes."


def solve(problem: HeadProblem, options: SequenceOptions, monitor: Monitor) -> SearchResult:
    """Maximize a linear head; see the module."""
    reason = why_not(problem)
    if reason:
        raise UnsupportedError(f"one linear problem must give the head; {reason}")
    sequence = Sequence(options, monitor)
    if members := problem.parts(EmpiricalImprovement, MembersReadout):
        step = _maximize_members(problem.domain, *members, sequence)
        bound = step.bound
    else:
        linear, network = problem.parts(LinearHead, object), network_of(problem.readout)
        assert linear is not None
        assert network is not None
        step = _maximize_moments(problem, linear[0], network, sequence)
        bound = sum_above(step.bound, linear[0].constant)
    if step.kind != "none":
        monitor.tighten(max(bound, monitor.best_value), step.kind, step.proof)
    return assemble(WAY, problem, monitor, sequence.steps)


def _maximize_moments(
    problem: HeadProblem, head: LinearHead, network: Network, sequence: Sequence
) -> Step:
    allowance = allowance_of(sequence.whole, head.constant)
    plain = problem.parts(LinearHead, PlainReadout)
    if plain is None or head.std_weight == 0.0:
        domain = problem.domain
        weights = {"mean": head.mean_weight}
        objective, margin = Outputs(network, domain.lower, domain.upper).weighted(weights)
        return sequence.maximize(objective, weights, margin=margin, allowance=allowance, share=1.0)
    plane = PlainPlane(plain[1], problem.domain, sequence)
    return plane.maximize(head.mean_weight, head.std_weight, allowance, share=1.0)


def _maximize_members(
    domain: Domain, head: EmpiricalImprovement, readout: MembersReadout, sequence: Sequence
) -> Step:
    network = readout.network
    members = network.head.rows([network.output_index(name) for name in readout.names])
    count = members.width
    over = Affine(members.bias - head.threshold, members.terms)
    nothing = Affine(np.zeros(1), {})
    objective = appended(network, over, nothing, np.full(count, 1.0 / count))
    # Each offset and each weight is rounded once, which the magnitude covers.
    outputs = Outputs(objective, domain.lower, domain.upper)
    margin = 4.0 * UNIT_ROUNDOFF * outputs.magnitude("objective")
    allowance = allowance_of(sequence.whole, 0.0)
    weights = {"score": 1.0}
    return sequence.maximize(objective, weights, margin=margin, allowance=allowance, share=1.0)


def allowance_of(monitor: Monitor, constant: float) -> Allowance:
    """Return the gap that a monitor asks for, as an allowance for the score less a constant."""

    def allowance(value: float) -> float:
        return SPENT * monitor.problem.measure.allowance(value + constant, monitor.gap)

    return allowance
