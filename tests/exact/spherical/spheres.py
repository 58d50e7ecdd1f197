"""Random linear models on the sphere, and domains of few inputs for them."""

from __future__ import annotations

import itertools

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.scores.posteriors.spherical import SphericalMembers, SphericalPosterior
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid

KINDS = ("box", "far", "point", "integers", "categories", "rows", "equality", "holes")


def random_posterior(d: int, rng: np.random.Generator, m: int = 3) -> SphericalPosterior:
    """Return a posterior of which the observations take a part of the prior variance."""
    slope, level = rng.uniform(0.2, 2.0, 2)
    prior = np.full(d + 2, np.sqrt(slope))
    prior[-1] = np.sqrt(level)
    directions = np.linalg.qr(rng.standard_normal((d + 2, min(m, d + 2))))[0].T
    gains = rng.uniform(0.1, 0.999, len(directions))
    return SphericalPosterior(
        rng.uniform(-0.3, 0.3, d) * rng.integers(0, 2),
        rng.uniform(0.05, 2.0, d),
        rng.standard_normal(d + 2),
        np.sqrt(gains)[:, None] * directions * prior,
        float(slope),
        float(level),
        float(rng.uniform(0.5, 2.0)),
    )


def random_members(d: int, rng: np.random.Generator, count: int = 4) -> SphericalMembers:
    """Return members on one sphere."""
    center, rate = rng.uniform(-0.3, 0.3, d), rng.uniform(0.05, 2.0, d)
    return SphericalMembers(center, rate, rng.standard_normal((count, d + 2)))


def domain_of(kind: str, rng: np.random.Generator) -> Domain:
    """Return a domain of at most three free coordinates."""
    if kind == "box":
        d = int(rng.integers(1, 4))
        return Domain(rng.uniform(-1.0, -0.5, d), rng.uniform(0.25, 1.5, d))
    if kind == "far":
        return Domain([3.0, -1.0], [3.5, 7.0])
    if kind == "point":
        return Domain([0.5, -1.0], [0.5, 1.0])
    if kind == "integers":
        grids = [Grid.uniform(-1.0, 0.25, 9), None, Grid.listed([-1.0, 0.0, 0.5, 0.75])]
        return Domain([-1.0, -0.5, -1.0], [1.0, 1.0, 0.75], grids)
    if kind == "categories":
        return Domain([0.0] * 3 + [-1.0], [1.0] * 3 + [1.0], one_hot=[(0, 1, 2)])
    if kind == "rows":
        return Domain([-1.0] * 2, [1.0] * 2, A=rng.standard_normal((2, 2)), b=[0.3, 0.2])
    if kind == "equality":
        return Domain([-1.0] * 2, [1.0] * 2, A=[[1.0, 1.0], [-1.0, -1.0]], b=[0.4, -0.4])
    return Domain([-1.0] * 2, [1.0] * 2).away_from(rng.uniform(-1.0, 1.0, (4, 2)), 0.3)


def many_points(domain: Domain, count: int) -> FloatArray:
    """Return admissible points (n, d): some `count` values of each coordinate, ends and grids."""
    if domain.b.size and (domain.A.sum(axis=0) == 0.0).all():  # x_0 + x_1 = 0.4
        first = np.linspace(-0.6, 1.0, count**2)
        points = np.column_stack([first, 0.4 - first])
        return points[domain.admissible(points)]
    axes = []
    for j, grid in enumerate(domain.grids):
        if grid is None:
            axes.append(np.unique(np.linspace(domain.lower[j], domain.upper[j], count)))
        else:
            values = grid.value(np.arange(grid.count))
            axes.append(values[(values >= domain.lower[j]) & (values <= domain.upper[j])])
    points = np.array(list(itertools.product(*axes)))
    return points[domain.admissible(points)]
