r"""The share of members that reach a threshold: one linear problem, as far as it can tell.

The share jumps, and is a multiple of 1 / M. It lies below the piecewise linear

    g(x) = (1 / M) sum_k clip(1 + (f_k(x) - threshold) / delta, 0, 1),      delta > 0,

which counts a member that is short of the threshold by less than delta in parts. So if nothing
has g above b, no share exceeds b M, rounded down, over M. What is left open, points at which
members miss the threshold by less than delta, is for boxes to settle.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.heads.sandwich import offer_sample
from nnbo_mip.exact.heads.sequence import Outputs, Sequence, SequenceOptions, appended
from nnbo_mip.exact.scores.problem import HeadProblem, assemble
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF, rounded_up
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.posteriors.readouts import MembersReadout

WAY = "counting"

NEARLY = 1e-5
"""delta, as a share of the size of the members' summands."""

SPENT = 0.25
"""Share of one member's count that the linear problem may leave open."""


def why_not(problem: HeadProblem) -> str:
    """Return why this way does not apply, in a sentence; empty where it does."""
    parts = problem.parts(EmpiricalImprovement, MembersReadout)
    if parts is not None and parts[0].kind == "pi":
        return ""
    if problem.head.name != "empirical_pi":
        return "the head does not count members."
    return "the readout has no members that are networks of ReLUs."


def solve(problem: HeadProblem, options: SequenceOptions, monitor: Monitor) -> SearchResult:
    """Maximize the share of members that reach the threshold; see the module."""
    reason = why_not(problem)
    if reason:
        raise UnsupportedError(f"members must be counted; {reason}")
    parts = problem.parts(EmpiricalImprovement, MembersReadout)
    assert parts is not None
    head, readout = parts
    offer_sample(problem, monitor, options.seed)
    sequence = Sequence(options, monitor)
    count = len(readout.names)
    objective, margin = _counted(readout, head.threshold, problem)
    # Nothing more is gained once less than one member is open.
    level = monitor.best_value + (1.0 - SPENT) / count if monitor.best_x is not None else -math.inf
    step = sequence.maximize(
        objective,
        {"counted": 1.0},
        margin=margin,
        allowance=lambda _: SPENT / count,
        level=level,
        share=1.0,
    )
    if step.kind != "none" and math.isfinite(step.bound):
        most = Fraction(math.floor(Fraction(step.bound) * count), count)
        monitor.tighten(max(rounded_up(most), monitor.best_value), step.kind, step.proof)
    message = "" if monitor.closed() else "members are too close to the threshold to be counted."
    return assemble(WAY, problem, monitor, sequence.steps, message)


def _counted(
    readout: MembersReadout, threshold: float, problem: HeadProblem
) -> tuple[Network, float]:
    """Return the network of g, and by how much rounding may put it below g."""
    network, domain = readout.network, problem.domain
    members = network.head.rows([network.output_index(name) for name in readout.names])
    count = members.width
    outputs = Outputs(network, domain.lower, domain.upper)
    size = abs(threshold) + max(outputs.magnitude(name) for name in readout.names)
    delta = NEARLY * size if size > 0.0 else 1.0
    # relu(1 + (f - t) / delta) - relu((f - t) / delta), over M
    bias = (members.bias - threshold) / delta
    terms = {k: members.dense(k) / delta for k in members.terms}
    rows = Affine(
        np.concatenate([1.0 + bias, bias]), {k: np.vstack([w, w]) for k, w in terms.items()}
    )
    shares = np.repeat([1.0 / count, -1.0 / count], count)
    objective = appended(network, rows, Affine(np.zeros(1), {}), shares)
    return objective, 32.0 * UNIT_ROUNDOFF * (1.0 + size / delta)
