"""The maximum of a linear function on the sphere against dense grids, and its rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.spherical.ratios import Found, Ratios
from nnbo_mip.scores.posteriors.spherical import Sphere, SphericalPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.spherical.spheres import domain_of, many_points, random_posterior

EXACT = ("box", "far", "point", "integers", "categories")


def largest(posterior: SphericalPosterior, domain: Domain, weights: FloatArray) -> Found:
    ratios = Ratios(posterior.sphere, domain)
    none = np.zeros((1, len(domain.b)))
    return ratios.largest(weights[None, :], domain.lower[None, :], domain.upper[None, :], none)


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("seed", range(4))
def test_bound_and_point_are_those_of_a_dense_grid(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, EXACT.index(kind)])
    domain = domain_of(kind, rng)
    posterior = random_posterior(domain.dimension, rng)
    found = largest(posterior, domain, posterior.weights)
    assert domain.admissible(found.points).all()
    values = posterior.mean(many_points(domain, 25))
    reached = posterior.mean(found.points)[0]
    assert values.max() <= found.bound[0]
    assert reached >= values.max() - 1e-12
    assert 0.0 <= found.bound[0] - reached + 1e-15 < 1e-11


def exact_value(posterior: SphericalPosterior, x: FloatArray) -> Fraction:
    """Return the mean at a point (d,) in rational arithmetic."""
    z = [
        (Fraction(a) - Fraction(c)) * Fraction(r)
        for a, c, r in zip(
            x.tolist(), posterior.center.tolist(), posterior.rate.tolist(), strict=True
        )
    ]
    *u, v, b = map(Fraction, posterior.weights.tolist())
    q = sum(one * one for one in z)
    along = sum((2 * a * one for a, one in zip(u, z, strict=True)), Fraction(0))
    return (along + v * (q - 1)) / (1 + q) + b


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e12])
def test_the_bound_holds_in_rational_arithmetic_where_terms_cancel(offset: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(8):
        d = int(rng.integers(1, 6))
        posterior = random_posterior(d, rng)
        weights = posterior.weights * 10.0 ** rng.uniform(-8.0, 2.0, d + 2)
        weights[-1] += offset
        weights[-2] -= offset * rng.integers(0, 2)  # v + b nearly vanishes
        shifted = SphericalPosterior(
            posterior.center, posterior.rate, weights, posterior.root, 1.0, 1.0
        )
        domain = Domain([-1.0] * d, [1.0] * d)
        found = largest(shifted, domain, weights)
        points = np.vstack([found.points, rng.uniform(-1.0, 1.0, (5, d))])
        assert all(exact_value(shifted, x) <= Fraction(float(found.bound[0])) for x in points)


@pytest.mark.parametrize("d", [1000, 6392])
def test_thousands_of_inputs_close_to_rounding_and_nothing_is_higher(d: int) -> None:
    rng = np.random.default_rng(d)
    posterior = random_posterior(d, rng, m=2)
    posterior = SphericalPosterior(
        posterior.center,
        posterior.rate / np.sqrt(d),
        posterior.weights,
        posterior.root,
        posterior.slope_variance,
        posterior.level_variance,
    )
    domain = Domain([-1.0] * d, [1.0] * d)
    found = largest(posterior, domain, posterior.weights)
    best = posterior.mean(found.points)[0]
    assert found.bound[0] - best < 1e-8 * abs(best)
    flips = np.repeat(found.points, 200, axis=0)
    flips[np.arange(200), rng.integers(d, size=200)] = rng.uniform(-1.0, 1.0, 200)
    others = np.vstack([flips, rng.uniform(-1.0, 1.0, (200, d)), np.sign(flips)])
    assert posterior.mean(others).max() <= found.bound[0]
    assert exact_value(posterior, found.points[0]) <= Fraction(float(found.bound[0]))


def test_inputs_of_rate_zero_do_not_matter() -> None:
    sphere = Sphere(np.zeros(2), np.array([1.0, 0.0]))
    ratios = Ratios(sphere, Domain([-1.0, -1.0], [1.0, 1.0]))
    box = np.array([[-1.0, -1.0]]), np.array([[1.0, 1.0]])
    found = ratios.largest(np.array([[0.5, 3.0, 0.1, 0.2]]), *box, np.zeros((1, 0)))
    # 2 u z / (1 + z^2) at most u; the best of one input.
    z = np.linspace(-1.0, 1.0, 100_001)
    values = (z + 0.1 * (z**2 - 1.0)) / (1.0 + z**2) + 0.2
    assert found.bound[0] == pytest.approx(values.max(), abs=1e-9)


@pytest.mark.parametrize("kind", ["rows", "equality"])
def test_any_multipliers_bound_what_satisfies_the_rows(kind: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        domain = domain_of(kind, rng)
        posterior = random_posterior(2, rng)
        points = many_points(domain, 41)
        if not len(points):
            continue
        ratios = Ratios(posterior.sphere, domain)
        multipliers = rng.exponential(1.0, (30, 2)) * rng.integers(0, 2, (30, 2))
        ends = (np.repeat(end[None, :], 30, axis=0) for end in (domain.lower, domain.upper))
        found = ratios.largest(posterior.weights[None, :], *ends, multipliers)
        assert posterior.mean(points).max() <= found.bound.min()
