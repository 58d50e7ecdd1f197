"""A short search for admissible points that score high: samples, then gradient steps.

Climbers that end in an exclusion climb once more from each of its faces.

It serves the check of certificates and shares nothing with the primal side of the engines.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.exact.search.problem import Problem

SAMPLES = 4096
CLIMBERS = 128
STEPS = 60
FIRST_STEP = 0.25
"""Length of the first step, as a share of the box."""

CAUGHT = 4
"""Climbers in one exclusion, the highest ones, that are put on its faces."""

ROUNDS_AT_FACES = 2
"""A climber that leaves one exclusion may end in another one."""

REPAIRED = 8
"""Climbers that are moved back to the domain one by one, which may cost a program each."""


def high_points(problem: Problem, starts: FloatArray, seed: int) -> FloatArray:
    """Return admissible points (n, d), the highest first; perhaps none.

    Parameters
    ----------
    problem : Problem
    starts : (k, d) array
        Points to begin with, beside random ones.
    seed : int
    """
    domain = problem.domain
    points = np.concatenate([starts, _samples(problem, seed)])
    if not len(points):
        middle = domain.repair(0.5 * domain.lower + 0.5 * domain.upper)
        points = np.empty((0, problem.dimension)) if middle is None else middle[None, :]
    order = np.argsort(-problem.values(points), kind="stable")
    ends = domain.lower, domain.upper
    climbed = _climb(problem, points[order[:CLIMBERS]], *ends)
    for _ in range(ROUNDS_AT_FACES if len(domain.exclusions) else 0):
        climbed = _past_exclusions(problem, climbed)
    if not domain.is_box:
        repaired = [domain.repair(x) for x in climbed[:REPAIRED]]
        climbed = np.array([x for x in repaired if x is not None]).reshape(-1, problem.dimension)
    found = np.concatenate([points, climbed])
    found = found[domain.admissible(found)]
    return found[np.argsort(-problem.values(found), kind="stable")]


def _samples(problem: Problem, seed: int) -> FloatArray:
    try:
        return problem.domain.sample(SAMPLES, np.random.default_rng(seed))
    except InputError:  # nothing admissible was found, which is for others to judge
        return np.empty((0, problem.dimension))


def _past_exclusions(problem: Problem, climbed: FloatArray) -> FloatArray:
    """Put every climber (n, d) in an exclusion on its faces and let it climb beyond them."""
    domain = problem.domain
    found = [climbed]
    for low, high in zip(domain.exclusions.lower, domain.exclusions.upper, strict=True):
        caught = climbed[((low < climbed) & (climbed < high)).all(axis=1)][:CAUGHT]
        for j in range(len(low) if len(caught) else 0):
            for face in (low[j], high[j]):
                if not domain.lower[j] <= face <= domain.upper[j]:
                    continue
                lower, upper = domain.lower.copy(), domain.upper.copy()
                (upper if face == low[j] else lower)[j] = face
                starts = np.clip(caught, lower, upper)
                found += [starts, _climb(problem, starts, lower, upper)]
    points = np.concatenate(found)
    points = points[np.argsort(-problem.values(points), kind="stable")]
    outside = ~domain.exclusions.contain(points)
    return np.concatenate([points[outside][:CLIMBERS], points[~outside][:CAUGHT]])


def _climb(
    problem: Problem, points: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Follow gradients inside a box, halving a climber's step whenever it did not rise."""
    width = upper - lower
    values, slopes = problem.network.value_and_gradient(points)
    steps = np.full((len(points), 1), FIRST_STEP)
    for _ in range(STEPS):
        direction = slopes * width
        length = np.abs(direction).max(axis=1, keepdims=True, initial=0.0)
        direction = direction / np.where(length > 0.0, length, 1.0)
        moved = np.clip(points + steps * direction * width, lower, upper)
        new_values, new_slopes = problem.network.value_and_gradient(moved)
        better = new_values > values
        points = np.where(better[:, None], moved, points)
        slopes = np.where(better[:, None], new_slopes, slopes)
        values = np.maximum(values, new_values)
        steps = np.where(better[:, None], steps, 0.5 * steps)
    return points[np.argsort(-values, kind="stable")]
