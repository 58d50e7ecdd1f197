r"""A deep point of a domain, where random walks start.

With P the projection onto directions that keep the equalities, in units of the sides, the
largest ball round a point within the rows ``a v <= b`` and the ends is found by

    maximize r   subject to   a v + r |P a| <= b,    r |P e_j| <= v_j <= 1 - r |P e_j|,

linear in v and r, and mixed-integer when there are grids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.space.program import Program, formulate
from nnbo_mip.space.repairing import SLACK_SHARES, corrected, repair, round_to_domain
from nnbo_mip.space.rows import RowSystem

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain

FLAT = 1e-7
"""Rows whose activity varies by less than this share of the box are equalities in disguise."""


@dataclass(frozen=True)
class Start:
    """Where walks start and what the domain looks like from there.

    Parameters
    ----------
    point : (d,) array
        An admissible point far from ends and rows.
    rows : RowSystem
        The rows, in which inequalities that cannot but hold with equality (as in
        ``x <= y, y <= z, z <= x``) have become equalities, so that directions exist.
    extremes : (e, d) array
        Points where a continuous coordinate is smallest or largest, the discrete ones
        being as in `point`. Their spread is roughly that of the domain.
    """

    point: FloatArray
    rows: RowSystem
    extremes: FloatArray


def find_start(
    domain: Domain, lower: FloatArray, upper: FloatArray, rows: RowSystem, x: FloatArray
) -> Start | None:
    """Find where to start walks; None if no admissible point was found.

    Parameters
    ----------
    domain : Domain
    lower, upper : (d,) arrays
        Its box, tightened.
    rows : RowSystem
        Its rows.
    x : (d,) array
        Where the coordinates outside rows are taken from.
    """
    for share in SLACK_SHARES:
        program = formulate(domain, lower, upper, rows, share)
        deepest = _deepest(program)
        if deepest is None:
            continue
        v, radius = deepest
        sharp = rows
        if radius < FLAT and rows.b.size:
            sharp = rows.with_equalities(_implied(program, rows.b.size))
            program = formulate(domain, lower, upper, sharp, share)
        extremes = _extremes(program.slice_at(v))
        centre = np.mean([v, *extremes], axis=0)
        point = corrected(domain, sharp, round_to_domain(domain, program.point(centre, x)))
        if domain.admissible(point)[0]:
            points = [program.point(extreme, x) for extreme in extremes]
            return Start(point, sharp, np.array(points).reshape(-1, x.size))
    # Sets too narrow for the solver's tolerances; chains then find their own directions.
    found = repair(domain, 0.5 * (lower + upper))
    return None if found is None else Start(found, rows, np.empty((0, x.size)))


def null_space(normals: FloatArray) -> FloatArray:
    """Return an orthonormal basis (k, q) of the directions that all normals (e, k) vanish on."""
    if normals.size == 0:
        return np.eye(normals.shape[1])
    _, singular, directions = np.linalg.svd(normals)
    rank = int((singular > 1e-10 * singular.max(initial=0.0)).sum())
    return np.ascontiguousarray(directions[rank:].T)


def _deepest(program: Program) -> tuple[FloatArray, float] | None:
    free = ~program.whole & (program.M != 0.0).any(axis=0)
    basis = null_space(program.A_eq[:, free])
    margin = np.linalg.norm(program.A[:, free] @ basis, axis=1)
    reach = np.linalg.norm(basis, axis=1)
    ends = np.eye(program.M.shape[1])[free]
    solution = program.minimize(
        np.append(np.zeros(program.M.shape[1]), -1.0),
        np.block(
            [
                [program.A, margin[:, None]],
                [ends, reach[:, None]],
                [-ends, reach[:, None]],
            ]
        ),
        np.concatenate([program.b, np.ones(reach.size), np.zeros(reach.size)]),
        np.ones(1),
    )
    return None if solution is None else (solution[:-1], float(solution[-1]))


def _extremes(program: Program) -> list[FloatArray]:
    """Return the points with the smallest and the largest value of each movable variable."""
    costs = np.eye(program.lower.size)[program.lower < program.upper]
    ends = [program.minimize(sign * cost) for cost in costs for sign in (1.0, -1.0)]
    return [end for end in ends if end is not None]


def _implied(program: Program, count: int) -> BoolArray:
    """Return which of the first `count` inequalities hold with equality everywhere."""
    implied = np.zeros(count, dtype=bool)
    for i, (row, right) in enumerate(zip(program.A[:count], program.b[:count], strict=True)):
        least = program.minimize(row)
        implied[i] = least is not None and row @ least >= right - FLAT
    return implied
