"""The primal side: good admissible points, fast.

Projected gradient ascent from many starts at once finds the basins; its best points then
climb by linear programs: within the region where the ReLUs keep their phases, f is
affine and the region is a polytope, so one program finds the best point of the region,
and from there the search moves on into a neighbouring region while that improves.
Coordinates with grids move by exchange: one coordinate, or one level of a group, at a
time. Climbers that end in an exclusion of the domain go on beside it (`primal_exclusions`).
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal_exclusions import boxes_beside, climb_beside
from nnbo_mip.exact.search.problem import Ascendable, Climbable, Problem
from nnbo_mip.network.graph.affine import dense
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.sampling import sample

STARTS = 64
GRADIENT_STEPS = 60
FIRST_STEP = 0.15
STEP_DECAY = 0.93
CLIMBERS = 4
MAX_REGIONS = 50
NUDGES = 16
NUDGE_SIZES = (1e-6, 1e-4)
DISTINCT = 1e-3
SMALLEST_ROW = 1e-100
"""Rows of a region with smaller coefficients only separate points by underflow."""

SHORTER_STEPS = 0.5 ** np.arange(1, 9)[:, None]
"""Shares of the way to the best point of a region that are tried where f is not affine there."""

FEASIBILITY_TOLERANCE = 1e-9
"""Of the linear programs; what they say is a claim until its point has been evaluated."""

LARGEST_CLIMB = 4000
"""ReLUs up to which regions are climbed by linear programs: one row a ReLU."""


def climb(problem: Climbable, monitor: Monitor, seed: int = 0) -> None:
    """Offer good admissible points to the monitor: ascent from random starts, then LPs."""
    domain = problem.domain
    rng = np.random.default_rng(seed)
    center = 0.5 * domain.lower + 0.5 * domain.upper
    if domain.is_box:
        spread = rng.random((STARTS, problem.dimension))
        starts = domain.lower + (domain.upper - domain.lower) * spread
        starts = np.vstack([np.clip(center, domain.lower, domain.upper), starts])
        starts = np.clip(starts, domain.lower, domain.upper)
    else:
        starts = _admissible_starts(problem, monitor, rng, center)
        if len(starts) == 0:
            return
    monitor.offer(starts)
    ends = gradient_ascent(problem, starts, monitor)
    if len(domain.exclusions):
        ends = climb_beside(
            domain,
            starts,
            ends,
            problem.values_and_gradients,
            lambda points, lower, upper: gradient_ascent(problem, points, monitor, lower, upper),
        )
    if not domain.is_box:
        ends = _repaired(problem, ends)
    monitor.offer(ends)
    candidates = np.vstack([ends, starts])
    for point in best_distinct(domain, candidates, problem.values(candidates)):
        if monitor.should_stop():
            return
        climb_regions(problem, monitor, point, rng)


def climb_regions(
    problem: Climbable, monitor: Monitor, point: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Climb from an admissible point by linear programs and exchanges; return the end."""
    current, value = point, problem.value(point)
    for _ in range(MAX_REGIONS):
        if monitor.should_stop():
            break
        candidates = [exchanges(problem.domain, current)]
        near = problem.linearized(current)
        if near.network.n_relus <= LARGEST_CLIMB:
            best_of_region = _best_of_region(near, current)
            if best_of_region is not None:
                candidates.append(best_of_region[None, :])
                if near is not problem:
                    candidates.append(current + SHORTER_STEPS * (best_of_region - current))
        found = np.vstack(candidates)
        found = found[problem.domain.admissible(found)] if len(found) else found
        monitor.offer(found)
        better = _best(problem, found, value)
        if better is None:
            better = _best(problem, _nudged(problem, current, rng), value)
        if better is None:
            break
        current, value = better
    monitor.offer(current[None, :])
    return current


def gradient_ascent(
    problem: Ascendable,
    points: FloatArray,
    monitor: Monitor,
    lower: FloatArray | None = None,
    upper: FloatArray | None = None,
) -> FloatArray:
    """Projected gradient ascent with decaying steps; best point (n, d) of each path.

    Paths stay in the box of the domain, or in one given by its ends (n, d) for each.
    """
    domain = problem.domain
    low, high = (domain.lower, domain.upper) if lower is None or upper is None else (lower, upper)
    width = domain.upper - domain.lower
    current, best = points.copy(), points.copy()
    best_values = np.full(len(points), -np.inf)
    step = FIRST_STEP
    for _ in range(GRADIENT_STEPS):
        values, gradient = problem.values_and_gradients(current)
        better = values > best_values
        best[better], best_values[better] = current[better], values[better]
        if monitor.should_stop():
            break
        scaled = gradient * width
        # A component that pushes out of the box does not count for the step's length.
        stuck = ((current <= low) & (scaled < 0)) | ((current >= high) & (scaled > 0))
        scaled = np.where(stuck, 0.0, scaled)
        length = np.abs(scaled).max(axis=1, keepdims=True)
        direction = scaled / np.where(length > 0.0, length, 1.0)
        current = np.clip(current + step * width * direction, low, high)
        step *= STEP_DECAY
    return best


def _admissible_starts(
    problem: Climbable, monitor: Monitor, rng: np.random.Generator, center: FloatArray
) -> FloatArray:
    from nnbo_mip.core.errors import InputError

    domain = problem.domain
    near_center = domain.repair(center)
    try:
        sampled = sample(domain, STARTS, rng, monitor.should_stop)
    except InputError:  # no admissible point was found
        sampled = np.empty((0, problem.dimension))
    return sampled if near_center is None else np.vstack([near_center, sampled])


def _repaired(problem: Climbable, points: FloatArray) -> FloatArray:
    order = np.argsort(-problem.values(points), kind="stable")[: 2 * CLIMBERS]
    repaired = [problem.domain.repair(point) for point in points[order]]
    kept = [point for point in repaired if point is not None]
    return np.array(kept).reshape(-1, problem.dimension)


def best_distinct(
    domain: Domain, points: FloatArray, values: FloatArray, count: int = CLIMBERS
) -> list[FloatArray]:
    """Return the best few of points (n, d) with values (n,) that are not close to one another."""
    width = np.where(domain.upper > domain.lower, domain.upper - domain.lower, 1.0)
    chosen: list[FloatArray] = []
    for index in np.argsort(-values, kind="stable"):
        point = points[index]
        if all(np.abs((point - other) / width).max() > DISTINCT for other in chosen):
            chosen.append(point)
        if len(chosen) == count:
            break
    return chosen


def _best(problem: Climbable, points: FloatArray, value: float) -> tuple[FloatArray, float] | None:
    """Return the best of some points if it is worth more than `value` by a real step."""
    if len(points) == 0:
        return None
    values = problem.values(points)
    index = int(values.argmax())
    least = value + 1e-12 * max(1.0, abs(value))
    return (points[index], float(values[index])) if values[index] > least else None


def _nudged(problem: Climbable, point: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return admissible points a small step away, in neighbouring regions."""
    domain = problem.domain
    width = np.where([grid is None for grid in domain.grids], domain.upper - domain.lower, 0.0)
    steps = [size * rng.standard_normal((NUDGES, len(point))) for size in NUDGE_SIZES]
    moved = domain.held(np.clip(point + np.vstack(steps) * width, domain.lower, domain.upper))
    return moved if domain.is_box else moved[domain.admissible(moved)]


def exchanges(domain: Domain, point: FloatArray) -> FloatArray:
    """Return the points (n, d) that differ in one grid coordinate or one group's level."""
    moved: list[FloatArray] = []
    for j, grid in enumerate(domain.grids):
        if grid is None or j in domain.one_hot_members:
            continue
        index = int(grid.nearest(point[j : j + 1])[0])
        reach = [index + s for s in (-64, -16, -8, -4, -2, -1, 1, 2, 4, 8, 16, 64)]
        values = grid.value(np.array([k for k in reach if 0 <= k < grid.count], dtype=np.int64))
        for value in values[(values >= domain.lower[j]) & (values <= domain.upper[j])]:
            other = point.copy()
            other[j] = value
            moved.append(other)
    for group in domain.one_hot:
        for member in group:
            if point[member] != 1.0 and domain.upper[member] > 0.0:
                other = point.copy()
                other[list(group)] = 0.0
                other[member] = 1.0
                moved.append(other)
    return domain.held(np.array(moved).reshape(-1, len(point)))


def _best_of_region(problem: Problem, point: FloatArray) -> FloatArray | None:
    """Maximize f over the points near `point` at which every ReLU keeps its phase."""
    domain = problem.domain
    free = np.array([grid is None for grid in domain.grids]) & (domain.upper > domain.lower)
    if not free.any():
        return None
    rows, offsets, slope = _affine_region(problem, point)
    scale = np.abs(rows).max(axis=1)
    useful = scale > SMALLEST_ROW
    rows, offsets = rows[useful] / scale[useful, None], offsets[useful] / scale[useful]
    shift = rows @ point + offsets
    # ``rows . x + offsets <= 0`` on the region; rounding must not exclude the point itself.
    limits = np.maximum(0.0, shift) - offsets
    A = np.vstack([rows[:, free], domain.A[:, free]])
    fixed = np.where(free, 0.0, point)
    b = np.concatenate([limits - rows @ fixed, domain.b - domain.A @ fixed])
    lower, upper = domain.lower, domain.upper
    if len(domain.exclusions):
        beside = boxes_beside(domain, point[None, :], np.where(free, slope, 0.0)[None, :])
        lower, upper = beside[0][0], beside[1][0]
    x = _solved(slope[free], A, b, lower[free], upper[free])
    if x is None:
        return None
    best = point.copy()
    best[free] = np.clip(x, lower[free], upper[free])
    if domain.b.size and not domain.admissible(best[None, :])[0]:
        return domain.repair(best)
    return best


def _solved(
    c: FloatArray, A: FloatArray, b: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray | None:
    """Return what HiGHS says maximizes ``c . x`` with ``A x <= b`` in a box; None if nothing."""
    import highspy

    rows, columns = np.nonzero(A)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(lower), len(b)
    model.col_cost_ = np.ascontiguousarray(c)
    model.col_lower_, model.col_upper_ = lower, upper
    model.row_lower_, model.row_upper_ = np.full(len(b), -np.inf), b
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.searchsorted(rows, np.arange(len(b) + 1)).astype(np.int32)
    model.a_matrix_.index_ = columns.astype(np.int32)
    model.a_matrix_.value_ = A[rows, columns]
    model.sense_ = highspy.ObjSense.kMaximize
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("primal_feasibility_tolerance", FEASIBILITY_TOLERANCE)
    solver.setOptionValue("dual_feasibility_tolerance", FEASIBILITY_TOLERANCE)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value, dtype=np.float64)


def _affine_region(
    problem: Problem, point: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return rows (m, d) and offsets (m,) of the region ``rows . x + offsets <= 0``, and the slope.

    Each source h_k is the affine function ``J_k x + o_k`` on the region.
    """
    network = problem.network
    jacobians = [np.eye(network.n_inputs)]
    offsets = [np.zeros(network.n_inputs)]
    rows: list[FloatArray] = []
    constants: list[FloatArray] = []
    for layer, z in zip(network.layers, network.preactivations(point[None, :]), strict=True):
        jacobian = sum(
            (dense(w) @ jacobians[k] for k, w in layer.terms.items()),
            np.zeros((layer.width, network.n_inputs)),
        )
        offset = layer.bias + sum(
            (w @ offsets[k] for k, w in layer.terms.items()), np.zeros(layer.width)
        )
        active = z[0] > 0.0
        sign = np.where(active, -1.0, 1.0)
        rows.append(sign[:, None] * jacobian)
        constants.append(sign * offset)
        jacobians.append(np.where(active[:, None], jacobian, 0.0))
        offsets.append(np.where(active, offset, 0.0))
    slope = sum(
        (network.head.pull_back(np.ones((1, 1)), k) @ jacobians[k] for k in network.head.terms),
        np.zeros((1, network.n_inputs)),
    )
    if not rows:
        return np.zeros((0, network.n_inputs)), np.zeros(0), slope[0]
    return np.vstack(rows), np.concatenate(constants), slope[0]
