"""Random posteriors of tanh units and Gaussian processes, and their exact values in 60 digits."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from scipy.linalg import cho_solve

from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.scores.posteriors.tanh import TanhFeatures, TanhMembers

KERNELS = (
    ("rbf", 2.5),
    ("matern", 0.5),
    ("matern", 1.5),
    ("matern", 2.5),
    ("rational_quadratic", 2.5),
)
TANH = ("std", "variance", "noisy", "features")


def random_process(
    rng, d, n, kernel=("rbf", 2.5), noise=1e-5, length=0.5, amplitude=1.0, repeated=False, near=None
):
    points = rng.uniform(-1.0, 1.5, (n, d))
    if near is not None:  # a run has gathered most of them round an optimum
        points[1:] = points[0] + near * rng.normal(size=(n - 1, d))
    if repeated:
        points[n // 2 :] = points[: n - n // 2]
    lengths = length * 10.0 ** rng.uniform(-0.3, 0.3, d)
    form, nu = kernel
    mixture = float(10.0 ** rng.uniform(-1.0, 1.0))
    shapes = (lengths, np.zeros(d), np.ones(d), form, nu, mixture, amplitude)
    prior = ProcessPosterior(points, np.eye(n), np.zeros(n), *shapes)
    gram = amplitude * prior.profile.value(prior._distances(points))
    factor = np.linalg.cholesky(gram + noise * amplitude * np.eye(n))
    values = np.sin(3.0 * points).sum(axis=1) + 0.1 * rng.normal(size=n)
    center, scale = 0.2 * rng.normal(size=d), rng.uniform(0.5, 2.0, d)
    y_scale, reach = 10.0 ** rng.uniform(-1.0, 1.0, 2)
    return ProcessPosterior(
        points, factor, cho_solve((factor, True), values), lengths, center, scale,
        form, nu, mixture, amplitude, float(rng.normal()), float(y_scale), float(reach),
    )  # fmt: skip


def random_tanh(kind, rng, d, hidden=None, steepness=None):
    h = int(rng.integers(1, 12)) if hidden is None else hidden
    size = 10.0 ** rng.uniform(-1.0, 2.0) if steepness is None else steepness
    inner, bias = size * rng.normal(size=(h, d)), size * rng.normal(size=h)
    if kind == "features":
        link = rng.random() < 0.5
        k = h + d if link else h
        weights = rng.normal(size=k)
        hidden_part = np.vstack([np.eye(h), np.zeros((k - h, h))])
        linked = np.vstack([np.zeros((h, d)), np.eye(d)]) if link else np.zeros((h, d))
        outer, direct = (np.vstack([weights @ part, part]) for part in (hidden_part, linked))
        root = rng.normal(size=(int(rng.integers(1, k + 1)), k))
        noise = float(rng.choice([0.0, 0.3]))
        return TanhFeatures(inner, bias, outer, direct, np.zeros(k + 1), root, noise)
    m = int(rng.integers(2, 5))
    rows = np.vstack([np.full((1, m), 1.0 / m), np.eye(m)])
    outer = rows @ rng.normal(size=(m, h)) / np.sqrt(h)
    direct, offset = rows @ rng.normal(size=(m, d)) * rng.choice([0, 1]), rows @ rng.normal(size=m)
    spread, noise = ("variance" if kind == "variance" else "std"), 0.2 * (kind == "noisy")
    return TanhMembers(inner, bias, outer, direct, offset, spread, 1.3, noise)


def exact(values):
    """The numbers themselves, as decimals."""
    return np.vectorize(Decimal, otypes=[object])(np.asarray(values, dtype=np.float64))


def exact_units(posterior, point):
    """tanh of the hidden units, or correlations, at one point of decimals: (U,)."""
    if isinstance(posterior, ProcessPosterior):
        u = (point - exact(posterior.x_center)) / exact(posterior.x_scale)
        off = (u - exact(posterior.points)) / exact(posterior.length_scale)
        return np.array([exact_profile(posterior.profile, s) for s in (off * off).sum(axis=1)])
    z = exact(posterior.inner) @ point + exact(posterior.bias)
    falls = [(-2 * abs(one)).exp() for one in z]
    signed = [((1 - e) / (1 + e)).copy_sign(one) for e, one in zip(falls, z, strict=True)]
    return np.array(signed, dtype=object)


def exact_profile(profile, s):
    if profile.form == "rbf":
        return (-s / 2).exp()
    if profile.form == "rational_quadratic":
        m = Decimal(profile.mixture)
        return (-m * (1 + s / (2 * m)).ln()).exp()
    z = (2 * Decimal(profile.nu) * s).sqrt()
    sums = {0.5: Decimal(1), 1.5: 1 + z, 2.5: 1 + z + z * z / 3}
    return sums[profile.nu] * (-z).exp()


def exact_moments(posterior, point):
    """Mean and std of a Gaussian process at one point of decimals."""
    k = Decimal(posterior.amplitude) * exact_units(posterior, point)
    factor, whitened = exact(posterior.factor), []
    for row, value in zip(factor, k, strict=True):
        done = len(whitened)
        whitened.append((value - sum(row[:done] * np.array(whitened, dtype=object))) / row[done])
    variance = Decimal(posterior.amplitude) - sum(one * one for one in whitened)
    mean = Decimal(posterior.y_center) + Decimal(posterior.y_scale) * (k @ exact(posterior.weights))
    return mean, Decimal(posterior.reach) * max(variance, Decimal(0)).sqrt()
