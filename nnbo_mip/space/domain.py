r"""`Domain`: the numeric set that the exact engines maximize over.

A point x in R^d is *admissible* when

    lower <= x <= upper                            exactly,
    x_j is a value of grids[j]                     exactly, where coordinate j has a grid,
    exactly one coordinate of a group is 1         (the others 0), for every one-hot group,
    x_j <= l_j or x_j >= u_j for some j            exactly, for every exclusion (l, u),
    A x <= b + 1e-9 (1 + |b|)                      exactly, in real arithmetic.

The right-hand side of the last line, `row_limit`, is one float64 number a row, and the
comparison with it is decided without rounding, so that the set does not depend on how a
batch was summed. Equalities are two rows of opposite sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.checks import as_finite_vector, as_floats, as_points, frozen
from nnbo_mip.core.errors import InputError
from nnbo_mip.space import propagation, repairing, rows, sampling, storage
from nnbo_mip.space.discrete import discrete
from nnbo_mip.space.exclusion_faces import ExclusionFaces
from nnbo_mip.space.exclusions import ExclusionBoxes as ExclusionBoxes
from nnbo_mip.space.grid import Grid as Grid
from nnbo_mip.space.switches import Switch, checked_switches, switch_rows

ROW_SLACK = 1e-9
"""Rows count as satisfied within ROW_SLACK * (1 + |b|)."""


@dataclass(frozen=True, eq=False, init=False)
class Domain:
    """A box with grids, one-hot groups, linear rows and exclusions; immutable and checked.

    Parameters
    ----------
    lower, upper : (d,) array_like
        Finite ends, ``lower <= upper``; equal ends are legal. Ends of a coordinate with a
        grid are moved inwards onto its values.
    grids : sequence of Grid or None, optional
        One entry a coordinate, None where it is continuous; all continuous when left out.
        Coordinates of one-hot groups always get the grid {0, 1}.
    one_hot : sequence of sequences of int, optional
        Disjoint groups of coordinates of which exactly one is 1 and the others are 0.
    A : (m, d) array_like, optional
        Rows of ``A x <= b``.
    b : (m,) array_like, optional
        Right-hand sides. Rows that nothing satisfies are legal: the set is then empty.
    switches : sequence of Switch, optional
        Coordinates that are held at a value unless levels of groups are chosen. Their rows stand
        in `A` and `b` after the `n_own_rows` that were given.
    exclusions : ExclusionBoxes, optional
        Open boxes without admissible points. They may overlap and reach beyond the box; those
        that exclude nothing, or nothing that another one does not, are left out.
    """

    lower: FloatArray
    upper: FloatArray
    grids: tuple[Grid | None, ...]
    one_hot: tuple[tuple[int, ...], ...]
    A: FloatArray
    b: FloatArray
    exclusions: ExclusionBoxes
    switches: tuple[Switch, ...]
    n_own_rows: int

    def __init__(
        self,
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
        grids: Sequence[Grid | None] | None = None,
        one_hot: Sequence[Sequence[int]] = (),
        A: npt.ArrayLike | None = None,
        b: npt.ArrayLike | None = None,
        exclusions: ExclusionBoxes | None = None,
        switches: Sequence[Switch] = (),
    ) -> None:
        low, high = _checked_ends(lower, upper)
        groups: tuple[tuple[int, ...], ...] = ()
        all_grids: tuple[Grid | None, ...] = (None,) * low.size
        if len(one_hot) or (grids is not None and tuple(grids) != all_grids):
            groups, all_grids, low, high = discrete(grids, one_hot, low, high)
        matrix, right = np.empty((0, low.size)), np.empty(0)
        if A is not None or b is not None:
            matrix, right = rows.checked(A, b, low, high)
        n_own, held = right.size, checked_switches(switches, low.size) if switches else ()
        if held:
            more, rights = switch_rows(held, low, high, groups)
            matrix, right = np.vstack([matrix, more]), np.concatenate([right, rights])
        object.__setattr__(self, "lower", frozen(low))
        object.__setattr__(self, "upper", frozen(high))
        object.__setattr__(self, "grids", all_grids)
        object.__setattr__(self, "one_hot", groups)
        object.__setattr__(self, "A", frozen(matrix))
        object.__setattr__(self, "b", frozen(right))
        object.__setattr__(self, "switches", held)
        object.__setattr__(self, "n_own_rows", n_own)
        object.__setattr__(
            self, "exclusions", _checked_exclusions(exclusions, low, high, all_grids)
        )

    @property
    def dimension(self) -> int:
        """d, the number of coordinates."""
        return int(self.lower.size)

    @property
    def n_parameters(self) -> int:
        """Coordinates, those of a one-hot group counted once: what a user calls a parameter."""
        return self.dimension - sum(len(group) - 1 for group in self.one_hot)

    @property
    def is_box(self) -> bool:
        """Whether every point of the box is admissible: no grids, groups, rows or exclusions."""
        plain = all(grid is None for grid in self.grids)
        return plain and not self.one_hot and not self.b.size and not len(self.exclusions)

    @cached_property
    def exclusion_faces(self) -> ExclusionFaces:
        """The exclusions with their faces on the grids."""
        if not len(self.exclusions):
            none = self.exclusions.lower
            return ExclusionFaces(self.exclusions, none, none, none, none)
        return ExclusionFaces.of(self.exclusions, self.grids)

    @cached_property
    def without_exclusions(self) -> Domain:
        """The same domain without its exclusions."""
        if not len(self.exclusions):
            return self
        return self._with(exclusions=None)

    @cached_property
    def without_switches(self) -> Domain:
        """The same domain with its switched coordinates free."""
        return self._with(switches=()) if self.switches else self

    @property
    def own_rows(self) -> tuple[FloatArray, FloatArray]:
        """The rows A (m, d) and b (m,) that were given, those of switches left out."""
        return self.A[: self.n_own_rows], self.b[: self.n_own_rows]

    def _with(self, **other: Any) -> Domain:
        A, b = self.own_rows if self.n_own_rows else (None, None)
        parts: dict[str, Any] = {
            "lower": self.lower,
            "upper": self.upper,
            "grids": self.grids,
            "one_hot": self.one_hot,
            "A": A,
            "b": b,
            "exclusions": self.exclusions,
            "switches": self.switches,
        }
        return Domain(**{**parts, **other})

    def held(self, points: FloatArray) -> FloatArray:
        """Return points (n, d) with switched coordinates at their value where they are held."""
        for switch in self.switches:
            points = switch.held(points)
        return points

    def is_held(self, points: FloatArray) -> BoolArray:
        """Return which coordinates switches hold at which of the points: (n, d)."""
        off = np.zeros(points.shape, dtype=bool)
        for switch in self.switches:
            off[:, list(switch.columns)] |= switch.is_off(points)[:, None]
        return off

    @cached_property
    def row_slack(self) -> FloatArray:
        """(m,) amount by which a row may be exceeded: ``1e-9 (1 + |b|)``."""
        return frozen(ROW_SLACK * (1.0 + np.abs(self.b)))

    @cached_property
    def row_limit(self) -> FloatArray:
        """(m,) largest admissible value of each row: the float64 sum ``b + row_slack``."""
        return frozen(self.b + self.row_slack)

    @cached_property
    def one_hot_members(self) -> frozenset[int]:
        """Coordinates that belong to a one-hot group."""
        return frozenset(index for group in self.one_hot for index in group)

    def admissible(self, points: npt.ArrayLike) -> BoolArray:
        """Return which of the points (n, d) are admissible: (n,)."""
        batch = as_points(points, self.dimension)
        inside: BoolArray = np.all((self.lower <= batch) & (batch <= self.upper), axis=1)
        safe = np.where(inside[:, None], batch, self.lower)  # no NaN beyond this line
        for j, grid in enumerate(self.grids):
            if grid is not None:
                inside &= grid.contains(safe[:, j])
        for group in self.one_hot:
            inside &= safe[:, list(group)].sum(axis=1) == 1.0
        inside &= ~self.exclusions.contain(safe)
        if self.b.size:
            candidates = np.flatnonzero(inside)
            inside[candidates] = rows.satisfied(safe[candidates], self.A, self.row_limit)
        return inside

    def repair(self, x: npt.ArrayLike) -> FloatArray | None:
        """Return an admissible point (d,) near x, None when none was found.

        Clip, round to the grids, switch on the largest coordinate of each one-hot group;
        if rows are then violated, a mixed-integer program looks for the admissible point
        with the smallest sum of moves (relative to the widths of the box). Exclusions are left
        through a face, so that this sum stays small.
        """
        return repairing.repair(self, x)

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return n admissible points (n, d), uniform on the domain (see `sampling`)."""
        return sampling.sample(self, n, rng)

    def tighten(
        self, lower: npt.ArrayLike, upper: npt.ArrayLike
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Shrink boxes without cutting an admissible point off (see `propagation`).

        Parameters
        ----------
        lower, upper : (n, d) or (d,) array_like
            Boxes; they may reach beyond the domain.

        Returns
        -------
        lower, upper : (n, d) or (d,) arrays
            Ends on the grids where there are grids. Where not feasible, they mean nothing
            (and may be crossed), but lie within the domain's ends.
        feasible : (n,) or () bool array
            False only where the box is proven to hold no admissible point.
        """
        low, high = as_floats(lower, "lower"), as_floats(upper, "upper")
        if low.shape != high.shape or low.ndim not in (1, 2) or low.shape[-1] != self.dimension:
            raise InputError(
                f"boxes must have lower and upper of one shape (n, {self.dimension}); "
                f"got {low.shape} and {high.shape}; pass one row a box."
            )
        if np.isnan(low).any() or np.isnan(high).any():
            raise InputError("the ends of boxes must be numbers; got nan; drop those boxes.")
        meets = (low <= high) & (low <= self.upper) & (high >= self.lower)
        feasible: BoolArray = np.asarray(np.atleast_2d(meets).all(axis=1))
        # Clipped on both sides: the ends of infeasible boxes stay finite and small as well.
        boxes_low = np.clip(np.atleast_2d(low), self.lower, self.upper)
        boxes_high = np.clip(np.atleast_2d(high), self.lower, self.upper)
        if not self.is_box:
            propagation.propagate(self, boxes_low, boxes_high, feasible)
        return (
            boxes_low.reshape(low.shape),
            boxes_high.reshape(low.shape),
            np.asarray(feasible.reshape(low.shape[:-1])),
        )

    def restrict(self, lower: npt.ArrayLike, upper: npt.ArrayLike) -> Domain:
        """Return the admissible points within another box; an empty box is refused."""
        low, high = _checked_ends(lower, upper)
        if low.size != self.dimension:
            raise InputError(
                f"the box must have {self.dimension} dimensions; got {low.size}; "
                "give one pair of ends a coordinate."
            )
        return self._with(lower=np.maximum(low, self.lower), upper=np.minimum(high, self.upper))

    def away_from(self, points: npt.ArrayLike, eps: npt.ArrayLike) -> Domain:
        """Return the admissible points no closer than eps to any of some points.

        Parameters
        ----------
        points : (n, d) or (d,) array_like
            Perhaps none.
        eps : float or (n,) array_like
            Distances in the maximum norm, > 0, in the coordinates of this domain. A point
            that is exactly eps away is admissible, rounding aside: the faces of the exclusions
            are moved outwards to the next float64.
        """
        exclusions = self.exclusions.joined(ExclusionBoxes.around(points, eps, self.dimension))
        return self._with(exclusions=exclusions)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of ends, grids, groups, rows and exclusions; equal for equal domains."""
        return storage.domain_fingerprint(self)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able dict from which `from_dict` makes an equal domain."""
        return storage.domain_to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Domain:
        """Make the domain that `to_dict` described; anything else raises FileFormatError."""
        return storage.domain_from_dict(data)


def _checked_ends(lower: npt.ArrayLike, upper: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    low, high = as_finite_vector(lower, "lower"), as_finite_vector(upper, "upper")
    if low.size != high.size:
        raise InputError(
            f"lower and upper must have the same length; got {low.size} and {high.size}; "
            "give both ends of every dimension."
        )
    if low.size == 0:
        raise InputError("a domain must have at least one dimension; got none; add one.")
    crossed = np.flatnonzero(low > high)
    if crossed.size:
        j = int(crossed[0])
        raise InputError(
            f"lower must be <= upper in every dimension; got lower[{j}]={low[j]} > "
            f"upper[{j}]={high[j]}; swap them or drop the dimension."
        )
    with np.errstate(over="ignore"):
        too_wide = np.flatnonzero(~np.isfinite(high - low))
    if too_wide.size:
        j = int(too_wide[0])
        raise InputError(
            f"upper - lower must be finite in float64; got [{low[j]}, {high[j]}] in dimension "
            f"{j}; give narrower bounds."
        )
    return low, high


def _checked_exclusions(
    exclusions: object, lower: FloatArray, upper: FloatArray, grids: tuple[Grid | None, ...]
) -> ExclusionBoxes:
    """Return the exclusions that meet the box, sorted, so that equal sets are equal arrays."""
    if exclusions is None:
        return ExclusionBoxes.none(lower.size)
    if not isinstance(exclusions, ExclusionBoxes) or exclusions.dimension != lower.size:
        got = repr(exclusions)
        if isinstance(exclusions, ExclusionBoxes):
            got = f"one of {exclusions.dimension}"
        raise InputError(
            f"exclusions must be an ExclusionBoxes object of {lower.size} dimensions; got {got}; "
            "make one with ExclusionBoxes(lower, upper), or use Domain.away_from."
        )
    if not len(exclusions):
        return exclusions
    ordered = exclusions[exclusions.meeting(lower[None, :], upper[None, :])[0]].in_order()
    return ordered[ExclusionFaces.of(ordered, grids).hold_a_value]
