r"""The exact maximum of a linear function on the sphere over boxes, grids and one-hot groups.

With y = x - center and z = rate y, a function (u, v, b) . psi, less multipliers mu >= 0 of the rows
A x <= limit over 1 + |z|^2, is a ratio of separable quadratics

    f(x) = (sum_j [ (v + b) rate_j^2 y_j^2 + l_j y_j ] + l_0) / (1 + sum_j rate_j^2 y_j^2),
    l_j = 2 u_j rate_j - (mu A)_j,      l_0 = b - v + mu (limit - A center).

For every number t with H(t) >= 0, f <= t + H(t) / (1 + q) over the box, where

    H(t) = max_x sum_j [ (v + b - t) rate_j^2 y_j^2 + l_j y_j ] + l_0 - t

and q is the least |z|^2. H is a sum of maxima of one coordinate, or one group, each: at an
end, at the vertex of a parabola or the value of a grid beside it, at the best level. Dinkelbach
takes f(x) at that maximum for the next t, and H(t) falls to zero faster than linearly.

`Ratios.largest` adds to H(t) more than float64 loses: with n = 2 d + 2 m + 64 roundings, each a
unit roundoff of the sizes that are summed. They include the choice of a maximum, whose place is off
by roundings and whose value by their square.

References
----------
Dinkelbach (1967), ratios by their parametric differences [Dinkelbach1967].
Doumont et al. (2025), the model [Doumont2025].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF
from nnbo_mip.scores.posteriors.spherical import Sphere
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid

MOST_STEPS = 60
"""Values of t; some ten are usual, and every one of them gives a bound."""

UNDERFLOW = 1e-280
"""More than the sums lose by underflow."""


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of a function over B boxes.

    Parameters
    ----------
    bound : (B,) array
        Proven: no point of the box that satisfies the rows has a larger value.
    points : (B, d) array
        Where the relaxed function is largest; on the grids, perhaps beyond rows.
    slopes : (B, d) array
        How steeply H falls from there along each coordinate.
    multipliers : (B, m) array
        Of the rows.
    """

    bound: FloatArray
    points: FloatArray
    slopes: FloatArray
    multipliers: FloatArray


class Ratios:
    """Bounds functions over boxes of one domain.

    Parameters
    ----------
    sphere : Sphere
    domain : Domain
    """

    def __init__(self, sphere: Sphere, domain: Domain) -> None:
        self.domain, self.center, self.rate = domain, sphere.center, sphere.rate
        self._squares = np.square(sphere.rate)
        self._sizes = np.abs(domain.A)
        self._grids = _Grids(domain)
        self._groups = [np.array(group) for group in domain.one_hot]
        self._roundings = (2 * domain.dimension + 2 * len(domain.b) + 64) * UNIT_ROUNDOFF

    def largest(
        self,
        weights: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        multipliers: FloatArray,
    ) -> Found:
        """Bound functions over boxes.

        Parameters
        ----------
        weights : (B, d + 2) or (1, d + 2) array
        lower, upper : (B, d) arrays
            Ends on the grids.
        multipliers : (B, m) array
            Of the rows, at least zero.
        """
        rate, center, domain = self.rate, self.center, self.domain
        u, v, b = weights[:, :-2], weights[:, -2], weights[:, -1]
        linear, linear_size = 2.0 * u * rate, 2.0 * np.abs(u) * rate
        level, level_size = b - v, np.abs(b) + np.abs(v)
        if len(domain.b):
            cost, cost_size = multipliers @ domain.A, multipliers @ self._sizes
            linear, linear_size = linear - cost, linear_size + cost_size
            level = level + multipliers @ domain.row_limit - cost @ center
            level_size = level_size + multipliers @ np.abs(domain.row_limit)
            level_size = level_size + cost_size @ np.abs(center)
        count = len(lower)
        linear = np.broadcast_to(linear, lower.shape)
        curve, level = np.broadcast_to(v + b, count), np.broadcast_to(level, count)
        low, high = lower - center, upper - center

        def value(y: FloatArray) -> FloatArray:
            q = np.square(y) @ self._squares
            top = curve * q + (linear * y).sum(axis=1) + level
            return np.asarray(top / (1.0 + q))

        def choice(t: FloatArray) -> FloatArray:
            return self._choose((curve - t)[:, None] * self._squares, linear, low, high)

        # The middle may lie beside the grids, and higher than their values.
        t = value(choice(value(0.5 * low + 0.5 * high)))
        for _ in range(MOST_STEPS):
            better = value(choice(t))
            rises = better > t + 4.0 * UNIT_ROUNDOFF * np.abs(t)
            if not rises.any():
                break
            t = np.where(rises, better, t)
        bends = (curve - t)[:, None] * self._squares
        y = self._choose(bends, linear, low, high)
        excess = ((bends * y + linear) * y).sum(axis=1) + level - t
        reach = np.maximum(np.abs(low), np.abs(high)) + np.abs(center)
        size = (np.abs(v) + np.abs(b) + np.abs(t)) * (1.0 + np.square(reach) @ self._squares)
        size = size + (linear_size * reach).sum(axis=1) + level_size + np.abs(t)
        error = 1.01 * self._roundings * size + UNDERFLOW
        least = np.square(np.clip(0.0, low, high)) @ self._squares * (1.0 - 1e-10)
        rise = (np.maximum(excess, 0.0) + error) / (1.0 + least) * (1.0 + 1e-12)
        bound = np.asarray(t + rise + 2.0 * UNIT_ROUNDOFF * np.abs(t))
        points = self._points(y, lower, upper)
        return Found(bound, points, np.abs(2.0 * bends * y + linear), multipliers)

    def _choose(
        self, bends: FloatArray, linear: FloatArray, low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Return y (B, d) in boxes, where ``bends y^2 + linear y`` is largest."""
        ends = np.where((bends * high + linear) * high > (bends * low + linear) * low, high, low)
        concave = bends < 0.0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            vertex = np.clip(-0.5 * linear / bends, low, high)
        y = np.where(concave & ~np.isnan(vertex), vertex, ends)
        self._grids.snap(y, bends, linear, low, high, self.center)
        for group in self._groups:
            on, off = 1.0 - self.center[group], -self.center[group]
            bent, straight = bends[:, group], linear[:, group]
            gain = (bent * on + straight) * on - (bent * off + straight) * off
            possible = high[:, group] >= on
            forced = low[:, group] >= on
            possible = np.where(forced.any(axis=1, keepdims=True), forced, possible)
            chosen = np.where(possible, gain, -np.inf).argmax(axis=1)
            y[:, group] = np.where(np.arange(len(group)) == chosen[:, None], on, off)
        return np.asarray(y)

    def _points(self, y: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return x (B, d) within the boxes and on the grids."""
        x = np.clip(y + self.center, lower, upper)
        for j, grid in enumerate(self.domain.grids):
            if grid is not None and self.center[j] != 0.0:
                x[:, j] = grid.value(grid.nearest(x[:, j]))
        return np.asarray(x)


class _Grids:
    """The grids of a domain that are no levels, those of equal steps as arrays."""

    def __init__(self, domain: Domain) -> None:
        members = domain.one_hot_members
        kept = [(j, g) for j, g in enumerate(domain.grids) if g is not None and j not in members]
        uniform = [(j, g) for j, g in kept if g.listed_values is None]
        self.listed: list[tuple[int, Grid]] = [
            (j, g) for j, g in kept if g.listed_values is not None
        ]
        self.columns: IntArray = np.array([j for j, _ in uniform], dtype=np.int64)
        self.first = np.array([g.first for _, g in uniform])
        self.last = np.array([g.last for _, g in uniform])
        self.step = np.array([g.uniform_step for _, g in uniform], dtype=np.float64)
        self.count = np.array([g.count for _, g in uniform], dtype=np.int64)

    def snap(
        self,
        y: FloatArray,
        bends: FloatArray,
        linear: FloatArray,
        low: FloatArray,
        high: FloatArray,
        center: FloatArray,
    ) -> None:
        """Move y (B, d) onto the better neighbour on the grids, in place."""
        if self.columns.size:
            at, c = self.columns, center[self.columns]
            x = y[:, at] + c
            below = np.floor((x - self.first) / self.step).astype(np.int64)
            sides = [np.clip(below + k, 0, self.count - 1) for k in (0, 1)]
            pair = [np.clip(self._value(k) - c, low[:, at], high[:, at]) for k in sides]
            y[:, at] = _better(pair[0], pair[1], bends[:, at], linear[:, at])
        for j, grid in self.listed:
            k = np.clip(grid.index_below(y[:, j] + center[j]), 0, grid.count - 1)
            pair = [grid.value(np.minimum(k + i, grid.count - 1)) - center[j] for i in (0, 1)]
            pair = [np.clip(one, low[:, j], high[:, j]) for one in pair]
            y[:, j] = _better(pair[0], pair[1], bends[:, j], linear[:, j])

    def _value(self, index: IntArray) -> FloatArray:
        return np.where(index == self.count - 1, self.last, self.first + index * self.step)


def _better(
    one: FloatArray, other: FloatArray, bends: FloatArray, linear: FloatArray
) -> FloatArray:
    """Return which of two places has the larger parabola."""
    left, right = (bends * one + linear) * one, (bends * other + linear) * other
    return np.asarray(np.where(right > left, other, one))
