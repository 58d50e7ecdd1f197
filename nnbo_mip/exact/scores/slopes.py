"""How a score changes with the outputs of a network, or with the inputs, at points."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.base.abstract import MemberHead, MomentHead
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.posteriors.readouts import (
    CurvedReadout,
    MembersReadout,
    NetworkReadout,
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
    return readout.pull_moments(points, head.gradient)


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
        assert isinstance(readout, MembersReadout)
        weights[:, readout.columns] = member_weights(head, readout.members(points))
        return weights
    assert isinstance(head, MomentHead)
    mean, read = network.evaluate_together(points, ("mean", readout.std_output))
    by_mean, by_std = head.gradient(mean, readout.std_from(read))
    weights[:, readout.columns] += by_std[:, None] * readout.std_slopes(read)
    weights[:, network.output_index("mean")] += by_mean
    return weights
