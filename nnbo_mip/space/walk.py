r"""Random walks for domains too thin for rejection: uniform in the limit.

Every sample is the end of a chain of its own; all chains start at one deep point of the
domain and run side by side. One step of a chain is

1. hit-and-run over the continuous coordinates: a random direction within the equalities
   (normal with the spread of the domain's extreme points, which suits thin domains, or
   along one coordinate), then a uniform point of the chord;
2. a lattice move: a fixed line through uniform grids (one coordinate, or two in the ratio
   that keeps a row constant), the continuous coordinates moving along so as to keep the
   equalities, then a uniform lattice point of the chord;
3. a jump: one or two discrete coordinates or groups to uniform values, continuous
   coordinates moving along as before, taken if the result is admissible.

Each leaves the uniform distribution unchanged (1 and 2 draw from a chord that all its
points share; 3 is a Metropolis step with a symmetric proposal). Uniformity in the limit
needs every admissible point to be reachable: true for continuous polytopes; for integers
under several equalities at once, values that no pair of changes connects with the start
are missed.

References
----------
Smith (1984), hit-and-run [Smith1984].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray, IntArray
from nnbo_mip.space.interior import Start, null_space
from nnbo_mip.space.program import coupled_columns
from nnbo_mip.space.rows import RowSystem

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain

MIN_STEPS = 150
STEPS_PER_SQUARED_DIMENSION = 5
"""Hit-and-run mixes in a number of steps quadratic in the dimension."""

STEPS_PER_DISCRETE = 40

LEAST_STEPS = 10
"""Steps that are made even if time is up, so that chains do not all end where they began."""

ROW_TOLERANCE = 1e-9
"""What an equality may be off by, relative to 1 + |b|, before a move is refused."""

MOST_LINES = 5_000
"""Directions of two grids each that keep a row."""

MAX_RATIO = 1_000_000
"""Largest ratio of two coefficients that a lattice line follows, and its largest denominator."""


@dataclass(frozen=True)
class Walk:
    """The moves of a domain.

    Parameters
    ----------
    domain : Domain
    lower, upper : (d,) arrays
        Its box, tightened.
    start : Start
        Rows, start and extreme points.
    columns : (c,) array
        Coordinates in rows; the others do not walk.
    free : (k,) array
        Continuous coordinates in rows, with a side that is not degenerate.
    units : list of arrays
        Discrete parts in rows: one coordinate with a grid, or the members of a group.
    """

    domain: Domain
    lower: FloatArray
    upper: FloatArray
    start: Start
    columns: IntArray
    free: IntArray
    units: list[IntArray]

    @classmethod
    def of(cls, domain: Domain, lower: FloatArray, upper: FloatArray, start: Start) -> Walk:
        """Collect the free coordinates and the discrete units."""
        columns = coupled_columns(domain, start.rows)
        open_columns = [j for j in columns.tolist() if lower[j] < upper[j]]
        free = [j for j in open_columns if domain.grids[j] is None]
        alone = [
            np.array([j])
            for j in open_columns
            if domain.grids[j] is not None and j not in domain.one_hot_members
        ]
        groups = [np.array(group) for group in domain.one_hot if set(group) & set(open_columns)]
        return cls(
            domain, lower, upper, start, columns, np.array(free, dtype=np.int64), alone + groups
        )

    @property
    def rows(self) -> RowSystem:
        """The rows of the domain."""
        return self.start.rows

    @cached_property
    def n_steps(self) -> int:
        """Length of a chain."""
        continuous = STEPS_PER_SQUARED_DIMENSION * self.free.size**2
        return MIN_STEPS + continuous + STEPS_PER_DISCRETE * len(self.units)

    @cached_property
    def side(self) -> FloatArray:
        """(k,) sides of the free coordinates."""
        return (self.upper - self.lower)[self.free]

    @cached_property
    def equalities(self) -> FloatArray:
        """(e, d) equalities, each divided by how much the free coordinates can change it.

        Rows on unlike scales would otherwise drown each other. Those that the free coordinates
        change by less than the slack constrain none of them and are left out.
        """
        spread = np.linalg.norm(self.rows.A_eq[:, self.free] * self.side, axis=1)
        felt = spread > self.rows.slack_eq
        return np.asarray(self.rows.A_eq[felt] / spread[felt, None])

    @cached_property
    def directions(self) -> tuple[FloatArray, ...]:
        """Matrices (k, r): a normal or unit vector of R^r times one is a direction.

        The spread of the extreme points, and each coordinate, projected onto the null space
        of the equalities; in the user's units.
        """
        basis = null_space(self.equalities[:, self.free] * self.side)
        project = basis @ basis.T
        offsets = (self.start.extremes - self.start.point)[:, self.free] / self.side
        spread = (project @ offsets.T) * self.side[:, None]
        return tuple(matrix for matrix in (spread, project * self.side[:, None]) if matrix.any())

    @cached_property
    def response(self) -> FloatArray:
        """(k, d) how the free coordinates follow a change of the others to keep equalities."""
        inverse = np.linalg.pinv(self.equalities[:, self.free] * self.side, rcond=1e-10)
        return -self.side[:, None] * (inverse @ self.equalities)

    @cached_property
    def lines(self) -> list[tuple[IntArray, IntArray, FloatArray]]:
        """Lattice lines: columns, index steps, and the direction (d,) of one step."""
        return _lattice_lines(self)

    def run(self, X: FloatArray, rng: np.random.Generator, stop: Callable[[], bool]) -> FloatArray:
        """Walk from the points (n, d) and return where the chains end (n, d).

        They end early, closer to where they began, once `stop` says so.
        """
        X = X.copy()
        for done in range(self.n_steps):
            if done >= LEAST_STEPS and stop():
                break
            if self.directions:
                self._hit_and_run(X, rng)
            if self.lines:
                self._lattice_move(X, rng)
            if self.units:
                self._jump(X, rng)
        return X

    def _hit_and_run(self, X: FloatArray, rng: np.random.Generator) -> None:
        choice = int(rng.integers(len(self.directions)))
        matrix = self.directions[choice]
        n, r = len(X), matrix.shape[1]
        V = np.zeros_like(X)
        if choice == 0:
            V[:, self.free] = rng.standard_normal((n, r)) @ matrix.T
        else:
            V[:, self.free] = matrix.T[rng.integers(r, size=n)]
        least, most = self._chord(X, V)
        share = rng.random(n)
        X += (least + share * (most - least))[:, None] * V
        np.clip(X, self.lower, self.upper, out=X)

    def _lattice_move(self, X: FloatArray, rng: np.random.Generator) -> None:
        columns, steps, direction = self.lines[rng.integers(len(self.lines))]
        least, most = self._chord(X, np.broadcast_to(direction, X.shape))
        # The chord is off by rounding; rows are looked at again before a move is taken.
        first = np.ceil(least * (1.0 + 1e-12) - 1e-9).astype(np.int64)
        last = np.floor(most * (1.0 + 1e-12) + 1e-9).astype(np.int64)
        moved = rng.integers(first, last, endpoint=True)
        proposal = X.copy()
        proposal[:, self.free] += moved[:, None] * direction[self.free]
        for column, step in zip(columns, steps, strict=True):
            grid = self.domain.grids[column]
            if grid is not None:
                index = grid.nearest(X[:, column]) + step * moved
                proposal[:, column] = grid.value(np.clip(index, 0, grid.count - 1))
        self._accept(X, proposal)

    def _jump(self, X: FloatArray, rng: np.random.Generator) -> None:
        count = min(int(rng.integers(1, 3)), len(self.units))
        proposal = X.copy()
        for choice in rng.choice(len(self.units), size=count, replace=False):
            unit = self.units[choice]
            grid = self.domain.grids[unit[0]]
            if unit.size > 1:
                possible = unit[self.upper[unit] == 1.0]
                proposal[:, unit] = unit == rng.choice(possible, size=len(X))[:, None]
            elif grid is not None:
                ends = grid.nearest(self.lower[unit[0]]), grid.nearest(self.upper[unit[0]])
                index = rng.integers(*ends, size=len(X), endpoint=True)
                proposal[:, unit[0]] = grid.value(index)
        proposal[:, self.free] += (proposal - X) @ self.response.T
        self._accept(X, proposal)

    def _accept(self, X: FloatArray, proposal: FloatArray) -> None:
        """Take the proposals that lie in the box and satisfy the rows."""
        rows = self.rows
        holds: BoolArray = np.all((self.lower <= proposal) & (proposal <= self.upper), axis=1)
        holds &= np.all(proposal @ rows.A.T <= rows.b + rows.slack, axis=1)
        residual = np.abs(proposal @ rows.A_eq.T - rows.b_eq)
        holds &= np.all(residual <= ROW_TOLERANCE * (1.0 + np.abs(rows.b_eq)), axis=1)
        X[holds] = proposal[holds]

    def _chord(self, X: FloatArray, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the least t <= 0 and the largest t >= 0 with X + t V within box and rows."""
        rows = self.rows
        rate = V @ rows.A.T
        noise = 1e-13 * (np.abs(V) @ np.abs(rows.A).T)
        room = np.maximum(rows.b + 0.5 * rows.slack - X @ rows.A.T, 0.0)
        rising, falling = rate > noise, rate < -noise
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            to_row = room / rate
            to_lower, to_upper = (self.lower - X) / V, (self.upper - X) / V
        still = V == 0.0
        ahead = np.where(still, np.inf, np.maximum(to_lower, to_upper)).min(axis=1)
        behind = np.where(still, -np.inf, np.minimum(to_lower, to_upper)).max(axis=1)
        most = np.minimum(ahead, np.where(rising, to_row, np.inf).min(axis=1, initial=np.inf))
        least = np.maximum(behind, np.where(falling, to_row, -np.inf).max(axis=1, initial=-np.inf))
        moves = np.isfinite(most) & np.isfinite(least) & (least <= 0.0) & (most >= 0.0)
        return np.where(moves, least, 0.0), np.where(moves, most, 0.0)


def _lattice_lines(walk: Walk) -> list[tuple[IntArray, IntArray, FloatArray]]:
    """Return the lines through one uniform grid, or two in the ratio that keeps a row."""
    steps = {
        int(unit[0]): grid.uniform_step
        for unit in walk.units
        if unit.size == 1
        and (grid := walk.domain.grids[unit[0]]) is not None
        and grid.uniform_step is not None
    }
    moves: set[tuple[tuple[int, int], ...]] = {((j, 1),) for j in steps}
    for row in np.vstack([walk.rows.A, walk.rows.A_eq]):
        used = [j for j in steps if row[j] != 0.0]
        # Each keeps a direction: a thousand binaries under an equation have half a million.
        every = 1 + len(used) * (len(used) - 1) // (2 * MOST_LINES)
        for i, j in islice(combinations(used, 2), 0, None, every):
            one, other = float(row[i] * steps[i]), float(row[j] * steps[j])
            if abs(one) <= MAX_RATIO * abs(other) and abs(other) <= MAX_RATIO * abs(one) != 0.0:
                ratio = Fraction(-other / one).limit_denominator(MAX_RATIO)
                moves.add(((i, ratio.numerator), (j, ratio.denominator)))
    lines = []
    for move in sorted(moves):
        direction = np.zeros(walk.lower.size)
        for j, step in move:
            direction[j] = step * steps[j]
        direction[walk.free] = walk.response @ direction
        residual = np.abs(walk.rows.A_eq @ direction)
        if np.all(residual <= 1e-12 * (np.abs(walk.rows.A_eq) @ np.abs(direction))):
            columns, indices = np.array(move, dtype=np.int64).T
            lines.append((columns, indices, direction))
    return lines
