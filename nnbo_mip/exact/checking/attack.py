"""A short search for admissible points that score high: samples, then gradient steps.

It serves the check of certificates and shares nothing with the primal side of the engines.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.errors import InputError
from nnbo_mip.exact.problem import Problem
from nnbo_mip.network.affine import FloatArray

SAMPLES = 4096
CLIMBERS = 128
STEPS = 60
FIRST_STEP = 0.25
"""Length of the first step, as a share of the box."""

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
    climbed = _climb(problem, points[order[:CLIMBERS]])
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


def _climb(problem: Problem, points: FloatArray) -> FloatArray:
    """Follow gradients inside the box, halving a climber's step whenever it did not rise."""
    lower, upper = problem.domain.lower, problem.domain.upper
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
