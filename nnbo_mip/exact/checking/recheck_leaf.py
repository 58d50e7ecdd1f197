r"""The last word on a small box: every activation pattern, bounded without rounding.

Where only a few ReLUs can be either on or off, f is one affine function a pattern P,

    f(x) = g_P . x + c_P      on    { x : s_i z_i,P(x) >= 0 for the undecided i },

and for all multipliers ``lambda, mu >= 0``, weak duality over the box and the rows gives

    f(x) <= max_box  g_P . x + c_P + sum_i lambda_i s_i z_i,P(x) + sum_r mu_r (t_r - A_r . x).

A linear program in float64 suggests the multipliers; the right-hand side is then computed
in exact arithmetic, so whatever the program answered, the conclusion is sound. It also
closes where the claimed bound is the maximum to the last digit, which no relaxation does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.dyadic import Dyadic, ExactNetwork

BoolArray = npt.NDArray[np.bool_]

LARGEST_RATIO = 1e15
"""Of a constant to the slopes in the programs for multipliers, which any numbers may solve."""

ELASTIC_COST = 1e4
"""Price of violating a condition in the linear program, in units of the objective; a
pattern that does not occur in the box is thereby bounded far below."""


RELIEFS = (1e-5, 0.0)
"""By how much conditions are relieved in the program, more than its tolerances. Where they
just touch the box, the program may else take them for contradictions, at that price."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """A box (d,) with the ReLUs that are fixed on it.

    Parameters
    ----------
    lower, upper : (d,) arrays
    active, unstable : lists of (n_l,) bool arrays
        Fixed to pass; undecided. The rest is fixed to zero.
    """

    lower: FloatArray
    upper: FloatArray
    active: list[BoolArray]
    unstable: list[BoolArray]

    @property
    def undecided(self) -> int:
        """Number of undecided ReLUs."""
        return int(sum(mask.sum() for mask in self.unstable))


def leaf_is_below(
    network: ExactNetwork, leaf: Leaf, A: FloatArray, limit: FloatArray, level: float
) -> bool:
    """Whether ``f(x) <= level`` is proven for all x of the box with ``A x <= limit``.

    Parameters
    ----------
    network : ExactNetwork
    leaf : Leaf
        Costs one linear program for each of ``2**leaf.undecided`` patterns.
    A : (m, d) array
    limit : (m,) array
    level : float
    """
    for signs in product((False, True), repeat=leaf.undecided):
        switched = iter(signs)
        pattern = [
            np.array([next(switched) if free else on for on, free in zip(*masks, strict=True)])
            for masks in zip(leaf.active, leaf.unstable, strict=True)
        ]
        if not pattern_is_below(network, leaf, pattern, A, limit, level):
            return False
    return True


def pattern_is_below(
    network: ExactNetwork,
    leaf: Leaf,
    pattern: list[BoolArray],
    A: FloatArray,
    limit: FloatArray,
    level: float,
) -> bool:
    """Whether ``f(x) <= level`` is proven where the undecided ReLUs are as in a pattern.

    Parameters
    ----------
    pattern : list of (n_l,) bool arrays
        Which ReLUs pass their input.
    """
    near = np.maximum(A * leaf.lower, A * leaf.upper).sum(axis=1) >= limit - 1e-6 * np.abs(limit)
    preactivations, output = network.pieces([mask.astype(bool) for mask in pattern])
    conditions = [
        *_sign_conditions(preactivations, pattern, leaf.unstable),
        *_rows_as_conditions(A[near], limit[near]),
    ]
    ends = Dyadic.of(leaf.lower), Dyadic.of(leaf.upper)
    return _dual_bound_is_below(output, conditions, leaf, ends, level)


def leaf_is_empty(leaf: Leaf, A: FloatArray, limit: FloatArray) -> bool:
    """Whether no x of the box satisfies ``A x <= limit``, proven by a negative bound on 0."""
    nothing = Dyadic.of(np.zeros(len(leaf.lower) + 1))
    ends = Dyadic.of(leaf.lower), Dyadic.of(leaf.upper)
    rows = _rows_as_conditions(A, limit)
    return _dual_bound_is_below(nothing, rows, leaf, ends, -float(np.finfo(float).tiny))


def _rows_as_conditions(A: FloatArray, limit: FloatArray) -> list[Dyadic]:
    """Return the forms ``limit - A x``, which are >= 0, as (d + 1,) each."""
    return [Dyadic.of(np.append(-row, right)) for row, right in zip(A, limit, strict=True)]


def _sign_conditions(
    preactivations: list[Dyadic], active: list[BoolArray], unstable: list[BoolArray]
) -> list[Dyadic]:
    """Return the forms ``s_i z_i`` of the undecided ReLUs, which are >= 0 on the piece."""
    return [
        z[i] if on[i] else -z[i]
        for z, on, free in zip(preactivations, active, unstable, strict=True)
        for i in np.flatnonzero(free)
    ]


def _dual_bound_is_below(
    output: Dyadic,
    conditions: list[Dyadic],
    leaf: Leaf,
    ends: tuple[Dyadic, Dyadic],
    level: float,
) -> bool:
    for multipliers in _candidates(output, conditions, leaf):
        form = output
        for condition, multiplier in zip(conditions, multipliers, strict=True):
            if multiplier > 0.0:
                form = form + condition * Dyadic.of(multiplier)
        if not _largest(form, ends).exceeds(level):
            return True
    return False


def _largest(form: Dyadic, ends: tuple[Dyadic, Dyadic]) -> Dyadic:
    """Largest value of a form (d + 1,) over a box, exactly."""
    coefficients = form[:-1]
    upwards = coefficients.positive()
    at_upper, at_lower = coefficients.where(upwards), coefficients.where(~upwards)
    return form[-1] + (at_upper * ends[1]).total() + (at_lower * ends[0]).total()


def _candidates(output: Dyadic, conditions: list[Dyadic], leaf: Leaf) -> Iterator[FloatArray]:
    """Yield multipliers that may bound the output well, one for each condition."""
    nothing = np.zeros(len(conditions))
    yield nothing
    middle, radius = 0.5 * (leaf.lower + leaf.upper), 0.5 * (leaf.upper - leaf.lower)
    target, _ = _unit_form(output.floats(), middle, radius)
    forms = [_unit_form(condition.floats(), middle, radius) for condition in conditions]
    sizes = np.array([np.abs(slopes).max(initial=0.0) for slopes, _ in forms])
    chosen = np.flatnonzero(sizes > 0.0)
    if not chosen.size:
        return
    scale = np.abs(target).max(initial=0.0) or 1.0
    slopes = np.array([forms[i][0] / sizes[i] for i in chosen])
    with np.errstate(over="ignore"):  # slopes may be subnormal
        ratios = np.array([forms[i][1] / sizes[i] for i in chosen])
    constants = np.clip(ratios, -LARGEST_RATIO, LARGEST_RATIO)
    for relief in RELIEFS:
        multipliers = nothing.copy()
        prices = _prices(target / scale, slopes, constants + relief)
        with np.errstate(over="ignore"):  # any multipliers will do, good ones or not
            multipliers[chosen] = np.nan_to_num(prices * scale / sizes[chosen])
        yield multipliers


def _prices(target: FloatArray, slopes: FloatArray, constants: FloatArray) -> FloatArray:
    """Solve ``max target . t - cost e, slopes . t + constants + e >= 0, |t| <= 1``, e >= 0."""
    from scipy.optimize import linprog

    answer = linprog(
        np.append(-target, ELASTIC_COST),
        A_ub=np.hstack([-slopes, -np.ones((len(slopes), 1))]),
        b_ub=constants,
        bounds=[*[(-1.0, 1.0)] * len(target), (0.0, None)],
        method="highs-ds",
    )
    return np.maximum(-answer.ineqlin.marginals, 0.0) if answer.status == 0 else constants * 0.0


def _unit_form(
    form: FloatArray, middle: FloatArray, radius: FloatArray
) -> tuple[FloatArray, float]:
    """Rewrite ``form`` (d + 1,) in t with ``x = middle + radius t``."""
    return form[:-1] * radius, float(form[:-1] @ middle + form[-1])
