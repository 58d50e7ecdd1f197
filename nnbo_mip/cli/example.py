"""The built-in example: a network trained on the spot, its maximum, its minimum, the proofs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.certify import certify
from nnbo_mip.exact.certify_result import CertifyResult
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.constraints import LinearConstraint
from nnbo_mip.space.dimensions import Integer, Real
from nnbo_mip.space.space import Space

HIDDEN = 200
OBSERVATIONS = 600
RIDGE = 1e-6
LOWER, UPPER = (-3.0, -2.0), (2.5, 3.5)


def peaks(points: FloatArray) -> FloatArray:
    """Evaluate a hilly function of two inputs: (n, 2) to (n,)."""
    x, y = points[:, 0], points[:, 1]
    hill = 3.0 * (1.0 - x) ** 2 * np.exp(-(x**2) - (y + 1.0) ** 2)
    valley = 10.0 * (x / 5.0 - x**3 - y**5) * np.exp(-(x**2) - y**2)
    return np.asarray(hill - valley - np.exp(-((x + 1.0) ** 2) - y**2) / 3.0)


def train(seed: int = 0) -> tuple[Network, float]:
    """Fit a ReLU network to `peaks`: random hidden weights, least squares for the output.

    Returns
    -------
    network : Network
        One hidden layer of `HIDDEN` ReLUs.
    error : float
        Root mean square error on fresh points.
    """
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(HIDDEN, 2))
    anchors = rng.uniform(LOWER, UPPER, size=(HIDDEN, 2))
    biases = -(directions * anchors).sum(axis=1)  # every ReLU bends within the box

    def features(points: FloatArray) -> FloatArray:
        hidden = np.maximum(points @ directions.T + biases, 0.0)
        return np.column_stack([hidden, np.ones(len(points))])

    seen, fresh = rng.uniform(LOWER, UPPER, size=(2, OBSERVATIONS, 2))
    design = features(seen)
    normal = design.T @ design + RIDGE * OBSERVATIONS * np.eye(HIDDEN + 1)
    weights = np.asarray(np.linalg.solve(normal, design.T @ peaks(seen)), dtype=np.float64)
    error = float(np.sqrt(np.mean((features(fresh) @ weights - peaks(fresh)) ** 2)))
    head = Affine(weights[-1:], {1: weights[None, :-1]})
    return Network(2, (Affine(biases, {0: directions}),), head), error


def run(say: Callable[[str], None]) -> bool:
    """Tell the story line by line; return whether every claim was proven and confirmed."""
    network, error = train()
    box = Space.box(LOWER, UPPER)
    constrained = Space(
        [Real("x", LOWER[0], UPPER[0]), Integer("y", -2, 3)],
        [LinearConstraint({"x": 1.0, "y": 2.0}, "<=", 1.5)],
    )
    sampled = network.evaluate(box.sample(10_000, seed=0), 0)
    say(f"A ReLU network was fitted to {OBSERVATIONS} points of a hilly function of two inputs:")
    say(f"{network!r}; root mean square error {error:.2f} on fresh points.")
    say(f"At 10,000 random points it lies between {sampled.min():.3f} and {sampled.max():.3f}.\n")
    confirmed = [
        _tell("1. Its maximum over the box", network, certify(network, box), say),
        _tell(
            "2. Its minimum over the box",
            network,
            certify(network, box, direction="minimize"),
            say,
        ),
        _tell(
            "3. Its maximum where y is an integer and x + 2 y <= 1.5",
            network,
            certify(network, constrained),
            say,
        ),
    ]
    say("What was proved: the network, as it is stored, takes no value above the first bound and")
    say("none below the second anywhere in the box, not only at points that somebody tried; the")
    say("third bound holds for every admissible pair (x, y). A separate checker then proved each")
    say("bound again. Nothing is said about the function behind the data.")
    return all(confirmed)


def _tell(title: str, network: Network, result: CertifyResult, say: Callable[[str], None]) -> bool:
    checked = result.certificate.check(network, time_limit=30.0)
    say(title)
    for line in str(result).splitlines():
        say(f"   {line}")
    say(f"   check {checked.verdict} in {checked.seconds:.2f} s\n")
    return checked.confirmed
