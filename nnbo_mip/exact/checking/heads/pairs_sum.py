r"""The largest value of a sum of terms over boxes, written for checking.

Inputs are taken in one after the other, and let go once all their products are counted: a table
over the inputs that are held has the best that those that were let go can add. Where it grows too
large an input is let go early, and each of its products that are left is replaced by its largest
value for each label of the other one. A coordinate with a square is counted, in closed form, with
the inputs that it is multiplied with; where these are too many, its products are counted as if
they were free.

`exact.pairs` sums buckets instead, splits those, and merges them in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.scores.posteriors.pairs import PairwisePosterior
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid

LARGEST_TABLE = 1 << 20
"""Numbers, for all boxes of a batch."""

MOST_BESIDE_BENT = 1 << 12
"""Numbers of the table of a coordinate with a square."""


@dataclass(eq=False)
class Held:
    """The table while inputs come and go.

    Parameters
    ----------
    names : list of int
        Inputs that are held, one axis each.
    table : (B, ...) array
    gone : list of (int, list of int, array)
        Inputs that were let go, what was held then, and their best labels.
    """

    names: list[int]
    table: FloatArray
    gone: list[tuple[int, list[int], npt.NDArray[np.intp]]] = field(default_factory=list)

    def add(self, names: tuple[int, ...], values: FloatArray) -> None:
        """Add values (B, ...) of some of the inputs that are held."""
        order = sorted(range(len(names)), key=lambda i: self.names.index(names[i]))
        moved = np.transpose(values, (0, *(i + 1 for i in order)))
        shape = [1] * len(self.names)
        for i, size in zip(order, moved.shape[1:], strict=True):
            shape[self.names.index(names[i])] = size
        self.table = self.table + moved.reshape(len(values), *shape)

    def take(self, name: int, values: FloatArray) -> None:
        """Hold one more input, with what it adds by itself (B, L)."""
        shape = (len(values), *(1 for _ in self.names), values.shape[1])
        self.table = self.table[..., None] + values.reshape(shape)
        self.names.append(name)

    def drop(self, name: int) -> None:
        """Let an input go at its best."""
        axis = self.names.index(name) + 1
        self.names.remove(name)
        self.gone.append((name, list(self.names), self.table.argmax(axis=axis)))
        self.table = self.table.max(axis=axis)


class PairwiseSum:
    """A sum of terms over a domain.

    Parameters
    ----------
    read : PairwisePosterior
    factor, constant : float
        The sum is ``factor * mean + constant``.
    domain : Domain
    """

    def __init__(
        self, read: PairwisePosterior, factor: float, constant: float, domain: Domain
    ) -> None:
        self.domain = domain
        d = domain.dimension
        self.linear, self.square = np.zeros(d), np.zeros(d)
        self.level = factor * read.level + constant
        self.input = np.arange(d)  # which input a coordinate belongs to: a category is one
        for group in domain.one_hot:
            self.input[list(group)] = group[0]
        self.groups = {group[0]: list(group) for group in domain.one_hot}
        self.products: dict[tuple[int, int], list[tuple[int, int, float]]] = {}
        for (j, k), weight in zip(
            read.columns.tolist(), (factor * read.average).tolist(), strict=True
        ):
            if k < 0:
                self.linear[j] += weight
            elif k == j:
                self.square[j] += weight
            elif weight and self.input[j] != self.input[k]:
                a, b, one, other = self.input[j], self.input[k], j, k
                if a > b:
                    a, b, one, other = b, a, k, j
                self.products.setdefault((int(a), int(b)), []).append((one, other, weight))
        met = {j for terms in self.products.values() for one in terms for j in one[:2]}
        self.labels = {
            a: [j for j in group if j in met] for a, group in self.groups.items() if met & {*group}
        }
        self.bent = {j for pair in self.products for j in pair if self._is_bent(j)}
        self.order = self._ordered()

    def _is_bent(self, j: int) -> bool:
        return j not in self.groups and bool(self.square[j])

    def _near(self, a: int) -> list[int]:
        return [x if y == a else y for x, y in self.products if a in (x, y)]

    def _ordered(self) -> list[int]:
        """Return the inputs with products, those that let others go first."""
        left = {a for pair in self.products for a in pair} - self.bent
        # Those beside one bent coordinate are held together.
        near = {a: {*self._near(a)} - self.bent for a in left}
        for bent in self.bent:
            beside = {*self._near(bent)}
            for a in beside:
                near[a] |= beside - {a}
        order: list[int] = []
        held: set[int] = set()
        while left:
            # Beside what is held, as others would only wait.
            close = {b for a in held for b in near[a]} & left
            costs = {a: self._cost(a, held, left, near) for a in close or left}
            chosen = min(costs.values())[-1]
            left.discard(chosen)
            order.append(chosen)
            held = {a for a in held | {chosen} if near[a] & left}
        return order

    @staticmethod
    def _cost(
        a: int, held: set[int], left: set[int], near: dict[int, set[int]]
    ) -> tuple[int, int, int]:
        """Return how many inputs are held after another one, and what tells ties apart."""
        waiting = left - {a}
        kept = sum(1 for b in held | {a} if near[b] & waiting)
        return kept, -len(near[a] & held), a

    # -- over boxes ---------------------------------------------------------------------

    def largest(
        self, linear: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return bounds (B,) of the sum without its level, and points (B, d) of such values.

        Parameters
        ----------
        linear : (B, d) array
            In place of the weights of single coordinates.
        lower, upper : (B, d) arrays
        """
        count = len(linear)
        points = np.array(lower)
        total = self._free(linear, lower, upper, points)
        factors: dict[tuple[int, ...], FloatArray] = {}

        def more(names: tuple[int, ...], values: FloatArray) -> None:
            factors[names] = factors[names] + values if names in factors else values

        unary = {a: self._alone(a, linear, lower, upper) for a in self.order}
        for (a, b), terms in self.products.items():
            if not self.bent & {a, b}:
                more((a, b), self._product(a, b, terms, lower, upper))
        for bent in sorted(self.bent):
            total = total + self._count_bent(bent, linear, lower, upper, unary, more)
        held = Held([], total)
        for position, a in enumerate(self.order):
            while held.names and held.table.size * unary[a].shape[1] > LARGEST_TABLE:
                self._let_go_early(held, factors, unary)
            held.take(a, unary[a])
            for names in [names for names in factors if a in names and {*names} <= {*held.names}]:
                held.add(names, factors.pop(names))
            waiting = {*self.order[position + 1 :]}
            for b in list(held.names):
                if not any(b in names and waiting & {*names} for names in factors):
                    held.drop(b)
        self._place(held, linear, lower, upper, points)
        return held.table.reshape(count), points

    def _let_go_early(
        self,
        held: Held,
        factors: dict[tuple[int, ...], FloatArray],
        unary: dict[int, FloatArray],
    ) -> None:
        """Let the first input go, its products that are left at their largest."""
        a = held.names[0]
        for names in [names for names in factors if a in names]:
            values = factors.pop(names).max(axis=names.index(a) + 1)
            rest = tuple(b for b in names if b != a)
            if len(rest) == 1 and rest[0] not in held.names:
                unary[rest[0]] = unary[rest[0]] + values
            elif {*rest} <= {*held.names}:
                held.add(rest, values)
            else:
                factors[rest] = factors[rest] + values if rest in factors else values
        held.drop(a)

    def _alone(
        self, a: int, linear: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> FloatArray:
        """Return what an input adds by itself (B, L)."""
        if a not in self.groups:
            return linear[:, [a]] * np.stack([lower[:, a], upper[:, a]], axis=1)
        levels = self._levels(self.groups[a], linear, lower, upper)
        own = [self.groups[a].index(j) for j in self.labels[a]]
        rest = [i for i in range(levels.shape[1]) if i not in own]
        if not rest:
            return levels[:, own]
        return np.column_stack([levels[:, own], levels[:, rest].max(axis=1)])

    def _levels(
        self, group: list[int], linear: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> FloatArray:
        on = lower[:, group] > 0.5
        can = np.where(on.any(axis=1, keepdims=True), on, upper[:, group] > 0.5)
        return np.where(can, linear[:, group] + self.square[group], -np.inf)

    def _at(self, a: int, j: int, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return a coordinate (B, L) at the labels of its input."""
        if a not in self.groups:
            return np.stack([lower[:, j], upper[:, j]], axis=1)
        size = len(self.labels[a]) + (len(self.labels[a]) < len(self.groups[a]))
        return np.tile(np.arange(size) == self.labels[a].index(j), (len(lower), 1)) * 1.0

    def _product(
        self,
        a: int,
        b: int,
        terms: list[tuple[int, int, float]],
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        parts = [
            weight
            * self._at(a, j, lower, upper)[:, :, None]
            * self._at(b, k, lower, upper)[:, None, :]
            for j, k, weight in terms
        ]
        return np.asarray(np.sum(parts, axis=0))

    # -- coordinates with squares -------------------------------------------------------

    def _count_bent(
        self,
        bent: int,
        linear: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        unary: dict[int, FloatArray],
        more: Callable[[tuple[int, ...], FloatArray], None],
    ) -> FloatArray:
        """Count a coordinate with a square; return what it adds whatever the others are (B,)."""
        near = sorted(self._near(bent))
        sizes = [unary[a].shape[1] for a in near]
        grid, square = self.domain.grids[bent], float(self.square[bent])
        ends = lower[:, bent], upper[:, bent]
        slopes = [self._beside(bent, a, lower, upper) for a in near]
        if float(np.prod(sizes, dtype=float)) > MOST_BESIDE_BENT:
            for a, slope in zip(near, slopes, strict=True):
                low, high = slope * ends[0][:, None], slope * ends[1][:, None]
                unary[a] = unary[a] + np.maximum(low, high)
            return _best(square, linear[:, bent], *ends, grid)[1]
        slope = linear[:, bent].reshape(-1, *(1 for _ in near))
        for i, part in enumerate(slopes):
            shape = [1] * len(near)
            shape[i] = part.shape[1]
            slope = slope + part.reshape(-1, *shape)
        low, high = (end.reshape(-1, *(1 for _ in near)) for end in ends)
        more(tuple(near), _best(square, slope, low, high, grid)[1])
        return np.zeros(len(lower))

    def _beside(self, bent: int, a: int, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return by what the labels (B, L) of an input tilt a coordinate with a square."""
        pair = (min(a, bent), max(a, bent))
        total = np.zeros((len(lower), 1))
        for j, k, weight in self.products[pair]:
            other = k if self.input[j] == bent else j
            total = total + weight * self._at(a, other, lower, upper)
        return total

    # -- the rest, and the way back -----------------------------------------------------

    def _free(
        self, linear: FloatArray, lower: FloatArray, upper: FloatArray, points: FloatArray
    ) -> FloatArray:
        """Place inputs without products at their best, and return what they add (B,)."""
        met = {a for pair in self.products for a in pair}
        total = np.zeros(len(lower))
        for j in range(self.domain.dimension):
            if self.input[j] in met or (j in self.domain.one_hot_members and j not in self.groups):
                continue
            if j in self.groups:
                levels = self._levels(self.groups[j], linear, lower, upper)
                points[:, self.groups[j]] = np.eye(levels.shape[1])[levels.argmax(axis=1)]
                total = total + levels.max(axis=1)
                continue
            ends = lower[:, j], upper[:, j]
            points[:, j], value = _best(
                float(self.square[j]), linear[:, j], *ends, self.domain.grids[j]
            )
            total = total + value
        return total

    def _place(
        self,
        held: Held,
        linear: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        points: FloatArray,
    ) -> None:
        rows = np.arange(len(points))
        labels: dict[int, npt.NDArray[np.intp]] = {}
        for a, names, best in reversed(held.gone):
            labels[a] = label = best[(rows, *(labels[b] for b in names))]
            if a not in self.groups:
                points[:, a] = np.where(label > 0, upper[:, a], lower[:, a])
                continue
            group, own = self.groups[a], self.labels[a]
            levels = self._levels(group, linear, lower, upper)
            mine = np.array([own.index(j) if j in own else len(own) for j in group])
            levels = np.where(mine == label[:, None], levels, -np.inf)
            points[:, group] = np.eye(len(group))[levels.argmax(axis=1)]
        for bent in sorted(self.bent):
            slope = np.array(linear[:, bent])
            for a in self._near(bent):
                for j, k, weight in self.products[min(a, bent), max(a, bent)]:
                    slope = slope + weight * points[:, k if self.input[j] == bent else j]
            points[:, bent] = _best(
                float(self.square[bent]),
                slope,
                lower[:, bent],
                upper[:, bent],
                self.domain.grids[bent],
            )[0]


def _best(
    square: float, slope: FloatArray, low: FloatArray, high: FloatArray, grid: Grid | None
) -> tuple[FloatArray, FloatArray]:
    """Return where a parabola is largest between ends, on a grid if there is one, and its value."""
    tried = [low + 0.0 * slope, high + 0.0 * slope]
    if square < 0.0:
        with np.errstate(over="ignore"):
            top = np.clip(slope / (-2.0 * square), low, high)
        if grid is None:
            tried.append(top)
        else:
            first = np.clip(grid.index_below(top), 0, grid.count - 1)
            sides = (first, np.minimum(first + 1, grid.count - 1))
            tried += [np.clip(grid.value(index), low, high) for index in sides]
    places = np.stack(tried)
    values = (square * places + slope) * places
    chosen = values.argmax(axis=0)[None]
    return (
        np.take_along_axis(places, chosen, axis=0)[0],
        np.take_along_axis(values, chosen, axis=0)[0],
    )
