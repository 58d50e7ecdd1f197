"""The bounds that re-prove claims about Gaussian processes, against sixty digits."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from nnbo_mip.exact.checking.heads.process_score import ProcessScore, process_score
from nnbo_mip.exact.checking.heads.process_stds import ProcessBounds
from nnbo_mip.heads import LinearHead
from nnbo_mip.heads.gp_readout import GpReadout
from nnbo_mip.network.affine import FloatArray
from nnbo_mip.space.domain import Domain
from tests.exact.heads.curved_cases import KERNELS, exact, exact_moments, random_process

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
    readout: GpReadout, lower: FloatArray, upper: FloatArray
) -> tuple[ProcessBounds, ProcessScore]:
    """Bounds over boxes (d, B)."""
    domain = Domain(np.full(len(lower), -UNIT), np.full(len(lower), UNIT))
    scores = process_score(LinearHead(), readout, domain)
    assert scores is not None
    return scores._bounds(scores.draw(lower, upper)), scores


def weights_of(
    scores: ProcessScore, bounds: ProcessBounds, center: FloatArray, x: FloatArray, k: int
):
    """Factors of the vertices of box k in a point, as decimals."""
    factors = np.array([Decimal(1)], dtype=object)
    reach = exact(scores.process.readout.length_scale) * exact(scores.process.readout.x_scale)
    t = (exact(x) - exact(center)) / reach
    for j in bounds.free:
        half = Decimal(float(bounds.at.half[j, k]))
        share = (t[j] / half + 1) / 2 if half else Decimal(0)
        assert 0 <= share <= 1
        factors = np.concatenate([factors * (1 - share), factors * share])
    return factors


def random_boxes(
    rng: np.random.Generator, readout: GpReadout, count: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Ends (d, B) of boxes, some of them about observed points, and a point inside of each."""
    d = readout.n_inputs
    center = rng.uniform(-UNIT, UNIT, (d, count))
    near = rng.random(count) < 0.3
    seen = readout.points[rng.integers(len(readout.points), size=count)]
    center[:, near] = (readout.x_center + readout.x_scale * seen).T[:, near]
    half = 10.0 ** rng.uniform(-8.0, 0.0, count) * rng.uniform(0.1, 1.0, (d, count))
    half[:, rng.random(count) < 0.1] = 0.0
    lower, upper = np.clip(center - half, -UNIT, UNIT), np.clip(center + half, -UNIT, UNIT)
    share = rng.integers(0, 3, (d, count)) / 2.0
    share = np.where(rng.random((d, count)) < 0.5, share, rng.random((d, count)))
    return lower, upper, np.clip(lower + share * (upper - lower), lower, upper)


def check_bounds(readout: GpReadout, rng: np.random.Generator, count: int) -> None:
    """Compare every bound with the exact moments at one point of each of some boxes."""
    lower, upper, points = random_boxes(rng, readout, count)
    center = np.where(lower == upper, lower, 0.5 * lower + 0.5 * upper)
    bounds, scores = bounds_on(readout, lower, upper)
    a, b = rng.uniform(0.0, 2.0, count), rng.normal(size=count)
    sums = bounds.joint(a, b)
    parts = (bounds.mean, bounds.cone, bounds.line, bounds.below, np.minimum(sums, 1e300))
    ends = scores.process.ends(points)
    passes = readout.moments(points.T)
    for k in range(count):
        mean, std = exact_moments(readout, exact(points[:, k]))
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
            readout = random_process(rng, d, int(rng.integers(2, 9)), kernel, **CASES[case])
            check_bounds(readout, rng, 40)
