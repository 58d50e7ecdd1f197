"""Small random problems over domains with exclusions of every kind."""

from __future__ import annotations

import numpy as np

from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.space.domain import Domain, ExclusionBoxes, Grid
from tests.exact.random_problems import random_network


def exclusion_case(seed: int) -> Problem:
    """Return a few ReLUs on a box, grid, group, row or degenerate side, with exclusions.

    Exclusion boxes overlap, touch each other and the box's ends, and now and then cover everything.
    """
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    lower = rng.uniform(-3, 2, d)
    upper = lower + rng.uniform(0.3, 4, d)
    grids: list[Grid | None] = [None] * d
    groups: tuple[tuple[int, ...], ...] = ()
    A = b = None
    kind = ["box", "grid", "group", "row", "degenerate"][rng.integers(5)]
    j = int(rng.integers(d))
    if kind == "grid":
        count = int(rng.integers(2, 8))
        lower[j] = np.round(lower[j])
        grids[j] = Grid.uniform(lower[j], 0.5, count)
        upper[j] = lower[j] + 0.5 * (count - 1)
    elif kind == "group":
        lower, upper = np.append(lower, [0, 0, 0]), np.append(upper, [1, 1, 1])
        grids, groups, d = [*grids, None, None, None], ((d, d + 1, d + 2),), d + 3
    elif kind == "row":
        A = rng.normal(size=(1, d))
        b = A @ (lower + rng.random(d) * (upper - lower))
    elif kind == "degenerate" and d > 1:
        upper[j] = lower[j]
    exclusions = _exclusions(rng, lower, upper, groups)
    domain = Domain(lower, upper, grids, groups, A, b, exclusions)
    widths = (int(rng.integers(2, 6)),) if rng.random() < 0.6 else (3, 2)
    return Problem(random_network(rng, d, widths), domain)


def _exclusions(
    rng: np.random.Generator,
    lower: np.ndarray,
    upper: np.ndarray,
    groups: tuple[tuple[int, ...], ...],
) -> ExclusionBoxes:
    n, d = int(rng.integers(1, 4)), lower.size
    width = np.where(upper > lower, upper - lower, 1.0)
    centre = lower + rng.random((n, d)) * (upper - lower)
    for group in groups:
        centre[:, list(group)] = rng.integers(0, 2, (n, len(group)))
    radius = width * rng.uniform(0.05, 0.6, (n, d))
    low, high = centre - radius, centre + radius
    if rng.random() < 0.3:  # round a corner of the box
        low[0], high[0] = lower - 0.1, lower + 0.7 * width
    if n > 1 and rng.random() < 0.4:  # face to face
        j = int(rng.integers(d))
        side = high[1, j] - low[1, j]
        low[1], high[1] = low[0], high[0]
        low[1, j], high[1, j] = high[0, j], high[0, j] + side
    if rng.random() < 0.1:
        low[-1], high[-1] = lower - 1.0, upper + 1.0
    return ExclusionBoxes(low, high)


def peak(d: int, seed: int) -> tuple[Problem, np.ndarray]:
    """Return a network with its maximum 1 at a point inside [-1, 1]^d, and that point."""
    from nnbo_mip.network.graph.graph import Network

    rng = np.random.default_rng(seed)
    top = rng.uniform(-0.5, 0.5, d)
    slopes = rng.uniform(0.5, 2.0, 2 * d)
    signs = np.concatenate([np.eye(d), -np.eye(d)])
    network = Network.from_layers([(signs, np.concatenate([-top, top])), (-slopes[None, :], [1.0])])
    return Problem(network, Domain(-np.ones(d), np.ones(d))), top
