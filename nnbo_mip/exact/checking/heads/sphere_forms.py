r"""Whether a linear function on the sphere exceeds a number over a box, written for checking.

With y = x - center, q = sum_j rate_j^2 y_j^2 and multipliers mu >= 0 of the rows A x <= limit,

    (2 u . z + v (q - 1)) / (1 + q) + b <= t      for all x of the box that satisfy the rows,

if S <= 0, where S = sum_j max_y [ a_j y^2 + l_j y ] + l_0 with

    a_j = (v + b - t) rate_j^2,   l_j = 2 u_j rate_j - (mu A)_j,
    l_0 = b - v - t + mu (limit - A center).

`Forms.excess` computes S in float64, all boxes at once, with a bound of its error. Where S is
within that error of 0, `Forms.holds` decides in rational arithmetic, one box at a time.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.scores.posteriors.spherical import OnSphere
from nnbo_mip.space.domain import Domain

UNIT = 2.0**-53

TINY = 1e-250
"""More than the sums lose by underflow."""

GUARD_BITS = 200
"""Leading bits that are kept of a rational number that is rounded up."""

STEPS = 40
"""Of the search for the largest value of a function."""


class Forms:
    """Linear functions of one sphere over boxes of one domain.

    Parameters
    ----------
    posterior : OnSphere
    domain : Domain
    """

    def __init__(self, posterior: OnSphere, domain: Domain) -> None:
        self.rate, self.center, self.domain = posterior.rate, posterior.center, domain
        self._square = np.square(posterior.rate)[:, None]
        self._grouped = domain.one_hot_members
        self._count = 3 * domain.dimension + 3 * len(domain.b) + 80

    def excess(
        self,
        weights: FloatArray,
        level: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        multipliers: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return S (B,), its error, and where it is attained (d, B).

        Parameters
        ----------
        weights : (B, d + 2) array
        level : (B,) array
            t.
        lower, upper : (d, B) arrays
        multipliers : (B, m) array
        """
        domain, center = self.domain, self.center[:, None]
        u, v, b = weights[:, :-2].T, weights[:, -2], weights[:, -1]
        cost = domain.A.T @ multipliers.T
        slope = 2.0 * u * self.rate[:, None] - cost
        bend = (v + b - level) * self._square
        start = b - v - level + multipliers @ domain.row_limit - self.center @ cost
        low, high = lower - center, upper - center
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            vertex = np.where(bend < 0.0, -slope / (2.0 * bend), low)
        vertex = np.clip(np.where(np.isnan(vertex), low, vertex), low, high)
        places = [low, high, *self._on_grids(vertex, low, high)]
        values = np.stack([(bend * y + slope) * y for y in places])
        best = values.argmax(axis=0)[None]
        height = np.take_along_axis(values, best, 0)[0]
        place = np.take_along_axis(np.stack(places), best, 0)[0]
        for group in domain.one_hot:
            self._choose_level(list(group), bend, slope, low, high, height, place)
        total = height.sum(axis=0) + start
        far = np.maximum(np.abs(lower), np.abs(upper)) + 2.0 * np.abs(center)
        sizes = (np.abs(v) + np.abs(b) + np.abs(level)) * (
            2.0 + (far**2 * self._square).sum(axis=0)
        )
        size_of_cost = np.abs(domain.A).T @ multipliers.T
        sizes = sizes + ((2.0 * np.abs(u) * self.rate[:, None] + size_of_cost) * far).sum(axis=0)
        sizes = sizes + multipliers @ np.abs(domain.row_limit)
        points = np.clip(place + center, lower, upper)
        return total, 1.02 * self._count * UNIT * sizes + TINY, points

    def _on_grids(
        self, vertex: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the values (d, B) of the grids on both sides of a vertex."""
        below, above = vertex.copy(), vertex.copy()
        for j, grid in enumerate(self.domain.grids):
            if grid is None or j in self._grouped:
                continue
            k = grid.nearest(vertex[j] + self.center[j])
            for side, y in ((-1, below), (1, above)):
                # The nearest value is the best one; its neighbours tell rounding apart.
                near = np.clip(k + side, 0, grid.count - 1)
                pair = np.stack([grid.value(k), grid.value(near)]) - self.center[j]
                pair = np.clip(pair, low[j], high[j])
                closer = np.abs(pair - vertex[j]).argmin(axis=0)
                y[j] = pair[closer, np.arange(len(k))]
        return below, above

    def _choose_level(
        self,
        group: list[int],
        bend: FloatArray,
        slope: FloatArray,
        low: FloatArray,
        high: FloatArray,
        height: FloatArray,
        place: FloatArray,
    ) -> None:
        """Let one coordinate of a group be 1 and the others 0, in place."""
        on, off = 1.0 - self.center[group][:, None], -self.center[group][:, None]
        ups = (bend[group] * on + slope[group]) * on
        downs = (bend[group] * off + slope[group]) * off
        allowed = (high[group] >= on) & ((low[group] >= on) | ~(low[group] >= on).any(axis=0))
        level = np.where(allowed, ups - downs, -np.inf).argmax(axis=0)
        chosen = np.arange(len(group))[:, None] == level
        height[group], place[group] = np.where(chosen, ups, downs), np.where(chosen, on, off)

    def largest(self, weights: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return upper bounds (B,) of functions with weights (B, d + 2) over boxes (d, B)."""
        none = np.zeros((len(weights), len(self.domain.b)))
        level = self.values(weights, 0.5 * lower + 0.5 * upper)
        # The middle may lie beside the grids, and higher than their values.
        level = self.values(weights, self.excess(weights, level, lower, upper, none)[2])
        bound = np.full(len(weights), np.inf)
        for _ in range(STEPS):
            total, error, points = self.excess(weights, level, lower, upper, none)
            # S falls by at least 1 a unit of t.
            bound = np.minimum(bound, level + (np.maximum(total, 0.0) + error) * (1.0 + 1e-12))
            better = self.values(weights, points)
            if not (better > level + 1e-14 * np.abs(level)).any():
                break
            level = np.maximum(level, better)
        return bound

    def values(self, weights: FloatArray, points: FloatArray) -> FloatArray:
        """Return the functions (B,) at points (d, B)."""
        z = (points - self.center[:, None]) * self.rate[:, None]
        q = np.square(z).sum(axis=0)
        top = 2.0 * (weights[:, :-2].T * z).sum(axis=0) + weights[:, -2] * (q - 1.0)
        return np.asarray(top / (1.0 + q) + weights[:, -1])

    # -- in rational arithmetic -------------------------------------------------------

    def holds(
        self,
        weights: list[Fraction],
        level: Fraction,
        lower: FloatArray,
        upper: FloatArray,
        multipliers: FloatArray,
    ) -> bool:
        """Whether S <= 0 over one box with ends (d,), without any rounding downwards."""
        domain = self.domain
        v, b = weights[-2], weights[-1]
        mu = [Fraction(m) for m in multipliers.tolist()]
        rows = [[Fraction(a) for a in row] for row in domain.A.tolist()]
        total = b - v - level
        total += sum((m * Fraction(t) for m, t in zip(mu, domain.row_limit.tolist(), strict=True)))
        curve = v + b - level
        gains: dict[int, tuple[Fraction, Fraction]] = {}
        peaks = Fraction(0)  # of vertices, times |curve|
        for j in range(domain.dimension):
            rate, center = Fraction(float(self.rate[j])), Fraction(float(self.center[j]))
            slope = 2 * weights[j] * rate
            if mu:
                cost = sum((m * row[j] for m, row in zip(mu, rows, strict=True)), Fraction(0))
                slope, total = slope - cost, total - cost * center
            bend = curve * rate * rate
            if j in self._grouped:
                off, on = ((bend * y + slope) * y for y in (-center, 1 - center))
                gains[j] = (off, on)
                continue
            low, high = Fraction(float(lower[j])) - center, Fraction(float(upper[j])) - center
            ends = [(bend * y + slope) * y for y in (low, high)]
            inside = bend < 0 and -2 * bend * low < slope < -2 * bend * high
            if not inside:
                total += max(ends)
                continue
            grid = domain.grids[j]
            if grid is None:
                peaks += _above(slope * slope / (4 * rate * rate))
                continue
            vertex = -slope / (2 * bend)
            k = int(grid.index_below(float(vertex + center)))
            # Two values on each side hold the vertex between them whatever was rounded.
            near = [k + i for i in (-1, 0, 1, 2) if 0 <= k + i < grid.count]
            found = [Fraction(float(grid.value(i))) - center for i in near]
            found = [y for y in found if low <= y <= high]
            total += max([(bend * y + slope) * y for y in found] + ends)
        if peaks:
            total += peaks / -curve
        for group in domain.one_hot:
            forced = [j for j in group if lower[j] == 1.0]
            allowed = forced or [j for j in group if upper[j] == 1.0]
            if not allowed:
                return True  # no admissible point is in the box
            total += sum((gains[j][0] for j in group), Fraction(0))
            total += max(gains[j][1] - gains[j][0] for j in allowed)
        return total <= 0


def _above(number: Fraction) -> Fraction:
    """Return a number that is not smaller, with a power of two for a denominator."""
    if not number:
        return number
    top, bottom = number.numerator, number.denominator
    if bottom & (bottom - 1) == 0:
        return number
    shift = max(0, GUARD_BITS - (top.bit_length() - bottom.bit_length()))
    return Fraction(-((-top << shift) // bottom), 1 << shift)
