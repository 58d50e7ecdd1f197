"""Uniform samples of a domain.

Uniform means: continuous coordinates by volume (within the equalities, where there are
any), grids and groups by counting. Without rows, coordinates are independent. With rows,
points of the tightened box are drawn and kept if admissible, which is exactly uniform;
where too few are kept, or equalities leave no volume, random walks take over (`walk`),
uniform in the limit. Points in exclusions are drawn again; where exclusions leave too little of a
domain without equalities for that, what they leave is cut into boxes (`exclusion_free`). Switched
coordinates are drawn as if they were free, and then held where they are (`switches`): levels are
equally likely, whatever hangs on them.

Who has little time passes `stop`, which is asked between batches and between steps of the walks.
Points are the same as without it until it answers that time is up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.exclusion_free import exclusion_free_boxes, sizes
from nnbo_mip.space.interior import find_start
from nnbo_mip.space.repairing import corrected
from nnbo_mip.space.rows import RowSystem, separated
from nnbo_mip.space.walk import Walk

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain

BATCH = 8192
"""Points drawn at once for rejection."""

MAX_DRAWS = 1 << 20
"""Rejection is given up when it would take more draws than this."""

CHAINS = 1024
"""Walks side by side: more take no less time each, and all of them end at once."""

MAX_WALKS = 5
"""Rounds of walks; a chain whose last digits cannot be mended is walked again."""

MAX_ROUNDS_PAST_EXCLUSIONS = 64
"""Rounds of samples of a domain with rows, of which those in exclusions are thrown away."""

LEAST_DRAWN = 64

Stop = Callable[[], bool]
"""Whether time is up; asked only where points are still missing."""


def never() -> bool:
    """Return False: time is never up."""
    return False


def sample(domain: Domain, n: int, rng: np.random.Generator, stop: Stop = never) -> FloatArray:
    """Return n admissible points (n, d), uniform on the domain.

    Once time is up, what there is by then is returned: some points, at least one, of which the
    last may end shorter walks and so lie closer to where these began.
    """
    if n < 0:
        raise InputError(f"n must be >= 0; got {n}; ask for a number of points.")
    lower, upper, feasible = domain.tighten(domain.lower, domain.upper)
    if not feasible:
        raise _empty("no point satisfies")
    if domain.switches:
        return _sample_switched(domain, n, rng, stop)
    return _sample_plain(domain, lower, upper, n, rng, stop)


def _sample_switched(domain: Domain, n: int, rng: np.random.Generator, stop: Stop) -> FloatArray:
    """Sample as if nothing were held, then hold what is."""
    free = domain.without_switches
    kept = _outside(domain, lambda count: domain.held(sample(free, count, rng, stop)), n, stop)
    if _are_enough(kept, n, stop):
        return kept
    # Of what is left of a finite space, say, hardly any point may come about like that.
    lower, upper, _ = domain.tighten(domain.lower, domain.upper)
    others = _sample_plain(domain, lower, upper, n - len(kept), rng, stop)
    return np.concatenate([kept, others])


def _sample_plain(
    domain: Domain,
    lower: FloatArray,
    upper: FloatArray,
    n: int,
    rng: np.random.Generator,
    stop: Stop,
) -> FloatArray:
    """Sample a domain whose box has been tightened, by its rows alone."""
    if len(domain.exclusions):
        return _sample_past_exclusions(domain, lower, upper, n, rng, stop)
    return _sample_without_exclusions(domain, lower, upper, n, rng, stop)


def _sample_without_exclusions(
    domain: Domain,
    lower: FloatArray,
    upper: FloatArray,
    n: int,
    rng: np.random.Generator,
    stop: Stop,
) -> FloatArray:
    """Sample a domain without exclusions whose box has been tightened."""
    if not domain.b.size:
        return product_sample(domain, lower, upper, n, rng)
    rows = separated(domain.A, domain.b, domain.row_slack)
    continuous = [j for j, grid in enumerate(domain.grids) if grid is None]
    kept = np.empty((0, domain.dimension))
    if not rows.A_eq[:, continuous].any():
        kept = _rejection_sample(domain, lower, upper, n, rng, stop)
    if not _are_enough(kept, n, stop):
        walked = _walk_sample(domain, lower, upper, rows, n - len(kept), rng, stop)
        kept = np.concatenate([kept, walked])
    return kept


def _are_enough(kept: FloatArray, n: int, stop: Stop) -> bool:
    """Whether there are n points, or some and no time for more."""
    return len(kept) == n or (len(kept) > 0 and stop())


def _sample_past_exclusions(
    domain: Domain,
    lower: FloatArray,
    upper: FloatArray,
    n: int,
    rng: np.random.Generator,
    stop: Stop,
) -> FloatArray:
    """Sample a domain with exclusions whose box has been tightened."""
    if not domain.b.size:
        kept = _rejection_sample(domain, lower, upper, n, rng, stop)
        return kept if _are_enough(kept, n, stop) else _sample_boxes(domain, n, rng)
    relaxed = domain.without_exclusions.restrict(lower, upper)
    ends = relaxed.tighten(lower, upper)[:2]
    kept = _outside(
        domain, lambda count: _sample_without_exclusions(relaxed, *ends, count, rng, stop), n, stop
    )
    continuous = np.array([grid is None for grid in domain.grids])
    rows = separated(domain.A, domain.b, domain.row_slack)
    if not _are_enough(kept, n, stop) and not rows.A_eq[:, continuous].any():
        kept = _outside(domain, lambda count: _sample_boxes(domain, count, rng), n, stop)
    if not _are_enough(kept, n, stop):
        raise _empty("too few were found outside the exclusions that satisfy")
    return kept


def _outside(domain: Domain, draw: Callable[[int], FloatArray], n: int, stop: Stop) -> FloatArray:
    """Draw until n points are admissible, or for some rounds: (at most n, d)."""
    found = [np.empty((0, domain.dimension))]
    missing = n
    for done in range(MAX_ROUNDS_PAST_EXCLUSIONS):
        if not missing or (done and stop()):
            break
        drawn = draw(max(missing, LEAST_DRAWN))
        found.append(drawn[domain.admissible(drawn)][:missing])
        missing -= len(found[-1])
    return np.concatenate(found)


def _sample_boxes(domain: Domain, n: int, rng: np.random.Generator) -> FloatArray:
    """Sample the boxes that exclusions leave of a domain; its rows only shrink them."""
    lower, upper, complete = exclusion_free_boxes(domain)
    if not len(lower):
        raise _empty("no point lies outside the exclusions and satisfies")
    if not complete:
        raise _empty(
            "the exclusions leave so little in so many parts that none was found that satisfies"
        )
    share = sizes(domain, lower, upper)
    counts = rng.multinomial(n, share / share.sum())
    drawn = [
        product_sample(domain, lower[i], upper[i], int(counts[i]), rng)
        for i in np.flatnonzero(counts)
    ]
    return rng.permutation(np.concatenate([np.empty((0, domain.dimension)), *drawn]))


def product_sample(
    domain: Domain, lower: FloatArray, upper: FloatArray, n: int, rng: np.random.Generator
) -> FloatArray:
    """Sample the box [lower, upper] with its grids and groups, ignoring rows: (n, d).

    The box must be one that `Domain.tighten` found feasible.
    """
    X = np.empty((n, domain.dimension))
    for j, grid in enumerate(domain.grids):
        if j in domain.one_hot_members:
            continue
        if grid is None:
            draws = rng.uniform(lower[j], upper[j], size=n)
            X[:, j] = np.clip(draws, lower[j], upper[j])
        else:
            first, last = int(grid.index_above(lower[j])), int(grid.index_below(upper[j]))
            X[:, j] = grid.value(rng.integers(first, last, size=n, endpoint=True))
    for group in domain.one_hot:
        members = np.array(group)
        possible = members[upper[members] == 1.0]
        X[:, members] = members == rng.choice(possible, size=n)[:, None]
    return X


def _rejection_sample(
    domain: Domain,
    lower: FloatArray,
    upper: FloatArray,
    n: int,
    rng: np.random.Generator,
    stop: Stop,
) -> FloatArray:
    """Return up to n points, fewer where rejection would take too long."""
    kept = [np.empty((0, domain.dimension))]
    most = MAX_DRAWS // max(1, len(domain.exclusions))  # each of which costs a comparison a draw
    found = drawn = 0
    while found < n and not (drawn and stop()):
        batch = product_sample(domain, lower, upper, BATCH, rng)
        accepted = batch[domain.admissible(batch)][: n - found]
        kept.append(accepted)
        found += len(accepted)
        drawn += BATCH
        if (n - found) * drawn > max(found, 1) * most or (not found and drawn >= 4 * BATCH):
            break
    return np.concatenate(kept)


def _walk_sample(
    domain: Domain,
    lower: FloatArray,
    upper: FloatArray,
    rows: RowSystem,
    n: int,
    rng: np.random.Generator,
    stop: Stop,
) -> FloatArray:
    """Return n ends of random walks, fewer where time is up."""
    elsewhere = product_sample(domain, lower, upper, n, rng)
    start = find_start(domain, lower, upper, rows, elsewhere[0])
    if start is None:
        raise _empty("none was found that satisfies")
    walk = Walk.of(domain, lower, upper, start)
    X = elsewhere
    X[:, walk.columns] = start.point[walk.columns]
    ends = []
    for first in range(0, n, CHAINS):
        if first and stop():
            break
        ends.append(_walked(walk, X[first : first + CHAINS], rng, stop))
    return np.concatenate(ends)


def _walked(walk: Walk, X: FloatArray, rng: np.random.Generator, stop: Stop) -> FloatArray:
    """Return the admissible ends (k, d) of walks from the points (k, d)."""
    domain = walk.domain
    pending = np.arange(len(X))
    for _ in range(MAX_WALKS):
        ends = walk.run(X[pending], rng, stop)
        inside = domain.admissible(ends)
        for i in np.flatnonzero(~inside):
            ends[i] = corrected(domain, walk.rows, ends[i])
        inside = domain.admissible(ends)
        X[pending[inside]] = ends[inside]
        pending = pending[~inside]
        if not pending.size:
            return X
    raise InputError(
        "points must satisfy the constraints within 1e-9 (1 + |b|); the samples could not be "
        "brought that close in float64; rescale constraints with very large coefficients."
    )


def _empty(finding: str) -> InputError:
    return InputError(
        "a space must have an admissible point to be sampled; "
        f"{finding} the constraints within the bounds; relax a constraint or widen a bound."
    )
