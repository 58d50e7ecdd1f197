"""How a score changes with the outputs of a network, or with the inputs, at points."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.base.abstract import MemberHead, MomentHead
from nnbo_mip.scores.base.spreads import slopes_by_features, slopes_by_members
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.posteriors.readouts import (
    CurvedReadout,
    MembersReadout,
    NetworkReadout,
    PlainReadout,
    QuadraticReadout,
    Readout,
    SmoothReadout,
)


def gradients(problem: HeadProblem, points: FloatArray) -> FloatArray:
    """Return gradients (n, d) of what is searched at points (n, d)."""
    head, readout = problem.searched, problem.readout
    if isinstance(readout, NetworkReadout):
        return readout.network.pull_back(points, output_weights(problem, points))
    if not isinstance(readout, CurvedReadout):
        raise UnsupportedError(
            "a readout must know its slopes to be climbed; got a "
            f"{type(readout).__name__}; derive it from NetworkReadout or CurvedReadout."
        )
    if isinstance(head, MemberHead):
        return readout.pull_members(points, member_weights(head, readout.members(points)))
    assert isinstance(head, MomentHead)
    return readout.pull_moments(points, *head.gradient(*readout.moments(points)))


def linearized(problem: HeadProblem, point: FloatArray) -> Problem:
    """Return the problem of a network that has the same slopes at a point."""
    readout = problem.readout
    if isinstance(readout, NetworkReadout):
        network = readout.network
        weights = output_weights(problem, point[None, :])[0]
        named = dict(zip(network.output_names, weights.tolist(), strict=True))
        return Problem(network.objective(named), problem.domain)
    slope = gradients(problem, point[None, :])
    return Problem(Network.from_layers([(slope, np.zeros(1))]), problem.domain)


def member_weights(head: MemberHead, members: FloatArray) -> FloatArray:
    """Return slopes (n, M) by predictions (n, M).

    Where the score is flat because members merely count, the members short of the threshold
    are pulled up.
    """
    if isinstance(head, EmpiricalImprovement) and head.kind == "pi":
        return np.asarray((members < head.threshold) / members.shape[1])
    return head.gradient(members)


def output_weights(problem: HeadProblem, points: FloatArray) -> FloatArray:
    """Return derivatives (n, m) of what is searched by the network's outputs at points (n, d)."""
    head, readout = problem.searched, problem.readout
    assert isinstance(readout, NetworkReadout)
    network = readout.network
    weights = np.zeros((len(points), network.n_outputs))
    if isinstance(head, MemberHead):
        index = [network.output_index(name) for name in _names(readout)]
        weights[:, index] = member_weights(head, readout.members(points))
        return weights
    assert isinstance(head, MomentHead)
    by_mean, by_std = head.gradient(*readout.moments(points))
    add_std_weights(readout, points, by_std, weights)
    weights[:, network.output_index("mean")] += by_mean
    return weights


def add_std_weights(
    readout: NetworkReadout, points: FloatArray, factors: FloatArray, weights: FloatArray
) -> None:
    """Add factors (n,) times the derivatives of the std by the outputs to weights (n, m)."""
    network = readout.network
    if isinstance(readout, PlainReadout):
        positive = network.evaluate(points, "std") > 0.0
        weights[:, network.output_index("std")] += factors * positive
    elif isinstance(readout, SmoothReadout):
        raw = network.output_index("relu_raw")
        weights[:, raw] += factors * readout.slope_of(network.evaluate(points, "relu_raw"))
    elif isinstance(readout, MembersReadout):
        index = [network.output_index(name) for name in readout.names]
        slopes = slopes_by_members(
            readout.members(points), readout.spread, readout.variance_unit, readout.noise
        )
        weights[:, index] += factors[:, None] * slopes
    elif isinstance(readout, QuadraticReadout):
        index = [network.output_index(name) for name in readout.names]
        psi = network.evaluate(points)[:, index]
        weights[:, index] += factors[:, None] * slopes_by_features(psi, readout.root, readout.noise)


def _names(readout: Readout) -> tuple[str, ...]:
    assert isinstance(readout, MembersReadout)
    return readout.names
