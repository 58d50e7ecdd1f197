r"""The largest value of an affine function over a box of the domain, and what it decides.

On a plain box it is attained at a corner. A one-hot group takes its largest admissible
coefficient. Rows ``A x <= b`` enter by their Lagrangian: for every ``lambda >= 0``

    max { g(x) : x in box, A x <= b } <= lambda . b + max { (g - lambda A) x : x in box },

so any multipliers give a valid bound; a few Polyak steps towards the level that the
caller wants to undercut find good ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.relaxation import LinearBounds
from nnbo_mip.exact.search.rounding import gamma
from nnbo_mip.space.domain import Domain

MULTIPLIER_STEPS = 12

UNREACHABLE = 1e200
"""Stands for infinity in limits, so that sums of them stay numbers."""


def largest_on_domain(
    planes: LinearBounds, lower: FloatArray, upper: FloatArray, domain: Domain, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return maximizers (d, B) and proven largest values (B,) of planes over boxes.

    Parameters
    ----------
    planes : LinearBounds
        One affine function a box.
    lower, upper : (d, B) arrays
        Boxes that `Domain.tighten` has shrunk.
    domain : Domain
    level : float
        The value to undercut; multipliers of the rows are chosen with it in mind.

    Notes
    -----
    The maximizers respect box, grids (the ends lie on them) and one-hot groups, not rows.
    """
    if domain.is_box or not (domain.one_hot or domain.b.size):
        return np.where(planes.slopes > 0.0, upper, lower), planes.bound
    corners, bound = _largest(planes.slopes, planes.constant, lower, upper, domain)
    bound = np.minimum(bound, planes.bound)
    if not domain.b.size:
        return corners, bound
    rows, limits = domain.A, domain.row_limit[:, None]
    multipliers = np.zeros((len(limits), lower.shape[1]))
    at = corners
    for _ in range(MULTIPLIER_STEPS):
        excess = rows @ at - limits
        # Rows that hold with a multiplier of zero do not move.
        direction = np.where((multipliers > 0.0) | (excess > 0.0), excess, 0.0)
        length = np.square(direction).sum(axis=0)
        goal = level if level > -np.inf else bound - 0.1 * np.abs(bound) - 1e-9
        reach = np.maximum(bound - goal, 0.0)
        step = np.where(length > 0.0, reach / np.where(length > 0.0, length, 1.0), 0.0)
        multipliers = np.maximum(multipliers + step * direction, 0.0)
        slopes = planes.slopes - rows.T @ multipliers
        constant = planes.constant + (limits * multipliers).sum(axis=0)
        at, value = _largest(slopes, constant, lower, upper, domain)
        error = _multiplier_error(planes, multipliers, lower, upper, domain)
        bound = np.minimum(bound, value + error)
    return corners, bound


def _largest(
    slopes: FloatArray,
    constant: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    domain: Domain,
) -> tuple[FloatArray, FloatArray]:
    """Maximize over box and one-hot groups, rows left out."""
    corners = np.where(slopes > 0.0, upper, lower)
    for group in domain.one_hot:
        members = list(group)
        allowed = np.where(upper[members] > 0.0, slopes[members], -np.inf)
        on = np.where(
            (lower[members] > 0.0).any(axis=0),
            lower[members].argmax(axis=0),
            allowed.argmax(axis=0),
        )
        corners[members] = 0.0
        corners[np.asarray(members)[on], np.arange(len(on))] = 1.0
    value = constant + (slopes * corners).sum(axis=0)
    reach = np.abs(constant) + (np.abs(slopes) * np.abs(corners)).sum(axis=0)
    return corners, value + gamma(4 * (len(slopes) + 2)) * reach


def _multiplier_error(
    planes: LinearBounds,
    multipliers: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    domain: Domain,
) -> FloatArray:
    """Bound the rounding of ``g - lambda A`` and of ``lambda . b``."""
    sizes = np.maximum(np.abs(lower), np.abs(upper))
    moved = np.abs(domain.A).T @ multipliers
    summands = np.abs(planes.constant) + (np.abs(domain.row_limit)[:, None] * multipliers).sum(0)
    summands = summands + ((np.abs(planes.slopes) + moved) * sizes).sum(axis=0)
    return np.asarray(gamma(8 * (len(sizes) + len(multipliers) + 2)) * summands)


@dataclass(frozen=True, eq=False)
class Conditions(LinearBounds):
    """Affine conditions: where a plane is not positive, the score does not exceed the level.

    Parameters
    ----------
    scores : (B,) array
        Proven bounds of the score over each box, whatever the level.
    """

    scores: FloatArray = field(kw_only=True)

    def goal(self, level: float) -> float:
        """Return 0, the sign that decides."""
        return 0.0

    def values_below(self, largest: FloatArray, level: float) -> FloatArray:
        """Return the level where it is proven, the bound of the score elsewhere."""
        return np.where(largest <= 0.0, np.minimum(level, self.scores), self.scores)


def conditions(sums: LinearBounds, limits: FloatArray, scores: FloatArray) -> Conditions:
    """Return the conditions ``sum(x) > limit``; what is no number bounds nothing."""
    limits = np.clip(np.where(np.isnan(limits), -UNREACHABLE, limits), -UNREACHABLE, UNREACHABLE)
    good = np.isfinite(sums.bound) & np.isfinite(sums.constant)
    good &= np.isfinite(sums.slopes).all(axis=0)
    slopes = np.where(good, sums.slopes, 0.0)
    constant = np.where(good, sums.constant, 2.0 * UNREACHABLE)
    bound = np.where(good, sums.bound, 2.0 * UNREACHABLE)
    error = 4e-16 * np.abs(limits)
    return Conditions(
        slopes,
        constant - limits + 4e-16 * np.abs(constant) + error,
        bound - limits + 4e-16 * np.abs(bound) + error,
        sums.loose,
        scores=np.where(np.isnan(scores), np.inf, scores),
    )
