"""Random networks over random domains, with everything in them that breaks provers.

A case is a function of (seed, index) alone. About half are small enough for exact
enumeration; every trait is drawn with its own probability, so that cases combine several.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain, Grid

SMALLEST_SUBNORMAL = 5e-324
SMALL_SHARE = 0.5
SMALL_RELUS = 16


@dataclass(frozen=True, eq=False)
class FuzzCase:
    """A network, a domain, and the names of what is odd about them."""

    index: int
    network: Network
    domain: Domain
    traits: tuple[str, ...]


def draw(seed: int, index: int) -> FuzzCase:
    """Return case `index` of a seed."""
    return _Drawer(np.random.default_rng([seed, index]), index).case()


class _Drawer:
    """Draws one case, noting its traits."""

    def __init__(self, rng: np.random.Generator, index: int) -> None:
        self.rng = rng
        self.index = index
        self.traits: list[str] = []

    def case(self) -> FuzzCase:
        dimension = int(self.rng.integers(1, 7))
        domain = self.domain(dimension)
        network = self.network(domain)
        return FuzzCase(self.index, network, domain, tuple(self.traits))

    def chance(self, probability: float, trait: str = "") -> bool:
        """Decide a trait and note it."""
        happens = bool(self.rng.random() < probability)
        if happens and trait:
            self.traits.append(trait)
        return happens

    # -- networks -----------------------------------------------------------------------

    def network(self, domain: Domain) -> Network:
        widths = self.widths()
        integral = self.chance(0.2, "integer weights")
        scale = 10.0 ** self.rng.uniform(-4.0, 4.0) if self.chance(0.3, "scaled") else 1.0
        sizes = [domain.dimension]
        layers: list[Affine] = []
        centre = [domain.sample(16, self.rng) if self.feasible(domain) else domain.lower[None, :]]
        for width in widths:
            sources = self.sources(len(layers))
            affine = self.affine(width, sources, sizes, integral, scale)
            affine = self.odd_rows(affine, centre)
            layers.append(affine)
            sizes.append(width)
            centre.append(np.maximum(affine.apply(centre), 0.0))
        head = self.affine(1, self.sources(len(layers)), sizes, integral, scale)
        if self.chance(0.1, "all-negative output"):
            magnitude = float(np.abs(head.apply(centre)).max())
            head = Affine(head.bias - 10.0 * magnitude - 1.0, head.terms)
        return Network(domain.dimension, tuple(layers), head)

    def widths(self) -> list[int]:
        depth = int(self.rng.integers(1, 5))
        if not self.chance(SMALL_SHARE):
            return [int(width) for width in self.rng.integers(1, 25, depth)]
        self.traits.append("small")
        return [int(self.rng.integers(1, max(2, SMALL_RELUS // depth + 1))) for _ in range(depth)]

    def sources(self, layer: int) -> list[int]:
        """Read the layer before, and sometimes earlier ones."""
        skipped = [k for k in range(layer) if self.rng.random() < 0.2]
        if skipped and "skips" not in self.traits:
            self.traits.append("skips")
        return [*skipped, layer]

    def affine(
        self, width: int, sources: list[int], sizes: list[int], integral: bool, scale: float
    ) -> Affine:
        terms = {k: self.weights(width, sizes[k], integral, scale) for k in sources}
        bias = self.weights(width, 1, integral, scale)[:, 0]
        return Affine(np.zeros(width) if self.rng.random() < 0.15 else bias, terms)

    def weights(self, rows: int, columns: int, integral: bool, scale: float) -> FloatArray:
        if integral:
            return self.rng.integers(-2, 3, (rows, columns)).astype(np.float64)
        weights: FloatArray = self.rng.standard_normal((rows, columns))
        weights *= scale / np.sqrt(columns)
        if self.rng.random() < 0.15:
            weights[self.rng.random(weights.shape) < 0.4] = 0.0
        if self.rng.random() < 0.15:
            tiny = np.array([1e-9, 1e-13, 1e-17, 1e-200, 1e-310, SMALLEST_SUBNORMAL])
            chosen = self.rng.random(weights.shape) < 0.4
            signs = self.rng.choice([-1.0, 1.0], int(chosen.sum()))
            weights[chosen] = signs * self.rng.choice(tiny, int(chosen.sum()))
            self.traits.append("subnormal weights")
        return weights

    def odd_rows(self, affine: Affine, sources: list[FloatArray]) -> Affine:
        """Make some neurons dead, always active, equal, opposite, constant or tied at 0."""
        bias = affine.bias.copy()
        terms = {k: affine.dense(k).copy() for k in affine.terms}
        for row in range(affine.width):
            fate = self.rng.random()
            before = sum(terms[k][row] @ sources[k].T for k in terms)
            reach = float(np.abs(before).max()) + 1e-300
            if fate < 0.04:
                bias[row] = -20.0 * reach
            elif fate < 0.08:
                bias[row] = 20.0 * reach
            elif fate < 0.12 and row:
                sign = 1.0 if self.rng.random() < 0.5 else -1.0
                bias[row] = sign * bias[row - 1]
                for weights in terms.values():
                    weights[row] = sign * weights[row - 1]
            elif fate < 0.16:
                for weights in terms.values():
                    weights[row] = 0.0
            elif fate < 0.20:
                bias[row] = -float(before[0])
        return Affine(bias, terms)

    # -- domains ------------------------------------------------------------------------

    def domain(self, dimension: int) -> Domain:
        lower, upper = self.box(dimension)
        grids: list[Grid | None] = [None] * dimension
        one_hot: list[tuple[int, ...]] = []
        if self.chance(0.3, "integers"):
            for j in range(dimension):
                if self.rng.random() < 0.5:
                    lower[j], upper[j], grids[j] = self.grid()
        if dimension >= 2 and self.chance(0.15, "categories"):
            size = int(self.rng.integers(2, dimension + 1))
            one_hot.append(tuple(range(size)))
            lower[:size], upper[:size] = 0.0, 1.0
            grids[:size] = [None] * size
        A = b = None
        if self.chance(0.3, "constraints"):
            A, b = self.rows(lower, upper)
        return Domain(lower, upper, grids, one_hot, A, b)

    def box(self, dimension: int) -> tuple[FloatArray, FloatArray]:
        centre = self.rng.normal(0.0, 1.0, dimension)
        if self.chance(0.15, "far from 0"):
            centre *= 100.0
        half = self.rng.uniform(0.2, 2.0, dimension)
        if self.chance(0.1, "wide or tiny sides"):
            half *= 10.0 ** self.rng.uniform(-6.0, 3.0, dimension)
        lower, upper = centre - half, centre + half
        if self.chance(0.15, "round ends"):
            lower, upper = np.floor(lower), np.ceil(upper)
        if self.chance(0.15, "degenerate sides"):
            flat = self.rng.random(dimension) < 0.4
            upper[flat] = lower[flat]
        return lower, upper

    def grid(self) -> tuple[float, float, Grid]:
        first = float(self.rng.integers(-6, 4))
        kind = self.rng.random()
        if kind < 0.5:
            grid = Grid.uniform(first, 1.0, int(self.rng.integers(1, 12)))
        elif kind < 0.75:
            grid = Grid.uniform(first / 3.0, 0.1, int(self.rng.integers(2, 40)))
        else:
            values = np.unique(self.rng.normal(0.0, 2.0, int(self.rng.integers(1, 8))))
            grid = Grid.listed(values)
        return grid.first, grid.last, grid

    def rows(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows through or past a random point of the box; now and then none can hold."""
        count = int(self.rng.integers(1, 4))
        A = self.rng.standard_normal((count, lower.size))
        if self.rng.random() < 0.3:
            A = np.round(A)
        anchor = self.rng.uniform(lower, upper)
        b = A @ anchor + self.rng.choice([0.0, 0.1, 1.0]) * self.rng.random(count)
        if self.rng.random() < 0.2:
            A, b = np.vstack([A, -A[:1]]), np.append(b, -b[0])
            self.traits.append("equality")
        if self.rng.random() < 0.1:
            lowest = np.minimum(A[0] * lower, A[0] * upper).sum()
            b[0] = lowest - 0.01 * (1.0 + abs(lowest))
            self.traits.append("empty")
        return A, b

    def feasible(self, domain: Domain) -> bool:
        return domain.repair(0.5 * (domain.lower + domain.upper)) is not None
