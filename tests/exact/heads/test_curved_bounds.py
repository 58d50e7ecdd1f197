"""Bounds of tanh units, of Gaussian processes and of sums of them, against 60 digits.

Nothing is allowed for rounding: bounds contain the exact values and the float64 ones. Each kind
of error in the bounds, be it only a missing margin for rounding, is shown to be noticed.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import fixed_quad

from nnbo_mip.exact.bounds import kernel_units, tanh_units, unit_relaxation
from nnbo_mip.exact.bounds.kernel_units import KernelUnits
from nnbo_mip.exact.bounds.tanh_units import TanhUnits
from nnbo_mip.exact.bounds.unit_relaxation import UnitRows, largest_half
from nnbo_mip.exact.heads.relaxers.posterior import PosteriorPart
from nnbo_mip.exact.scores.level_lines import LevelLines
from nnbo_mip.network.graph.affine import dense
from nnbo_mip.scores.base.kernel_profiles import Profile
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.heads.curved_cases import (
    KERNELS,
    exact,
    exact_moments,
    exact_profile,
    exact_units,
    random_process,
    random_tanh,
)

DIGITS = 60
PLOTTED = Decimal("1e-15")
"""Relative; a plane at a point is rounded once more by whoever evaluates it."""


@pytest.fixture(autouse=True)
def many_digits():
    with localcontext() as context:
        context.prec = DIGITS
        yield


class Case:
    """A posterior with what bounds it, and boxes of all sizes: some are points, some hold data."""

    def __init__(self, seed, wild=True):
        self.rng = rng = np.random.default_rng(seed)
        d = int(rng.integers(1, 4))
        size = 10.0 ** rng.uniform(-1.0, 1.0) if wild else 1.0
        self.domain = Domain(np.full(d, -size), np.full(d, 1.3 * size))
        self.part = None
        if seed % 5 < 3:
            kernel = KERNELS[int(rng.integers(5))]
            noise, length = 10.0 ** rng.uniform(-8.0, -1.0), 10.0 ** rng.uniform(-4.0, 1.0)
            count, repeated = int(rng.integers(1, 7)), bool(rng.random() < 0.3)
            amplitude = 10.0 ** rng.uniform(-2.0, 2.0)
            near = 10.0 ** rng.uniform(-4.0, -1.0) if wild and seed % 10 < 3 else None
            if near is not None:
                length = 10.0 ** rng.uniform(-1.0, 0.5)
            if not wild:
                kernel, noise, length, count = KERNELS[seed % 3 + 2], 1e-3, 0.5, 5
            self.posterior = random_process(
                rng, d, count, kernel, noise, length, float(amplitude), repeated, near
            )
            self.units = KernelUnits(self.posterior, self.domain)
            self.rows = UnitRows.of_posterior(self.units, self.posterior)
            self.part = PosteriorPart(self.posterior, self.units)
        else:
            steepness = 10.0 ** rng.uniform(-3.0, 6.0) if wild else 1.0
            self.posterior = random_tanh("std", rng, d, None, steepness)
            self.units = TanhUnits(self.posterior, self.domain)
            self.rows = UnitRows.of_tanh(self.units, self.posterior)
        self.lower, self.upper = self.boxes(5, wild)
        self.bounded = self.rows.bound_outputs(self.lower, self.upper)

    def boxes(self, count, wild):
        domain, rng = self.domain, self.rng
        whole = (domain.upper - domain.lower)[:, None]
        width = whole * 10.0 ** rng.uniform(-9.0 if wild else -1.7, 0.0, (1, count))
        width = width * (rng.random((domain.dimension, count)) > 0.15)
        lower = domain.lower[:, None] + (whole - width) * rng.random(width.shape)
        upper = np.minimum(lower + width, domain.upper[:, None])
        if self.part is not None and wild:
            at = self.posterior.points[0] * self.posterior.x_scale + self.posterior.x_center
            at, reach = np.clip(at, domain.lower, domain.upper), 10.0 ** rng.uniform(-8.0, -1.0)
            lower[:, 0] = np.maximum(at - reach * rng.random(len(at)), domain.lower)
            upper[:, 0] = np.minimum(at + reach, domain.upper)
        return lower, upper

    def points(self, box, count=5):
        low, high = self.lower[:, box], self.upper[:, box]
        share = np.round(4.0 * self.rng.random((count, len(low)))) / 4.0
        return np.clip(low + (high - low) * share, low, high)

    @property
    def n_boxes(self):
        return self.lower.shape[1]


def wrong_forms(case):
    """How many lines or expansions of a unit are false at a point."""
    forms, wrong = case.bounded.forms, 0
    for box in range(case.n_boxes):
        along = exact(forms.along if forms.along.ndim == 2 else forms.along[box])
        for point in case.points(box):
            t = exact(point) - exact(case.bounded.center[:, box])
            h, step = exact_units(case.posterior, exact(point)), along @ t
            low = exact(forms.lower_value[box]) + exact(forms.lower_slope[box]) * step
            high = exact(forms.upper_value[box]) + exact(forms.upper_slope[box]) * step
            wrong += int((low > h).sum() + (h > high).sum())
            if case.units.is_smooth:
                bent = exact(forms.bend[box]) * step * step
                bent = bent + 2 * exact(forms.slope[box]) * (exact(forms.metric) @ (t * t))
                off = h - exact(forms.value[box]) - exact(forms.slope[box]) * step - bent / 2
                limit = exact(forms.third[box]) + exact(forms.error[box])
                wrong += int((np.abs(off) > limit).sum())
    return wrong


def wrong_sums(case):
    """How many planes of weighted sums are false at a point."""
    rng, rows, wrong = case.rng, case.rows, 0
    outer = np.vstack([rows._base, dense(rows._outer)])
    count = len(rows._offset) - 1
    shares = rng.normal(size=case.n_boxes) * 10.0 ** rng.uniform(-2.0, 2.0)
    weights = rng.normal(size=(case.n_boxes, count)) * 10.0 ** rng.uniform(-2.0, 4.0)
    zeros = np.zeros(case.n_boxes)
    planes = rows.carry(case.bounded, shares, weights, zeros, zeros, 0)
    for box in range(case.n_boxes):
        for point in case.points(box):
            x = exact(point)
            y = exact(rows._offset) + exact(rows._direct) @ x
            y = y + exact(outer) @ exact_units(case.posterior, x)
            value = Decimal(shares[box]) * y[0] + exact(weights[box]) @ y[1:]
            plane = Decimal(planes.constant[box]) + exact(planes.slopes[:, box]) @ x
            wrong += int(value > plane)
            wrong += int(plane > Decimal(planes.bound[box]) + Decimal("1e-12") * abs(plane))
    return wrong


def wrong_stds(case):
    """How many ends of the std, and sums that are to be above it, are false at a point."""
    if case.part is None:
        return 0
    spread, wrong = case.part.spread(case.bounded), 0
    signs = case.rng.choice([-1.0, 1.0], case.n_boxes)
    weights, constants = spread.above(signs)
    zeros = np.zeros(case.n_boxes)
    planes = case.rows.carry(case.bounded, zeros, weights, constants, zeros, 0)
    for box in range(case.n_boxes):
        for point in case.points(box, 3):
            own = Decimal(float(case.posterior.std(point[None])[0]))
            plane = Decimal(planes.constant[box]) + exact(planes.slopes[:, box]) @ exact(point)
            for std in (exact_moments(case.posterior, exact(point))[1], own):
                wrong += int(not Decimal(spread.low[box]) <= std <= Decimal(spread.high[box]))
                wrong += int(Decimal(signs[box]) * std > plane + PLOTTED * abs(plane))
    return wrong


def wrong_joint_sums(case):
    """How many sums of mean and std, relaxed together, are false at a point."""
    if case.part is None:
        return 0
    spread, wrong, rng = case.part.spread(case.bounded), 0, case.rng
    unit = case.posterior.reach / abs(case.posterior.y_scale)
    shares = 10.0 ** rng.uniform(-2.0, 1.0, case.n_boxes) * rng.choice([0.0, 1.0, 1.0])
    weights = rng.choice([-1.0, 1.0, 1.0], case.n_boxes) * 10.0 ** rng.uniform(-2.0, 2.0) / unit
    lines = LevelLines(shares, weights, np.zeros(case.n_boxes))
    planes = spread.carried(case.rows, case.bounded, lines, 0)
    for box in range(case.n_boxes):
        for point in case.points(box, 4):
            plane = Decimal(planes.constant[box]) + exact(planes.slopes[:, box]) @ exact(point)
            read = [float(one[0]) for one in case.posterior.moments(point[None])]
            for mean, std in (exact_moments(case.posterior, exact(point)), map(Decimal, read)):
                value = Decimal(shares[box]) * mean + Decimal(weights[box]) * std
                wrong += int(value > plane + PLOTTED * abs(plane))
                wrong += int(value > Decimal(planes.bound[box]))
    return wrong


@pytest.mark.parametrize("wild", [True, False])
def test_forms_sums_and_stds_contain_what_is_exact(wild):
    for seed in range(40):
        case = Case(seed, wild)
        assert case.rows.is_useful
        assert case.part is None or not case.part.why_not
        assert (wrong_forms(case), wrong_sums(case), wrong_stds(case)) == (0, 0, 0), seed
        assert not wrong_joint_sums(case), seed


def third_too_small(monkeypatch):
    spoil_forms(monkeypatch, lambda forms: replace(forms, third=0.2 * forms.third))


def lines_too_low(monkeypatch):
    spoil_forms(
        monkeypatch,
        lambda forms: replace(forms, upper_value=0.7 * forms.upper_value + 0.3 * forms.lower_value),
    )


def spoil_forms(monkeypatch, spoil):
    for kind in (KernelUnits, TanhUnits):
        honest = kind.forms
        monkeypatch.setattr(kind, "forms", lambda *args, honest=honest: spoil(honest(*args)))


def no_rounding(monkeypatch):
    monkeypatch.setattr(tanh_units, "TANH_ERROR", 0.0)
    monkeypatch.setattr(tanh_units, "gamma", lambda n: 0.0)
    monkeypatch.setattr(kernel_units, "UNIT_ROUNDOFF", 0.0)


def no_rounding_of_sums(monkeypatch):
    no_rounding(monkeypatch)
    monkeypatch.setattr(unit_relaxation, "gamma", lambda n: 0.0)


def curvature_forgotten(monkeypatch):
    monkeypatch.setattr(unit_relaxation, "largest_half", lambda *args: 0.5 * largest_half(*args))


def norm_too_small(monkeypatch):
    honest = KernelUnits.norms
    monkeypatch.setattr(KernelUnits, "norms", lambda self, w: 0.3 * honest(self, w))


def prior_too_stiff(monkeypatch):
    honest = KernelUnits.changes
    monkeypatch.setattr(
        KernelUnits, "changes", lambda self, r: tuple(0.1 * one for one in honest(self, r))
    )


def slopes_too_small(monkeypatch):
    spoil_bent(monkeypatch, lambda bent: replace(bent, across=0.1 * bent.across, along=0.0))


def squares_without_remainder(monkeypatch):
    spoil_bent(monkeypatch, lambda bent: replace(bent, by_sums=-3.0 * bent.by_sums))


def cubes_forgotten(monkeypatch):
    spoil_bent(monkeypatch, lambda bent: replace(bent, by_space=-bent.by_space))


def squares_too_large(monkeypatch):
    spoil_bent(monkeypatch, lambda bent: replace(bent, form=4.0 * bent.form))


def mean_too_short(monkeypatch):
    def spoil(bent):
        return replace(bent, parts=-3.0 * bent.remainder[:, None] * bent.norms)

    spoil_bent(monkeypatch, spoil)


def spoil_bent(monkeypatch, spoil):
    honest = PosteriorPart._bent
    monkeypatch.setattr(PosteriorPart, "_bent", lambda *args: spoil(honest(*args)))


FLAWS = [
    (third_too_small, wrong_forms, False),
    (lines_too_low, wrong_forms, False),
    (no_rounding, wrong_forms, True),
    (no_rounding_of_sums, wrong_sums, True),
    (curvature_forgotten, wrong_sums, False),
    (norm_too_small, wrong_sums, False),
    (prior_too_stiff, wrong_stds, False),
    (slopes_too_small, wrong_stds, False),
    (squares_without_remainder, wrong_joint_sums, False),
    (cubes_forgotten, wrong_joint_sums, False),
    (squares_too_large, wrong_joint_sums, False),
    (mean_too_short, wrong_joint_sums, False),
]


@pytest.mark.parametrize(
    ("flaw", "count", "wild"), FLAWS, ids=lambda one: getattr(one, "__name__", "")
)
def test_flaws_are_noticed(flaw, count, wild, monkeypatch):
    flaw(monkeypatch)
    assert any(count(Case(seed, wild)) for seed in range(60))


@pytest.mark.parametrize(("form", "nu"), KERNELS)
def test_profiles_and_their_derivatives(form, nu):
    profile = Profile(form, nu, 0.7)
    s = np.array([1e-4, 0.03, 0.4, 1.0, 3.7, 20.0])
    step = Decimal("1e-12")
    found = (profile.value(s), *profile.derivatives(s))
    for k, one in enumerate(s):
        p = [
            exact_profile(profile, Decimal(one) + j * step * Decimal(one))
            for j in (-2, -1, 0, 1, 2)
        ]
        unit = step * Decimal(one)
        first, second = (p[3] - p[1]) / (2 * unit), (p[3] - 2 * p[2] + p[1]) / unit**2
        third = (p[4] - 2 * p[3] + 2 * p[1] - p[0]) / (2 * unit**3)
        assert float(p[2]) == pytest.approx(found[0][k], rel=1e-14)
        assert [float(first), float(second)] == pytest.approx([found[1][k], found[2][k]], rel=1e-9)
        if profile.is_smooth:
            assert float(third) == pytest.approx(found[3][k], rel=1e-9)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k != ("matern", 0.5)])
@pytest.mark.parametrize("mixture", [0.2, 1.0, 30.0])
def test_no_third_derivative_is_steeper_than_the_steepest(kernel, mixture):
    """Along a line that passes a point at distance b, p(b^2 + x^2) is differentiated in x."""
    profile = Profile(*kernel, mixture)
    x, b = np.meshgrid(np.linspace(1e-3, 8.0, 900), np.linspace(0.0, 4.0, 60))
    _, second, third = profile.derivatives(x * x + b * b)
    steepest = np.abs(8.0 * third * x**3 + 12.0 * second * x).max()
    assert steepest <= profile.steepest_third
    if kernel[0] != "rational_quadratic":
        assert steepest > 0.98 * profile.steepest_third


def test_the_spectral_moments_are_derivatives_at_zero():
    """p(x^2) = 1 - m2 x^2 / 2 + m4 x^4 / 24 - m6 x^6 / 720 + …"""
    for profile in (Profile("rbf"), Profile("rational_quadratic", mixture=0.4)):
        fourth, sixth = profile.moments
        slopes = [float(one[0]) for one in profile.derivatives(np.zeros(1))]
        assert [12.0 * slopes[1], -120.0 * slopes[2]] == pytest.approx([fourth, sixth])
    fourth = Profile("matern", 2.5).moments[0]
    assert 12.0 * Profile("matern", 2.5).derivatives(np.zeros(1))[1][0] == pytest.approx(fourth)


@pytest.mark.parametrize("kernel", [("rbf", 2.5), ("matern", 1.5), ("matern", 2.5)])
def test_what_is_left_of_the_kernel_is_that_of_its_spectrum(kernel):
    """|e^ia - 1 - ia + …|^2 is integrated over the spectrum of the kernel along a line."""
    rng = np.random.default_rng(3)
    posterior = random_process(rng, 1, 2, kernel, 1e-3, 1.0)
    units = KernelUnits(posterior, Domain([-1.0], [1.0]))
    is_normal = kernel[0] == "rbf"
    density = stats.norm.pdf if is_normal else stats.t(2.0 * kernel[1]).pdf
    for step in (1e-3, 0.05, 0.3, 1.0, 3.0):
        radius = np.array([[step * posterior.length_scale[0] * posterior.x_scale[0]]])
        found = [float(one[0]) for one in units.changes(radius)]
        for order in range(3):

            def left(w, step=step, order=order):
                a = w * step
                terms = (1.0, 1.0 + 1j * a, 1.0 + 1j * a - 0.5 * a * a)
                return abs(np.exp(1j * a) - terms[order]) ** 2 * density(w)

            ends = np.concatenate([[0.0], np.geomspace(1e-3, 1e7, 60)])
            parts = [fixed_quad(left, *pair, n=200)[0] for pair in pairwise(ends)]
            exactly = 2.0 * float(np.sum(parts))
            if (kernel, order) == (("matern", 1.5), 2):  # the integral is infinite
                assert found[order] == np.inf
                continue
            assert np.sqrt(exactly) <= found[order] * (1.0 + 1e-6)
            assert found[order] <= 1.3 * np.sqrt(exactly) + 1e-6


def test_forms_of_second_order_are_bounded_over_boxes():
    rng = np.random.default_rng(0)
    for d in (1, 2, 3, 5):
        forms = rng.normal(size=(50, d, d))
        forms = forms + forms.transpose(0, 2, 1)
        forms[::2] -= 3.0 * np.eye(d)
        radius = 10.0 ** rng.uniform(-2.0, 1.0, (50, d))
        found = largest_half(radius[:, :, None] * forms * radius[:, None, :])
        corners = radius[:, None] * rng.choice([-1.0, 0.0, 1.0], (50, 400, d))
        values = 0.5 * np.einsum("bni,bij,bnj->bn", corners, forms, corners)
        assert (values <= found[:, None]).all()
        negative = np.linalg.eigvalsh(forms)[:, -1] < 0.0
        assert negative.any()
        assert np.allclose(found[negative], 0.0, atol=1e-9 * np.square(radius).max())


def test_a_posterior_without_noise_is_refused():
    rng = np.random.default_rng(1)
    posterior = random_process(rng, 2, 6, noise=1e-3)
    raised = replace(posterior, factor=posterior.factor * (1.0 - 1e-2))
    domain = Domain([-1.0, -1.0], [1.0, 1.0])
    for bad, reason in ((raised, "noise"), (replace(posterior, factor=np.diag([1e-200] * 6)), "")):
        part = PosteriorPart(bad, KernelUnits(bad, domain))
        assert reason in part.why_not
        assert part.why_not.endswith(".")
    assert not PosteriorPart(posterior, KernelUnits(posterior, domain)).why_not
    assert isinstance(posterior, ProcessPosterior)


@pytest.mark.parametrize("kernel", KERNELS)
def test_nothing_changes_at_a_point_however_rough_the_kernel_is(kernel):
    posterior = random_process(np.random.default_rng(0), 2, 3, kernel, 1e-3, 0.5, 1.0, False, None)
    units = KernelUnits(posterior, Domain(-np.ones(2), np.ones(2)))
    _, one, two = units.changes(np.zeros((2, 1)))
    assert (one[0], two[0]) == (0.0, 0.0)
