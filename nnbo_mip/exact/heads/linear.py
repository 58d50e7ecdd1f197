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
from nnbo_mip.exact.scores.answer import assemble
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import SearchResult, Step
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF, sum_above
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.posteriors.readouts import MembersReadout, NetworkReadout, PlainReadout

WAY = "linear"

SPENT = 0.99
"""Share of the gap that a linear problem may leave open; rounding has the rest."""


def why_not(problem: HeadProblem) -> str:
    """Return why this way does not apply, in a sentence; empty where it does."""
    head, readout = problem.head, problem.readout
    if isinstance(head, LinearHead):
        of_network = isinstance(readout, NetworkReadout)
        if isinstance(readout, PlainReadout) or (of_network and head.std_weight == 0.0):
            return ""
        if not of_network:
            return "the mean of this readout is no network of ReLUs; take boxes."
        return "the std of this readout is not an output of the network."
    if isinstance(head, EmpiricalImprovement) and isinstance(readout, MembersReadout):
        if head.kind == "ei":
            return ""
        return "the share of members above a threshold jumps and is no sum of ReLUs; take boxes."
    return "the head is no weighted sum of outputs of the network."


def solve(problem: HeadProblem, options: SequenceOptions, monitor: Monitor) -> SearchResult:
    """Maximize a linear head; see the module."""
    reason = why_not(problem)
    if reason:
        raise UnsupportedError(f"one linear problem must give the head; {reason}")
    sequence = Sequence(options, monitor)
    if isinstance(problem.head, EmpiricalImprovement):
        step = _maximize_members(problem, problem.head, sequence)
        bound = step.bound
    else:
        assert isinstance(problem.head, LinearHead)
        step = _maximize_moments(problem, problem.head, sequence)
        bound = sum_above(step.bound, problem.head.constant)
    if step.kind != "none":
        monitor.tighten(max(bound, monitor.best_value), step.kind, step.proof)
    return assemble(WAY, problem, monitor, sequence.steps)


def _maximize_moments(problem: HeadProblem, head: LinearHead, sequence: Sequence) -> Step:
    allowance = allowance_of(sequence.whole, head.constant)
    if head.std_weight == 0.0:
        assert isinstance(problem.readout, NetworkReadout)
        domain, network = problem.domain, problem.readout.network
        weights = {"mean": head.mean_weight}
        objective, margin = Outputs(network, domain.lower, domain.upper).weighted(weights)
        return sequence.maximize(objective, weights, margin=margin, allowance=allowance, share=1.0)
    assert isinstance(problem.readout, PlainReadout)
    plane = PlainPlane(problem.readout, problem.domain, sequence)
    return plane.maximize(head.mean_weight, head.std_weight, allowance, share=1.0)


def _maximize_members(problem: HeadProblem, head: EmpiricalImprovement, sequence: Sequence) -> Step:
    readout = problem.readout
    assert isinstance(readout, MembersReadout)
    network = readout.network
    members = network.head.rows([network.output_index(name) for name in readout.names])
    count = members.width
    over = Affine(members.bias - head.threshold, members.terms)
    nothing = Affine(np.zeros(1), {})
    objective = appended(network, over, nothing, np.full(count, 1.0 / count))
    # Each offset and each weight is rounded once, which the magnitude covers.
    outputs = Outputs(objective, problem.domain.lower, problem.domain.upper)
    margin = 4.0 * UNIT_ROUNDOFF * outputs.magnitude("objective")
    allowance = allowance_of(sequence.whole, 0.0)
    weights = {"score": 1.0}
    return sequence.maximize(objective, weights, margin=margin, allowance=allowance, share=1.0)


def allowance_of(monitor: Monitor, constant: float) -> Allowance:
    """Return the gap that a monitor asks for, as an allowance for the score less a constant."""

    def allowance(value: float) -> float:
        return SPENT * monitor.problem.measure.allowance(value + constant, monitor.gap)

    return allowance
