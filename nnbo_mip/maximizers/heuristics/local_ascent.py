"""Local ascent for a search: within boxes all starts at once, under rows one after another.

References
----------
Kraft (1988), SLSQP [Kraft1988].
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.primal import CLIMBERS, best_distinct, exchanges
from nnbo_mip.exact.search.primal_exclusions import climb_beside
from nnbo_mip.maximizers.heuristics import batched_lbfgs
from nnbo_mip.maximizers.heuristics.search import Search
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.rows import separated

MOST_EXCHANGES = 50
"""Rounds of exchanges; each improves what is kept."""

GAIN_TOLERANCE = 1e-9
"""Of SciPy's SLSQP, in units of the values."""

Mask = npt.NDArray[np.bool_]


def ascend(search: Search, starts: FloatArray, moving: Mask, iterations: int) -> FloatArray:
    """Ascend by gradients from starts (k, d); return ends (n, d), admissible or not.

    Parameters
    ----------
    search : Search
    starts : (k, d) array
    moving : (d,) array
        Coordinates that may move; grids among them are ignored on the way.
    iterations : int
        Of each start.
    """
    domain = search.domain
    moving = moving & (domain.lower < domain.upper)
    if not moving.any() or not len(starts):
        return starts
    levels_move = bool(moving[list(domain.one_hot_members)].any())
    if domain.n_own_rows or (domain.switches and levels_move):
        return np.stack([_ascend_rows(search, start, moving, iterations) for start in starts])

    def within(points: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        free = moving & ~domain.is_held(points)
        low, high = np.where(free, lower, 0.0), np.where(free, upper, 0.0)
        ends, _, steps = batched_lbfgs.ascend(
            search.values_and_gradients, points, low, high, iterations
        )
        search.counters["iterations"] += steps
        return ends

    ends = within(starts, domain.lower, domain.upper)
    if not len(domain.exclusions):
        return ends
    return climb_beside(domain, starts, ends, search.values_and_gradients, within)


def settle(search: Search, points: FloatArray) -> FloatArray:
    """Return admissible points near points (k, d), those left out for which none was found."""
    if search.domain.is_box:
        return points
    repaired = [search.domain.repair(point) for point in points]
    kept = [point for point in repaired if point is not None]
    return np.array(kept).reshape(-1, search.domain.dimension)


def exchange(search: Search, points: FloatArray, iterations: int) -> None:
    """Improve the best of admissible points (k, d), one grid value or level at a time.

    After each exchange the continuous coordinates ascend again.
    """
    domain = search.domain
    continuous = np.array([grid is None for grid in domain.grids])
    if continuous.all() or not len(points):
        return
    values = search.values(points)
    current = np.array(best_distinct(domain, points, values, CLIMBERS))
    for _ in range(MOST_EXCHANGES):
        moved = _improved(search, current)
        if not len(moved):
            return
        ends = settle(search, ascend(search, moved, continuous, iterations))
        both = np.vstack([moved, ends])
        current = np.array(best_distinct(domain, both, search.values(both), len(moved)))


def _improved(search: Search, points: FloatArray) -> FloatArray:
    """Return the best neighbour of each point that has a better one."""
    better: list[FloatArray] = []
    for point, value in zip(points, search.values(points), strict=True):
        near = exchanges(search.domain, point)
        near = near[search.domain.admissible(near)] if len(near) else near
        if len(near):
            values = search.values(near)
            if values.max() > value:
                better.append(near[values.argmax()])
    return np.array(better).reshape(-1, search.domain.dimension)


def _ascend_rows(search: Search, start: FloatArray, moving: Mask, iterations: int) -> FloatArray:
    """Ascend from one start under the rows, by SciPy's SLSQP, in units of the sides."""
    from scipy.optimize import minimize

    domain = search.domain
    lower, width = domain.lower[moving], (domain.upper - domain.lower)[moving]

    def place(z: FloatArray) -> FloatArray:
        point = start.copy()
        point[moving] = np.clip(lower + width * z, lower, domain.upper[moving])
        return point

    def negated(z: FloatArray) -> tuple[float, FloatArray]:
        values, gradients = search.values_and_gradients(place(z)[None, :])
        return -float(values[0]), -gradients[0][moving] * width

    found = minimize(
        negated,
        np.clip((start[moving] - lower) / width, 0.0, 1.0),
        jac=True,
        bounds=[(0.0, 1.0)] * int(moving.sum()),
        constraints=_rows(domain, start, moving),
        method="SLSQP",
        options={"maxiter": iterations, "ftol": GAIN_TOLERANCE},
    )
    search.counters["iterations"] += int(found.nit)
    return place(found.x) if np.isfinite(found.x).all() else start


def _rows(domain: Domain, start: FloatArray, moving: Mask) -> list[dict[str, object]]:
    """Return the rows over the moving coordinates in units of the sides, as SLSQP wants them."""
    rows = separated(domain.A, domain.b, domain.row_slack)
    width = (domain.upper - domain.lower)[moving]
    origin = np.where(moving, domain.lower, start)
    wanted: list[dict[str, object]] = []
    for kind, A, b in (("ineq", rows.A, rows.b), ("eq", rows.A_eq, rows.b_eq)):
        useful = (A[:, moving] != 0.0).any(axis=1)
        slopes, rest = A[useful][:, moving] * width, (b - A @ origin)[useful]
        if len(rest):
            size = np.abs(slopes).max(axis=1)
            slopes, rest = slopes / size[:, None], rest / size
            wanted.append(
                {
                    "type": kind,
                    "fun": lambda z, M=slopes, r=rest: r - M @ z,
                    "jac": lambda z, M=slopes: -M,
                }
            )
    return wanted
