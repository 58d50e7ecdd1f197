r"""The largest value of a sum of terms over boxes, by eliminating its variables.

A bucket holds what reads a variable v. Its sum is a table over the labels of v and of the others
it meets; the largest entry for each label of the others takes its place, until nothing is left.
Where a table would be too large the bucket is split (mini-buckets): the largest of a sum is at most
the sum of the largest, so what comes out is a bound, and the maximum itself where no bucket was
split. Going back, every variable takes its best label given those that were chosen before.

All boxes of a batch are done at once; labels that a box excludes count as minus infinity.

References
----------
Bertele and Brioschi (1972), sums of functions of few variables [BerteleBrioschi1972].
Dechter and Rish (2003), mini-buckets [DechterRish2003].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.exact.pairs.variables import Plan, Terms, owners, parts_of
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid


@dataclass(frozen=True, eq=False)
class Factor:
    """A function of the labels of some variables.

    Parameters
    ----------
    scope : tuple of int
        Variables, those that are eliminated later first.
    table : (B, ...) array
    """

    scope: tuple[int, ...]
    table: FloatArray

    def over(self, scope: Sequence[int]) -> FloatArray:
        """Return the table with an axis for each variable of a larger scope."""
        sizes = dict(zip(self.scope, self.table.shape[1:], strict=True))
        return self.table.reshape(len(self.table), *(sizes.get(v, 1) for v in scope))


class Elimination:
    """Eliminates the variables of one sum over boxes of one domain.

    Parameters
    ----------
    terms : Terms
    domain : Domain
    most : int
        Numbers of a table, a box; buckets with larger ones are split.

    Attributes
    ----------
    is_split : bool
        Whether some bucket is, so that what is found is only a bound.
    numbers : int
        Of all tables, a box.
    """

    def __init__(self, terms: Terms, domain: Domain, most: int) -> None:
        self.terms, self.domain, self.most = terms, domain, most
        self.plan = Plan.of(terms, domain)
        self._place = {v: i for i, v in enumerate(self.plan.order)}
        self._labels = self.plan.labels
        owner = owners(domain)
        self._meets: dict[tuple[int, int], list[tuple[int, int, float]]] = {}
        for (j, k), weight in zip(terms.pairs.tolist(), terms.products.tolist(), strict=True):
            a, b = int(owner[j]), int(owner[k])
            if self._place[a] < self._place[b]:  # the one that is eliminated later comes first
                a, b, j, k = b, a, k, j
            self._meets.setdefault((a, b), []).append((j, k, weight))
        self._buckets = self._planned()
        split = [parts for _, parts in self._buckets if len(parts) > 1]
        self.is_split = bool(split)
        self.numbers = domain.dimension + sum(
            int(np.prod([self._labels[v] for v in (*scope, one)], dtype=float))
            for one, parts in self._buckets
            for scope, _ in parts
        )

    def largest(
        self, linear: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return bounds (B,) of the sum without its level, and where (B, d) it may be as large.

        Parameters
        ----------
        linear : (B, d) array
            In place of the weights of single coordinates.
        lower, upper : (B, d) arrays
            Ends on the grids.
        """
        points = np.array(lower)
        total = self._alone(linear, lower, upper, points)
        factors: dict[tuple[int, ...], Factor] = {}
        for (a, b), met in self._meets.items():
            if b not in self.plan.bent and a not in self.plan.bent:
                factors[a, b] = Factor((a, b), self._table(a, b, met, lower, upper))
        made: list[list[Factor]] = []
        number = 0
        waiting: dict[object, Factor] = dict(factors.items())
        for v, parts in self._buckets:
            mine: list[Factor] = []
            for scope, names in parts:
                if v in self.plan.bent:
                    message = self._bent(v, scope, len(parts), linear, lower, upper)
                else:
                    table = self._unary(v, linear, lower, upper) / len(parts)
                    whole = table.reshape(len(table), *(1 for _ in scope), -1)
                    for name in names:
                        whole = whole + waiting.pop(name).over((*scope, v))
                    mine.append(Factor((*scope, v), whole))
                    message = whole.max(axis=-1)
                if scope:
                    waiting[number] = Factor(scope, message)
                else:
                    total = total + message
                number += 1
            made.append(mine)
        self._decode(made, linear, lower, upper, points)
        return total, points

    def slopes(self, linear: FloatArray, points: FloatArray) -> FloatArray:
        """Return by how much (B, d) the sum changes along each coordinate at points (B, d)."""
        terms = self.terms
        slopes = (linear + 2.0 * terms.square * points).T.copy()
        if len(terms.products):
            first, second = terms.pairs.T
            np.add.at(slopes, first, (terms.products * points[:, second]).T)
            np.add.at(slopes, second, (terms.products * points[:, first]).T)
        return np.ascontiguousarray(slopes.T)

    # -- the plan of buckets ------------------------------------------------------------

    def _planned(self) -> list[tuple[int, list[tuple[tuple[int, ...], list[object]]]]]:
        """Return for each variable the scopes of its buckets, and the factors in them, by name.

        A factor of the sum is named by its pair of variables, a message by its number.
        """
        bent = self.plan.bent
        scopes: dict[object, tuple[int, ...]] = {
            pair: pair for pair in self._meets if not bent & set(pair)
        }
        planned = []
        number = 0
        for v in self.plan.order:
            if v in bent:
                near = sorted((a for a, b in self._meets if b == v), key=self._later)
                room = max(1, self.most)
                parts: list[tuple[tuple[int, ...], list[object]]] = [
                    (tuple(part), []) for part in parts_of(near, self._labels, room)
                ]
            else:
                names = [name for name, scope in scopes.items() if v in scope]
                parts = self._grouped(v, names, scopes)
            for scope, names in parts:
                for name in names:
                    del scopes[name]
                if scope:
                    scopes[number] = scope
                number += 1
            planned.append((v, parts))
        return planned

    def _grouped(
        self, v: int, names: list[object], scopes: dict[object, tuple[int, ...]]
    ) -> list[tuple[tuple[int, ...], list[object]]]:
        """Return factors that read a variable in groups whose tables are small enough."""
        groups: list[tuple[set[int], list[object]]] = []
        for name in sorted(names, key=lambda one: -self._size(scopes[one])):
            scope = set(scopes[name]) - {v}
            for known, chosen in groups:
                if self._size((*(known | scope), v)) <= self.most:
                    known |= scope
                    chosen.append(name)
                    break
            else:
                groups.append((scope, [name]))
        return [(tuple(sorted(known, key=self._later)), chosen) for known, chosen in groups]

    def _size(self, scope: Sequence[int]) -> float:
        return float(np.prod([self._labels[v] for v in scope], dtype=float))

    def _later(self, v: int) -> int:
        return -self._place[v]

    # -- tables -----------------------------------------------------------------------

    def _places(self, v: int, j: int, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return x_j (B, L) for the labels of the variable v that it belongs to."""
        if v not in self.plan.levels:
            return np.stack([lower[:, j], upper[:, j]], axis=1)
        chosen = np.zeros((len(lower), self._labels[v]))
        chosen[:, self.plan.levels[v].index(j)] = 1.0
        return chosen

    def _unary(
        self, v: int, linear: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> FloatArray:
        """Return what a variable adds by itself (B, L)."""
        own = list(self.plan.members[v])
        if v not in self.plan.levels:
            return linear[:, own] * np.stack([lower[:, v], upper[:, v]], axis=1)
        values = self._levels(own, linear, lower, upper)
        met = np.isin(own, self.plan.levels[v])
        if met.all():
            return values
        return np.column_stack([values[:, met], values[:, ~met].max(axis=1)])

    def _levels(
        self, own: list[int], linear: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> FloatArray:
        """Return what the levels of a category add (B, L), minus infinity where impossible."""
        forced = lower[:, own] >= 1.0
        possible = np.where(forced.any(axis=1, keepdims=True), forced, upper[:, own] >= 1.0)
        return np.where(possible, linear[:, own] + self.terms.square[own], -np.inf)

    def _table(
        self,
        a: int,
        b: int,
        met: list[tuple[int, int, float]],
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return the products of two variables (B, L_a, L_b)."""
        total = np.zeros((len(lower), self._labels[a], self._labels[b]))
        for j, k, weight in met:
            one, other = (
                self._places(a, j, lower, upper),
                self._places(b, k, lower, upper),
            )
            total = total + weight * one[:, :, None] * other[:, None, :]
        return total

    def _bent(
        self,
        v: int,
        scope: tuple[int, ...],
        count: int,
        linear: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return the best of one of `count` shares of a bent variable, (B, ...) over a scope."""
        slope = (linear[:, v] / count).reshape(-1, *(1 for _ in scope))
        for a in scope:
            for j, _, weight in self._meets[a, v]:
                places = weight * self._places(a, j, lower, upper)
                slope = slope + Factor((a,), places).over(scope)
        low, high = (end[:, v].reshape(-1, *(1 for _ in scope)) for end in (lower, upper))
        square = float(self.terms.square[v]) / count
        return best_place(square, slope, low, high, self.domain.grids[v])[1]

    def _alone(
        self, linear: FloatArray, lower: FloatArray, upper: FloatArray, points: FloatArray
    ) -> FloatArray:
        """Place what is multiplied with nothing, and return what it adds (B,)."""
        at, grids = self.plan.alone, self.domain.grids
        gridded = np.array([grids[j] is not None for j in at], dtype=bool)
        bent = self.terms.square[at] != 0.0
        total = np.zeros(len(lower))
        plain = at[~(gridded & bent)]
        runs: list[tuple[IntArray, Grid | None]] = [(plain, None)]
        runs += [(np.array([j]), grids[j]) for j in at[gridded & bent].tolist()]
        for own, grid in runs:
            place, value = best_place(
                self.terms.square[own], linear[:, own], lower[:, own], upper[:, own], grid
            )
            points[:, own] = place
            total = total + value.sum(axis=1)
        for group in self.plan.groups:
            levels = self._levels(list(group), linear, lower, upper)
            points[:, list(group)] = np.arange(len(group)) == levels.argmax(axis=1)[:, None]
            total = total + levels.max(axis=1)
        return total

    # -- the way back -------------------------------------------------------------------

    def _decode(
        self,
        made: list[list[Factor]],
        linear: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        points: FloatArray,
    ) -> None:
        """Place the variables that were eliminated, the last one first."""
        rows = np.arange(len(lower))
        chosen: dict[int, IntArray] = {}
        order = list(zip(self.plan.order, made, strict=True))
        for v, tables in reversed(order):
            if v in self.plan.bent:
                continue
            scores = np.sum(
                [
                    factor.table[(rows, *(chosen[u] for u in factor.scope[:-1]))]
                    for factor in tables
                ],
                axis=0,
            )
            chosen[v] = label = scores.argmax(axis=1)
            if v not in self.plan.levels:
                points[:, v] = np.where(label == 0, lower[:, v], upper[:, v])
                continue
            own, met = list(self.plan.members[v]), self.plan.levels[v]
            values = self._levels(own, linear, lower, upper)
            place = np.array([met.index(j) if j in met else len(met) for j in own])
            values[place != label[:, None]] = -np.inf
            points[:, own] = np.arange(len(own)) == values.argmax(axis=1)[:, None]
        if self.plan.bent:
            bent = sorted(self.plan.bent)
            rest = np.array(points)
            rest[:, bent] = 0.0
            slopes = self.slopes(linear, rest)
            for v in bent:
                points[:, v] = best_place(
                    float(self.terms.square[v]),
                    slopes[:, v],
                    lower[:, v],
                    upper[:, v],
                    self.domain.grids[v],
                )[0]


def best_place(
    square: FloatArray | float,
    slope: FloatArray,
    low: FloatArray,
    high: FloatArray,
    grid: Grid | None,
) -> tuple[FloatArray, FloatArray]:
    """Return where in [low, high] ``square x^2 + slope x`` is largest, and how large.

    Parameters
    ----------
    square, slope, low, high : arrays
        Of shapes that go together.
    grid : Grid or None
        Whose values alone count.
    """
    place = np.where(_value(square, slope, high) > _value(square, slope, low), high, low)
    concave = np.asarray(square) < 0.0
    if concave.any():
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            vertex = np.clip(np.where(concave, -0.5 * slope / square, low), low, high)
        vertex = np.where(np.isnan(vertex), place, vertex)
        for candidate in (vertex,) if grid is None else _beside(grid, vertex, low, high):
            better = _value(square, slope, candidate) > _value(square, slope, place)
            place = np.where(concave & better, candidate, place)
    return place, _value(square, slope, place)


def _value(square: FloatArray | float, slope: FloatArray, x: FloatArray) -> FloatArray:
    return np.asarray((square * x + slope) * x)


def _beside(grid: Grid, x: FloatArray, low: FloatArray, high: FloatArray) -> list[FloatArray]:
    """Return the values of a grid on both sides of places, within ends that are on it."""
    index = np.clip(grid.index_below(x), 0, grid.count - 1)
    sides = (index, np.minimum(index + 1, grid.count - 1))
    return [np.clip(grid.value(side), low, high) for side in sides]
