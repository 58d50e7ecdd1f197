"""Compare an imported network with the framework it came from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine, Matrix
from nnbo_mip.network.graph.graph import Network

N_PROBES = 256
SEED = 20_240_229
SAFETY = 100.0
"""Factor on the rounding that a forward pass in the framework's precision may show."""


def probe_points(n_inputs: int) -> FloatArray:
    """Return the (256, d) seeded points in [-1, 1]^d at which functions are compared."""
    return np.random.default_rng(SEED).uniform(-1.0, 1.0, (N_PROBES, n_inputs))


def largest_difference(
    network: Network, points: FloatArray, seen: npt.ArrayLike, epsilon: float
) -> float:
    """Return the largest difference between a network and what its framework computed.

    Parameters
    ----------
    network : Network
        Evaluated here in float64.
    points : (n, d) array
        Where the framework was evaluated.
    seen : (n, m) array
        What it answered; entries where it overflowed do not count.
    epsilon : float
        Spacing of the framework's floating-point numbers at 1.

    Raises
    ------
    UnsupportedError
        When the difference cannot be rounding, so that the import must be wrong: the
        framework does something that its graph does not show.
    """
    answers = np.asarray(seen, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        values = network.evaluate(points)
    if answers.shape != values.shape:
        raise UnsupportedError(
            f"the framework returned shape {answers.shape} for {len(points)} points where its "
            f"graph gives {values.shape}; make each row of the output depend on one row of the "
            "input."
        )
    counted = np.isfinite(answers) & np.isfinite(values)
    difference = np.abs(np.where(counted, answers, 0.0) - np.where(counted, values, 0.0))
    if bool((difference > SAFETY * epsilon * _rounded_magnitude(network, points)).any()):
        raise UnsupportedError(
            f"the framework and its graph differ by {difference.max():.3g}, more than rounding "
            "explains: it does something that the graph does not show; avoid in-place changes "
            "and operations across the batch."
        )
    return float(difference.max(initial=0.0))


def _rounded_magnitude(network: Network, points: FloatArray) -> FloatArray:
    """Bound operations times the sum of magnitudes that a forward pass adds up, (n, m)."""
    affines = (*network.layers, network.head)
    operations = sum(max([w.shape[1] for w in a.terms.values()], default=1) + 2 for a in affines)
    *layers, head = (_absolute(affine) for affine in affines)
    magnitudes = Network(network.n_inputs, tuple(layers), head)
    with np.errstate(over="ignore", invalid="ignore"):
        bound = operations * magnitudes.evaluate(np.abs(points))
    return np.where(np.isnan(bound), np.inf, bound)


def _absolute(affine: Affine) -> Affine:
    terms: dict[int, Matrix] = {k: abs(w) for k, w in affine.terms.items()}
    return Affine(np.abs(affine.bias), terms)
