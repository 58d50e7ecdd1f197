"""The bounds that re-prove claims about Gaussian processes, against sixty digits."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.correlations import Correlations
from nnbo_mip.exact.checking.heads.process_score import ProcessScore, process_score
from nnbo_mip.exact.checking.heads.process_stds import ProcessBounds
from nnbo_mip.exact.checking.heads.projection import Projection
from nnbo_mip.scores.base.kernel_profiles import Profile
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.heads.curved_cases import (
    KERNELS,
    exact,
    exact_moments,
    exact_profile,
    exact_units,
    random_process,
)

BOUNDED = [kernel for kernel in KERNELS if kernel != ("matern", 0.5)]
UNIT = 1.3
"""Half width of the domains."""

CASES = {
    "easy": {},
    "short": {"length": 0.05},
    "long": {"length": 30.0, "noise": 1e-7},
    "repeated": {"noise": 1e-10, "repeated": True},
    "large": {"amplitude": 1e8},
    "small": {"amplitude": 1e-9, "length": 2.0},
    "noisy": {"noise": 0.3},
}


def bounds_on(
    posterior: ProcessPosterior, lower: FloatArray, upper: FloatArray
) -> tuple[ProcessBounds, ProcessScore]:
    """Bounds over boxes (d, B)."""
    domain = Domain(np.full(len(lower), -UNIT), np.full(len(lower), UNIT))
    scores = process_score(LinearHead(), posterior, domain)
    assert scores is not None
    return scores._bounds(scores.bound_outputs(lower, upper)), scores


def weights_of(
    scores: ProcessScore, bounds: ProcessBounds, center: FloatArray, x: FloatArray, k: int
):
    """Factors of the vertices of box k in a point, as decimals."""
    factors = np.array([Decimal(1)], dtype=object)
    reach = exact(scores.process.posterior.length_scale) * exact(scores.process.posterior.x_scale)
    t = (exact(x) - exact(center)) / reach
    for j in bounds.free:
        half = Decimal(float(bounds.at.half[j, k]))
        share = (t[j] / half + 1) / 2 if half else Decimal(0)
        assert 0 <= share <= 1
        factors = np.concatenate([factors * (1 - share), factors * share])
    return factors


def random_boxes(
    rng: np.random.Generator, posterior: ProcessPosterior, count: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Ends (d, B) of boxes, some of them about observed points, and a point inside of each."""
    d = posterior.n_inputs
    center = rng.uniform(-UNIT, UNIT, (d, count))
    near = rng.random(count) < 0.3
    seen = posterior.points[rng.integers(len(posterior.points), size=count)]
    center[:, near] = (posterior.x_center + posterior.x_scale * seen).T[:, near]
    half = 10.0 ** rng.uniform(-8.0, 0.0, count) * rng.uniform(0.1, 1.0, (d, count))
    half[:, rng.random(count) < 0.1] = 0.0
    lower, upper = np.clip(center - half, -UNIT, UNIT), np.clip(center + half, -UNIT, UNIT)
    share = rng.integers(0, 3, (d, count)) / 2.0
    share = np.where(rng.random((d, count)) < 0.5, share, rng.random((d, count)))
    return lower, upper, np.clip(lower + share * (upper - lower), lower, upper)


def check_bounds(posterior: ProcessPosterior, rng: np.random.Generator, count: int) -> None:
    """Compare every bound with the exact moments at one point of each of some boxes."""
    lower, upper, points = random_boxes(rng, posterior, count)
    center = np.where(lower == upper, lower, 0.5 * lower + 0.5 * upper)
    bounds, scores = bounds_on(posterior, lower, upper)
    a, b = rng.uniform(0.0, 2.0, count), rng.normal(size=count)
    sums = bounds.joint(a, b)
    parts = (bounds.mean, bounds.cone, bounds.line, bounds.below, np.minimum(sums, 1e300))
    ends = scores.process.ends(points)
    passes = posterior.moments(points.T)
    for k in range(count):
        mean, std = exact_moments(posterior, exact(points[:, k]))
        factors = weights_of(scores, bounds, center[:, k], points[:, k], k)
        above, cone, line, below, joint = (factors @ exact(part[:, k]) for part in parts)
        assert mean <= above
        assert below <= std <= min(cone, line)
        assert Decimal(a[k]) * mean + Decimal(b[k]) * std <= joint
        for value, computed, (low, high) in zip((mean, std), passes, ends, strict=True):
            assert Decimal(low[k]) <= value <= Decimal(high[k])
            assert low[k] <= computed[k] <= high[k]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kernel", BOUNDED)
def test_no_point_is_beyond_a_bound(kernel: tuple[str, float], case: str) -> None:
    rng = np.random.default_rng([BOUNDED.index(kernel), list(CASES).index(case)])
    with localcontext() as context:
        context.prec = 60
        for d in (1, 2, 3):
            posterior = random_process(rng, d, int(rng.integers(2, 9)), kernel, **CASES[case])
            check_bounds(posterior, rng, 40)


def test_a_noise_that_float64_sums_would_lose() -> None:
    rng = np.random.default_rng(0)
    posterior = random_process(rng, 2, 8, noise=6e-14)
    kernels = Correlations(posterior, np.full(2, -UNIT), np.full(2, UNIT))
    least = Projection(posterior, kernels).least_noise
    assert 0.0 < least < 6e-14
    with localcontext() as context:
        context.prec = 60
        check_bounds(posterior, rng, 40)


# -- the kernel -----------------------------------------------------------------------------


def one_point(kernel: tuple[str, float], mixture: float = 0.8) -> Correlations:
    """The kernel with one observed point, the origin of the line, in units of its length."""
    ones, form = np.ones(1), kernel[0]
    arrays = (np.zeros((1, 1)), np.eye(1), ones, ones, 0.0 * ones, ones)
    posterior = ProcessPosterior(*arrays, form, kernel[1], mixture)
    return Correlations(posterior, -50.0 * ones, 50.0 * ones)


def square_left(profile: Profile, t: Decimal, order: int) -> Decimal:
    """Return |k_t - its expansion at 0|^2 with difference quotients in place of derivatives."""
    h = Decimal(10) ** -20
    factors = {t: Decimal(1), Decimal(0): Decimal(-1), h: Decimal(0), -h: Decimal(0)}
    if order > 0:
        factors[h] -= t / (2 * h)
        factors[-h] += t / (2 * h)
    if order > 1:
        factors[h] -= (t / h) ** 2 / 2
        factors[-h] -= (t / h) ** 2 / 2
        factors[Decimal(0)] += (t / h) ** 2
    pairs = [(x, y) for x in factors for y in factors]
    return sum(
        (factors[x] * factors[y] * exact_profile(profile, (x - y) ** 2) for x, y in pairs),
        Decimal(0),
    )


@pytest.mark.parametrize("kernel", BOUNDED, ids=str)
def test_what_expansions_leave(kernel: tuple[str, float]) -> None:
    kernels = one_point(kernel)
    profile = Profile(*kernel, 0.8)
    orders = (0, 1, 2) if kernels.is_twice_smooth else (0, 1)
    with localcontext() as context:
        context.prec = 150
        for t in (1e-4, 1e-2, 0.1, 0.5, 1.0, 3.0, 20.0):
            bounds = kernels.remainders(np.array([[t]]))
            for order in orders:
                left = square_left(profile, Decimal(t), order).sqrt()
                bound = Decimal(float(bounds[order][0]))
                # Difference quotients of a matern kernel are 1e-10 off.
                assert left <= bound * (1 + Decimal("1e-8"))
                assert bound <= left * Decimal("1.6") + Decimal("1e-13")


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("kernel", BOUNDED, ids=str)
def test_computed_derivatives_are_as_exact_as_stated(
    kernel: tuple[str, float], moved: bool
) -> None:
    rng = np.random.default_rng(3)
    posterior = random_process(rng, 1, 4, kernel, length=0.05)
    if not moved:
        posterior = replace(posterior, x_center=np.zeros(1), x_scale=np.ones(1))
    kernels = Correlations(posterior, -np.ones(1), np.ones(1))
    x = rng.uniform(-1.0, 1.0, (1, 100))
    columns = kernels.columns(x)
    second = columns.bend * columns.off[0] ** 2 - columns.fall
    h = Decimal(10) ** -25
    reach = Decimal(float(posterior.length_scale[0])) * Decimal(float(posterior.x_scale[0]))
    with localcontext() as context:
        context.prec = 100
        for k in range(100):
            at = exact(x[:, k])
            low, middle, high = (exact_units(posterior, at + step * reach) for step in (-h, 0, h))
            slopes, bends = (high - low) / (2 * h), (high - 2 * middle + low) / h**2
            assert abs(middle - exact(columns.taylor[0, :, k])).max() <= kernels.errors[0]
            assert abs(slopes - exact(columns.taylor[1, :, k])).max() <= kernels.errors[1]
            if kernels.is_twice_smooth:
                assert abs(bends - exact(second[:, k])).max() <= kernels.errors[2]
