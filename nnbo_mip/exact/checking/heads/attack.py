"""A short search for admissible points that score high: samples, then random steps.

It needs no slopes, so that it serves every head, and shares nothing with the searches that make
claims.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.scores.objective import Objective
from nnbo_mip.space.domain import Domain

SAMPLES = 4096
CLIMBERS = 64
STEPS = 80
FIRST_STEP, LAST_STEP = 0.25, 1e-7
"""Lengths of steps, as shares of the box."""

REPAIRED = 8
"""Climbers that are moved back to the domain one by one, which may cost a program each."""


def high_points(objective: Objective, domain: Domain, starts: FloatArray, seed: int) -> FloatArray:
    """Return admissible points (n, d), the highest first; perhaps none.

    Parameters
    ----------
    objective : Objective
    domain : Domain
    starts : (k, d) array
        Points to begin with, beside random ones.
    seed : int
    """
    rng = np.random.default_rng(seed)
    points = np.concatenate([starts, _samples(domain, rng)])
    if not len(points):
        middle = domain.repair(0.5 * domain.lower + 0.5 * domain.upper)
        points = np.empty((0, domain.dimension)) if middle is None else middle[None, :]
    order = np.argsort(-objective.score(points), kind="stable")
    climbed = _climb(objective, domain, points[order[:CLIMBERS]], rng)
    if not domain.is_box:
        repaired = [domain.repair(x) for x in climbed[:REPAIRED]]
        climbed = np.array([x for x in repaired if x is not None]).reshape(-1, domain.dimension)
    found = np.concatenate([points, climbed])
    found = found[domain.admissible(found)]
    return found[np.argsort(-objective.score(found), kind="stable")]


def _samples(domain: Domain, rng: np.random.Generator) -> FloatArray:
    try:
        return domain.sample(SAMPLES, rng)
    except InputError:  # nothing admissible was found, which is for others to judge
        return np.empty((0, domain.dimension))


def _climb(
    objective: Objective, domain: Domain, points: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Move points at random inside the box, in ever smaller steps, while they rise."""
    if not len(points):
        return points
    width = domain.upper - domain.lower
    values = objective.score(points)
    for step in np.geomspace(FIRST_STEP, LAST_STEP, STEPS):
        for along_one in (False, True):
            moves = step * rng.uniform(-1.0, 1.0, points.shape) * width
            if along_one:
                kept = rng.integers(domain.dimension, size=len(points))
                moves *= np.arange(domain.dimension) == kept[:, None]
            moved = np.clip(points + moves, domain.lower, domain.upper)
            scores = objective.score(moved)
            better = scores > values
            points = np.where(better[:, None], moved, points)
            values = np.maximum(scores, values)
    return points[np.argsort(-values, kind="stable")]
