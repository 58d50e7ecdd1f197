"""`maximize`: the best next point of an acquisition over a belief."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.acquisitions.base.catalogue import registry as acquisitions
from nnbo_mip.acquisitions.base.constrained import constrained_scorer
from nnbo_mip.acquisitions.base.criterion import Criterion
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.budget import DEFAULT_MEMORY, as_memory_limit
from nnbo_mip.core.checks import as_finite_vector, as_gap, as_points, as_seed, as_time_limit
from nnbo_mip.core.control import Progress, ProgressCallback, ProgressOption, reporting
from nnbo_mip.core.errors import InputError
from nnbo_mip.exact.scores.problem import SMALLEST_SCORE
from nnbo_mip.maximizers.base.abstract import Maximizer, Proposal, Request
from nnbo_mip.maximizers.base.catalogue import registry
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.proposing import check_chooses, proposed
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates.base.abstract import Belief, Capability, check_belief

DEFAULT_SECONDS = 60.0
"""Of a search for a proof, where neither the caller nor the maximizer has a limit."""

LARGEST_LOG = 700.0
"""Of a number whose exponential is one."""

SMALLEST, LARGEST = 1e-120, 1e150
"""Between them a square is a number with all its digits."""


def maximize(
    belief: Belief,
    acquisition: object,
    domain: Domain,
    *,
    maximizer: object = "auto",
    X: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    noise: npt.ArrayLike | None = None,
    step: int = 0,
    gap: float = 1e-4,
    time_limit: float | None = None,
    seed: int = 0,
    within: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    away_from: npt.ArrayLike | None = None,
    eps: float | None = None,
    starts: npt.ArrayLike | None = None,
    constraints: Sequence[Belief] = (),
    outcomes: npt.ArrayLike | None = None,
    progress: ProgressOption = None,
    memory_limit: float = DEFAULT_MEMORY,
) -> Proposal:
    """Find the point of a domain with the best score, and prove that none is better.

    Parameters
    ----------
    belief : Belief
        What was learned.
    acquisition : str, dict or Acquisition
        What makes a score of it.
    domain : Domain
        Admissible points in the belief's coordinates: ``space.model()``.
    maximizer : str, dict or Maximizer
        ``auto``, ``mip``, ``bab`` and ``enumerate`` prove; the others search. An acquisition that
        chooses its point itself takes ``auto`` alone, and does not ask it.
    X : (n, d) array, optional
        Evaluated points; some acquisitions ask for them.
    y : (n,) array, optional
        Their values; the largest is the incumbent, where none is given.
    noise : float or (n,) array, optional
        Standard deviation of an observation from the function.
    step : int
        Number of the step, from 0, for options that follow a schedule.
    gap : float
        A proof may stop at a difference of ``gap`` of the logarithms for ei and pi, of
        ``gap * max(1, |value|)`` for mean, ucb and samples, and of ``gap * |value|`` for the
        other scores (at least ``1e-4 gap``).
    time_limit : float, optional
        Wall seconds, infinity for none; a maximizer may have a shorter limit of its own. Without
        either, those that prove have 60 seconds.
    seed : int
        Of random starts.
    within : pair of (d,) arrays, optional
        Lower and upper ends of a trust region.
    away_from : (k, d) array, optional
        Points from which `x` keeps a distance of `eps`, in the largest coordinate.
    eps : float, optional
        That distance.
    starts : (k, d) array, optional
        Points worth a try; what is not admissible is left out.
    constraints : sequence of Belief
        Of outcomes that must not exceed 0. With ``ei`` and ``logei``: improvement over the best
        feasible value, times the probability that all outcomes are at most 0; that probability
        alone as long as no feasible value is known.
    outcomes : (n, k) array, optional
        The outcomes at X, one column a constraint.
    progress : callable, bool or "live", optional
        As in `certify`.
    memory_limit : float
        GiB that the search may take, as in `certify`; a maximizer may have a limit of its own.

    Returns
    -------
    Proposal

    Notes
    -----
    In the main thread, Ctrl-C ends an exact search and returns what it has.

    Examples
    --------
    >>> import nnbo_mip as nm
    >>> X, y = [[-1.0], [0.0], [1.0]], [0.0, 1.0, 0.5]
    >>> belief = nm.surrogates.create("brvfl", n_hidden=20, seed=0).fit(X, y)
    >>> proposal = nm.maximize(belief, "ei", nm.Space.box([-1.0], [1.0]).model(), y=y)
    >>> proposal.status, proposal.gap <= 1e-4
    ('optimal', True)
    """
    check_belief(belief)
    chosen = registry.create(maximizer)
    limited = _limited(domain, within, away_from, eps)
    made = acquisitions.create(acquisition)
    if isinstance(made, Criterion):
        check_chooses(made.name, chosen.name)
        return proposed(made, belief, limited, X, y, noise, step, as_seed(seed))
    if constraints or outcomes is not None:
        scorer = constrained_scorer(made, belief, constraints, X, y, outcomes, noise, step)
    else:
        scorer = made.scorer(belief, X, y, noise, step)
    target = Target(scorer, limited)
    _check_size(belief, limited, y)
    with reporting(progress, 1.0) as callback:
        request = Request(
            gap=as_gap(gap),
            time_limit=_seconds(time_limit, chosen),
            seed=as_seed(seed),
            starts=_admissible(starts, limited),
            callback=None if callback is None else _as_result(callback, target),
            memory_limit=as_memory_limit(memory_limit),
        )
        return chosen.maximize(target, request)


def _as_result(callback: ProgressCallback, target: Target) -> ProgressCallback:
    """Return a callback that is told scores as the result has them, and not their logarithms.

    Where scores are so small that the result is a logarithm, it is told that.
    """
    if not target.searched.is_logarithm or target.head.is_logarithm:
        return callback

    def plain(number: float) -> float:
        return math.exp(number) if number < LARGEST_LOG else math.inf

    def told(progress: Progress) -> None:
        value = plain(progress.value)
        if not progress.note and value >= SMALLEST_SCORE:
            progress = replace(progress, value=value, bound=plain(progress.bound))
        callback(progress)

    return told


def _seconds(given: float | None, maximizer: Maximizer) -> float:
    """Return the time of a search; a proof without any limit might never end."""
    if given is not None:
        return as_time_limit(given)
    return DEFAULT_SECONDS if maximizer.may_not_end else math.inf


def _limited(
    domain: object,
    within: tuple[npt.ArrayLike, npt.ArrayLike] | None,
    away_from: npt.ArrayLike | None,
    eps: float | None,
) -> Domain:
    """Return the domain within the trust region and away from the points."""
    if not isinstance(domain, Domain):
        raise InputError(
            "the domain must be a Domain in the belief's coordinates; got a "
            f"{type(domain).__name__}; pass space.model()."
        )
    if (away_from is None) != (eps is None):
        raise InputError(
            "away_from and eps go together; got only one of them; give points and the distance "
            "to keep."
        )
    if within is not None:
        _check_meets(domain, *within)
        domain = domain.restrict(*within)
    if away_from is not None and eps is not None:
        domain = domain.away_from(away_from, eps)
    return domain


def _check_meets(domain: Domain, lower: npt.ArrayLike, upper: npt.ArrayLike) -> None:
    """Refuse a region that lies outside of the domain's box."""
    low, high = as_finite_vector(lower, "lower"), as_finite_vector(upper, "upper")
    if not low.size == high.size == domain.dimension or (low > high).any():
        return  # no region at all, which `Domain.restrict` says
    outside = np.flatnonzero((low > domain.upper) | (high < domain.lower))
    if outside.size:
        j = int(outside[0])
        raise InputError(
            f"within must be a region of the space; got one that lies outside of it, [{low[j]}, "
            f"{high[j]}] in coordinate {j}, where the space is [{domain.lower[j]}, "
            f"{domain.upper[j]}]; move it, or leave it out."
        )


def _admissible(starts: npt.ArrayLike | None, domain: Domain) -> FloatArray:
    if starts is None:
        return np.empty((0, domain.dimension))
    points = as_points(starts, domain.dimension)
    return np.asarray(points[domain.admissible(points)])


def _check_size(belief: Belief, domain: Domain, y: npt.ArrayLike | None) -> None:
    """Refuse a belief that is too large or too small at the ends and in the middle of a box.

    Where values (n,) are known, a belief may be as small as it likes beside them.
    """
    places = np.stack([domain.lower, 0.5 * domain.lower + 0.5 * domain.upper, domain.upper])
    said = [(Capability.MEAN, belief.mean), (Capability.STD, belief.std)]
    with np.errstate(all="ignore"):
        sizes = [np.abs(ask(places)).max() for one, ask in said if one in belief.capabilities]
    if not sizes:
        return  # a ratio of densities has the same size whatever that of the values
    known = 0.0 if y is None else float(np.abs(np.asarray(y, dtype=np.float64)).max(initial=0.0))
    size = float(max([known, *sizes]))
    if size > LARGEST or 0.0 < size < SMALLEST:
        raise InputError(
            f"means and stds of a belief must lie between {SMALLEST:g} and {LARGEST:g} in size, as "
            f"squares leave float64 elsewhere; got {size:g}; multiply the values that it learns "
            "from, by a power of two where no digit may change."
        )
