"""Small random trees with awkward thresholds, and the best score of all their cells."""

from __future__ import annotations

import itertools

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.network.graph.tree_arrays import LEAF
from nnbo_mip.scores.posteriors.trees import TreePosterior
from nnbo_mip.space.domain import Domain


def awkward_thresholds(domain: Domain, j: int, rng: np.random.Generator) -> FloatArray:
    """Return thresholds of a coordinate: ends of the box, neighbours, equal ones, far ones."""
    low, high = domain.lower[j], domain.upper[j]
    base = rng.uniform(low - 0.2, high + 0.2, 2)
    near = [np.nextafter(base[0], np.inf), np.nextafter(base[0], -np.inf)]
    ends = [low, high, np.nextafter(low, -np.inf), np.nextafter(high, -np.inf), 0.0, 0.5]
    return np.array([*base, *near, *ends])


def random_forest(
    domain: Domain, rng: np.random.Generator, n_trees: int = 4, depth: int = 3
) -> TreePosterior:
    """Return trees whose thresholds are drawn from a few, so that many are equal."""
    pools = [awkward_thresholds(domain, j, rng) for j in range(domain.dimension)]
    rows: list[list[float]] = []

    def grow(left: int) -> int:
        index = len(rows)
        value = float(rng.choice([-1.0, 0.0, 0.5, float(rng.normal())]))
        rows.append([LEAF, 0.0, LEAF, LEAF, value, abs(value) * float(rng.integers(2))])
        if left and rng.random() < 0.9:
            j = int(rng.integers(domain.dimension))
            rows[index][:2] = [j, float(rng.choice(pools[j]))]
            rows[index][2] = grow(left - 1)
            rows[index][3] = grow(left - 1)
        return index

    roots = [float(grow(depth)) for _ in range(n_trees)]
    return TreePosterior(
        np.array(rows),
        np.array(roots),
        float(domain.dimension),
        variance=str(rng.choice(["total", "between"])),
        reach=float(rng.choice([1.0, 0.5, 2.0])),
    )


def representatives(posterior: TreePosterior, domain: Domain) -> FloatArray:
    """Return admissible points (n, d), one of every cell at least that is not cut by a row.

    Where rows cut cells of real coordinates, points on the rows are among them as well, but
    not one of each cell that is cut.
    """
    trees, choices = posterior.trees, []
    for j in range(domain.dimension):
        grid = domain.grids[j]
        if grid is not None:
            choices.append(grid.value(np.arange(grid.count)))
            continue
        edges = trees.threshold[trees.feature == j]
        faces = np.concatenate([domain.exclusions.lower[:, j], domain.exclusions.upper[:, j]])
        edges = np.concatenate([edges, faces, np.nextafter(faces, -np.inf)])
        around = [edges, np.nextafter(edges, np.inf), domain.lower[[j]], domain.upper[[j]]]
        choices.append(np.unique(np.concatenate(around)))
    points = np.array(list(itertools.product(*choices)))
    if domain.b.size:
        points = np.concatenate([points, _on_rows(points, domain)])
    return points[domain.admissible(points)]


def best_score(problem: HeadProblem) -> float:
    """Return the largest value of what is searched at the representatives; -inf if none."""
    posterior = problem.posterior
    assert isinstance(posterior, TreePosterior)
    points = representatives(posterior, problem.domain)
    return float(problem.values(points).max()) if len(points) else -np.inf


def _on_rows(points: FloatArray, domain: Domain) -> FloatArray:
    """Move points along one real coordinate until they meet a row."""
    moved = []
    for row, limit in zip(domain.A, domain.b, strict=True):
        for j in np.flatnonzero(row):
            if domain.grids[j] is None:
                there = points.copy()
                there[:, j] += (limit - points @ row) / row[j]
                moved.append(there)
    return np.concatenate(moved) if moved else points[:0]
