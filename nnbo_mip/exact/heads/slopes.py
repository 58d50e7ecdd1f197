"""How a score changes with the outputs of the network, at points."""

from __future__ import annotations

import numpy as np

from nnbo_mip.exact.heads.question import HeadProblem
from nnbo_mip.heads import EmpiricalImprovement, MemberHead, MomentHead
from nnbo_mip.heads.readouts import (
    MembersReadout,
    PlainReadout,
    QuadraticReadout,
    Readout,
    SmoothReadout,
)
from nnbo_mip.network.affine import FloatArray


def output_weights(problem: HeadProblem, points: FloatArray) -> FloatArray:
    """Return derivatives (n, m) of what is searched by the network's outputs at points (n, d).

    Where the score is flat because members merely count, the members short of the threshold
    are pulled up.
    """
    head, readout = problem.searched, problem.readout
    network = readout.network
    weights = np.zeros((len(points), network.n_outputs))
    if isinstance(head, MemberHead):
        index = [network.output_index(name) for name in _names(readout)]
        members = readout.members(points)
        if isinstance(head, EmpiricalImprovement) and head.kind == "pi":
            weights[:, index] = (members < head.threshold) / len(index)
        else:
            weights[:, index] = head.gradient(members)
        return weights
    assert isinstance(head, MomentHead)
    by_mean, by_std = head.gradient(*readout.moments(points))
    add_std_weights(readout, points, by_std, weights)
    weights[:, network.output_index("mean")] += by_mean
    return weights


def add_std_weights(
    readout: Readout, points: FloatArray, factors: FloatArray, weights: FloatArray
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
        members = readout.members(points)
        off = members - members.mean(axis=1, keepdims=True)
        variance = np.square(off).mean(axis=1)
        by_variance = _by_variance(variance, readout)
        index = [network.output_index(name) for name in readout.names]
        weights[:, index] += (factors * by_variance)[:, None] * 2.0 * off / off.shape[1]
    elif isinstance(readout, QuadraticReadout):
        index = [network.output_index(name) for name in readout.names]
        psi = network.evaluate(points)[:, index]
        std = readout.std(points)
        safe = np.where(std > 0.0, std, np.inf)
        slopes = (psi @ readout.root.T) @ readout.root
        weights[:, index] += (factors / safe)[:, None] * slopes


def _by_variance(variance: FloatArray, readout: MembersReadout) -> FloatArray:
    """Return the derivative of the std by the members' variance; 0 where it is infinite."""
    if readout.spread == "variance":
        spread = variance / readout.variance_unit
        total = np.hypot(spread, readout.noise)
        return np.where(total > 0.0, spread, 1.0) / (
            np.where(total > 0.0, total, 1.0) * readout.variance_unit
        )
    total = np.sqrt(variance + readout.noise**2)
    return 0.5 / np.where(total > 0.0, total, np.inf)


def _names(readout: Readout) -> tuple[str, ...]:
    assert isinstance(readout, MembersReadout)
    return readout.names
