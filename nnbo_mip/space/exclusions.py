r"""`ExclusionBoxes`: open boxes that hold no admissible point.

A point x lies in such a box, an exclusion for short, when ``lower_j < x_j < upper_j`` in every
coordinate j. The ends are float64 numbers and the comparison is exact, so that a point on a face is
outside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.checks import as_floats, as_points, frozen
from nnbo_mip.core.errors import InputError

COMPARISONS_AT_ONCE = 1 << 22
"""Pairs of points and exclusions that are compared in one array."""

MOST_COMPARED = 2000
"""Exclusions up to which those that lie within another one are looked for: all pairs."""


@dataclass(frozen=True, eq=False)
class ExclusionBoxes:
    """Open boxes ``lower < x < upper``.

    Parameters
    ----------
    lower, upper : (n, d) array_like
        Finite ends, ``lower < upper`` in every coordinate; n may be 0.
    """

    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        low, high = as_floats(self.lower, "lower"), as_floats(self.upper, "upper")
        if low.ndim != 2 or low.shape != high.shape:
            raise InputError(
                "the ends of exclusion boxes must have one shape (n, d), a row for each box; got "
                f"{low.shape} and {high.shape}; pass both ends of every box."
            )
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise InputError(
                "the ends of exclusion boxes must be finite; got nan or inf; put the ends outside "
                "the bounds where a box should not end."
            )
        narrow = np.argwhere(low >= high)
        if narrow.size:
            i, j = narrow[0]
            raise InputError(
                f"lower must be < upper in every coordinate of an exclusion; got [{low[i, j]}, "
                f"{high[i, j]}] in coordinate {j} of exclusion {i}; drop it, an empty box excludes "
                "nothing."
            )
        object.__setattr__(self, "lower", frozen(low))
        object.__setattr__(self, "upper", frozen(high))

    @classmethod
    def around(cls, points: npt.ArrayLike, eps: npt.ArrayLike, dimension: int) -> ExclusionBoxes:
        """Return the exclusions ``(p - eps, p + eps)``, ends rounded outwards.

        Parameters
        ----------
        points : (n, d) array_like
            One (d,) point is legal, and so are no points at all.
        eps : float or (n,) array_like
            Half the side, > 0: every point outside is at least eps away from p in the
            maximum norm, in real arithmetic.
        dimension : int
            d.
        """
        centres, radii = as_points(points, dimension), as_floats(eps, "eps")
        if radii.ndim > 1 or (radii.ndim == 1 and radii.size != len(centres)):
            raise InputError(
                f"eps must be one number, or one a point, {len(centres)}; got shape "
                f"{radii.shape}; pass as many as there are points."
            )
        if not (np.isfinite(radii).all() and (radii > 0.0).all()):
            raise InputError(f"eps must be > 0 and finite; got {eps!r}; give a distance.")
        if not np.isfinite(centres).all():
            raise InputError("points to keep away from must be finite; got nan or inf; drop them.")
        radius = np.broadcast_to(radii, len(centres))[:, None]
        lower, below = _exact_sum(centres, -radius)
        upper, above = _exact_sum(centres, radius)
        return cls(
            np.where(below < 0.0, np.nextafter(lower, -np.inf), lower),
            np.where(above > 0.0, np.nextafter(upper, np.inf), upper),
        )

    @classmethod
    def none(cls, dimension: int) -> ExclusionBoxes:
        """Return no exclusions."""
        return cls(np.empty((0, dimension)), np.empty((0, dimension)))

    def __len__(self) -> int:
        return len(self.lower)

    def __getitem__(self, chosen: BoolArray) -> ExclusionBoxes:
        """Return the exclusions that a mask (n,) chooses."""
        return ExclusionBoxes(self.lower[chosen], self.upper[chosen])

    @property
    def dimension(self) -> int:
        """d, the number of coordinates."""
        return int(self.lower.shape[1])

    def joined(self, other: ExclusionBoxes) -> ExclusionBoxes:
        """Return these exclusions and others."""
        return ExclusionBoxes(
            np.concatenate([self.lower, other.lower]), np.concatenate([self.upper, other.upper])
        )

    def containing(self, points: FloatArray) -> BoolArray:
        """Return which exclusions contain which of the points (m, d): (m, n)."""
        inside = np.ones((len(points), len(self)), dtype=bool)
        for j in range(self.dimension):
            x = points[:, j, None]
            inside &= (self.lower[:, j] < x) & (x < self.upper[:, j])
        return inside

    def contain(self, points: FloatArray) -> BoolArray:
        """Return which of the points (m, d) lie in an exclusion: (m,)."""
        inside = np.zeros(len(points), dtype=bool)
        size = max(1, COMPARISONS_AT_ONCE // max(1, len(self)))
        for start in range(0, len(points) if len(self) else 0, size):
            here = slice(start, start + size)
            inside[here] = self.containing(points[here]).any(axis=1)
        return inside

    def meeting(self, lower: FloatArray, upper: FloatArray) -> BoolArray:
        """Return which exclusions share a point with which closed boxes (m, d): (m, n)."""
        meets = np.ones((len(lower), len(self)), dtype=bool)
        for j in range(self.dimension):
            meets &= (self.lower[:, j] < upper[:, j, None]) & (lower[:, j, None] < self.upper[:, j])
        return meets

    def in_order(self) -> ExclusionBoxes:
        """Return the same exclusions, sorted, each once, without those within another one."""
        ends = np.unique(np.hstack([self.lower, self.upper]), axis=0)
        exclusions = ExclusionBoxes(ends[:, : self.dimension], ends[:, self.dimension :])
        if len(exclusions) > MOST_COMPARED:
            return exclusions
        within = np.ones((len(exclusions), len(exclusions)), dtype=bool)  # row within column
        for low, high in zip(exclusions.lower.T, exclusions.upper.T, strict=True):
            within &= (low <= low[:, None]) & (high[:, None] <= high)
        np.fill_diagonal(within, False)
        return exclusions[np.asarray(~within.any(axis=1))]


def _exact_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the float64 sum and what it misses: ``a + b`` is exactly the sum of the two."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = a + b
        part = total - a
        return total, (a - (total - part)) + (b - part)
