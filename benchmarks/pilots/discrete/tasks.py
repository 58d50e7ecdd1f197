"""The tasks: small classics of combinatorial optimization, 15 to 60 variables, all minimized.

None is a task by which defaults are judged (`benchmarks.highdim`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray

Values = Callable[[FloatArray], float]
"""From the numbers (d,) of a point, levels as their indices, to its value."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """A task of one seed.

    Parameters
    ----------
    space : Space
    values : callable
        Without noise.
    noise : float
        Deviation of what is told.
    """

    space: nm.Space
    values: Values
    noise: float = 0.0

    def truth(self, x: Any) -> float:
        """Return the value of a point of the user's."""
        named = x if isinstance(x, Mapping) else dict(zip(self._names, x, strict=True))
        return float(self.values(np.array([float(named[name]) for name in self._names])))

    @property
    def _names(self) -> list[str]:
        return [dimension.name for dimension in self.space.dimensions]


def binaries(d: int, rows: list[Any] | None = None) -> nm.Space:
    """Return a space of d binaries."""
    return nm.Space([nm.Integer(f"x{i}", 0, 1) for i in range(d)], constraints=rows or [])


def categories(d: int, levels: int) -> nm.Space:
    """Return a space of d categories."""
    return nm.Space([nm.Categorical(f"x{i}", list(range(levels))) for i in range(d)])


def ising(seed: int) -> Pilot:
    """Sparsify an Ising model on a 4 x 4 grid: 24 edges, divergence plus a price of edges."""
    rng = np.random.default_rng([seed, 1])
    grid = np.arange(16).reshape(4, 4)
    edges = [*zip(grid[:, :-1].ravel(), grid[:, 1:].ravel(), strict=True)]
    edges += zip(grid[:-1].ravel(), grid[1:].ravel(), strict=True)
    weights = rng.uniform(0.05, 1.0, len(edges)) * rng.choice([-1.0, 1.0], len(edges))
    spins = np.array(list(itertools.product((-1.0, 1.0), repeat=15)))
    spins = np.column_stack([np.ones(len(spins)), spins])  # both signs weigh the same
    pairs = np.stack([spins[:, i] * spins[:, j] for i, j in edges], axis=1)

    def log_sum(energies: FloatArray) -> float:
        return float(energies.max() + np.log(np.exp(energies - energies.max()).sum()))

    whole = pairs @ weights
    moments = np.exp(whole - log_sum(whole)) @ pairs

    def values(x: FloatArray) -> float:
        gap = (weights * (1.0 - x)) @ moments - log_sum(whole) + log_sum(pairs @ (weights * x))
        return float(gap + 0.05 * x.sum())

    return Pilot(binaries(24), values)


def max_cut(seed: int) -> Pilot:
    """Cut a random graph of 40 nodes."""
    rng = np.random.default_rng([seed, 2])
    weights = np.triu(rng.uniform(0.0, 1.0, (40, 40)) * (rng.random((40, 40)) < 0.12), 1)
    return Pilot(binaries(40), lambda x: -float(x @ (weights + weights.T) @ (1.0 - x)))


def labs(seed: int) -> Pilot:
    """Find a sequence of 25 signs, some of them turned, of low autocorrelation."""
    turned = np.random.default_rng([seed, 3]).choice([-1.0, 1.0], 25)

    def values(x: FloatArray) -> float:
        s = (2.0 * x - 1.0) * turned
        return float(sum((s[:-k] @ s[k:]) ** 2 for k in range(1, 25)) / 25.0)

    return Pilot(binaries(25), values)


def nk(seed: int) -> Pilot:
    """Walk an NK landscape of 30 bits, each of which meets two others."""
    rng = np.random.default_rng([seed, 4])
    near = np.array([[i, *rng.choice(np.delete(np.arange(30), i), 2, False)] for i in range(30)])
    table = rng.random((30, 8))

    def values(x: FloatArray) -> float:
        codes = (x[near] @ np.array([1, 2, 4])).astype(int)
        return -float(table[np.arange(30), codes].mean())

    return Pilot(binaries(30), values)


def features(seed: int) -> Pilot:
    """Choose of 30 measurements for a linear classifier, each of which has a price."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), 2.0 * y - 1.0
    fold = np.random.default_rng([seed, 5]).integers(5, size=len(y))

    def values(x: FloatArray) -> float:
        A = np.column_stack([np.ones(len(y)), X[:, x > 0.5]])
        wrong = 0.0
        for k in range(5):
            B, c = A[fold != k], y[fold != k]
            w = np.linalg.solve(B.T @ B + np.eye(A.shape[1]), B.T @ c)
            wrong += float((np.sign(A[fold == k] @ w) != y[fold == k]).sum())
        return 100.0 * wrong / len(y) + 0.1 * float(x.sum())

    return Pilot(binaries(30), values)


def assignment(seed: int) -> Pilot:
    """Give 15 tasks to 6 workers: costs, quarrels of neighbours, and a price of uneven loads."""
    rng = np.random.default_rng([seed, 6])
    costs, quarrels = rng.random((15, 6)), rng.random((6, 6))

    def values(x: FloatArray) -> float:
        who = x.astype(int)
        loads = np.bincount(who, minlength=6)
        quarrel = quarrels[who[:-1], who[1:]].sum()
        return float(costs[np.arange(15), who].sum() + quarrel + 0.1 * np.square(loads).sum())

    return Pilot(categories(15, 6), values)


def schedule(seed: int) -> Pilot:
    """Put 20 jobs on 4 unlike machines: the longest load, and what the machines cost."""
    rng = np.random.default_rng([seed, 7])
    hours, price = rng.uniform(1.0, 9.0, (20, 4)), rng.uniform(0.02, 0.1, (20, 4))

    def values(x: FloatArray) -> float:
        where = x.astype(int)
        mine = hours[np.arange(20), where]
        loads = np.bincount(where, weights=mine, minlength=4)
        return float(loads.max() + 0.3 * loads.sum() + price[np.arange(20), where].sum())

    return Pilot(categories(20, 4), values)


def budget(seed: int) -> Pilot:
    """Choose of 50 projects within a budget; those of one field help less and less."""
    rng = np.random.default_rng([seed, 8])
    gain, field = rng.uniform(0.5, 2.0, 50), rng.integers(8, size=50)
    cost = rng.integers(5, 30, 50)
    row = nm.LinearConstraint(
        {f"x{i}": float(cost[i]) for i in range(50)}, "<=", float(cost.sum() // 3)
    )

    def values(x: FloatArray) -> float:
        sums = np.bincount(field, weights=gain * x, minlength=8)
        return -float(np.sqrt(sums).sum())

    return Pilot(binaries(50, [row]), values)


def one_max(seed: int) -> Pilot:
    """Find 60 hidden bits of unlike weight, told with noise."""
    rng = np.random.default_rng([seed, 9])
    hidden, weight = rng.integers(2, size=60), rng.exponential(1.0, 60)
    return Pilot(binaries(60), lambda x: float(weight @ (x != hidden)), 0.5)


def stock(seed: int) -> Pilot:
    """Set 20 integers from 0 to 9: bowls, of which neighbours share a tenth."""
    rng = np.random.default_rng([seed, 10])
    wanted, weight = rng.uniform(0.0, 9.0, 20), rng.exponential(1.0, 20)

    def values(x: FloatArray) -> float:
        shared = x + 0.3 * np.roll(x, 1)
        return float(weight @ np.square(shared - 1.3 * wanted) / 20.0)

    return Pilot(nm.Space([nm.Integer(f"x{i}", 0, 9) for i in range(20)]), values)


def mixed(seed: int) -> Pilot:
    """Switch 30 devices and turn 3 knobs, of which some devices move the best place."""
    rng = np.random.default_rng([seed, 11])
    weights = np.triu(rng.standard_normal((30, 30)) * (rng.random((30, 30)) < 0.05), 1)
    alone, moved = rng.standard_normal(30), rng.standard_normal((3, 30)) * 0.1

    def values(x: FloatArray) -> float:
        on, knobs = x[:30], x[30:]
        bowl = np.square(knobs - 0.3 - moved @ on).sum() * 3.0
        return float(on @ weights @ on + alone @ on + bowl)

    space = [nm.Integer(f"x{i}", 0, 1) for i in range(30)]
    return Pilot(nm.Space([*space, *(nm.Real(f"u{i}", -2.0, 2.0) for i in range(3))]), values)


TASKS: Mapping[str, Callable[[int], Pilot]] = MappingProxyType(
    {
        task.__name__: task
        for task in (
            *(ising, max_cut, labs, nk, features, assignment),
            *(schedule, budget, one_max, stock, mixed),
        )
    }
)


@cache
def pilot(name: str, seed: int) -> Pilot:
    """Return a task of a seed."""
    return TASKS[name](seed)
