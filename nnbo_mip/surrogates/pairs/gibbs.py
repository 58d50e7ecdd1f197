r"""Which terms matter, and how much: a Gibbs chain over weights of which most are exactly zero.

With centered columns c_j and values y in units of their spread,

    y = sum_j w_j c_j + e,             e ~ N(0, s2),     s2 ~ IG(1, NOISE)
    w_j = 0 with probability 1 - p,    else w_j ~ N(0, v),    v ~ IG(SHAPE, SLAB (SHAPE - 1))
    p ~ Beta(1, 1) for single terms, and Beta(1, P) for P products, of which one is expected.

p and v are of their own for single terms and for products. One weight after the other is drawn
given the rest: with precision q = |c_j|^2 / s2 + 1 / v and mean m = c_j . r / (s2 q), r the
residual without it, the odds that it is not zero are p / (1 - p) exp(q m^2 / 2) / sqrt(v q).

References
----------
Geweke (1996), weights drawn one at a time, zero or not [Geweke1996].
George and McCulloch (1993), variables chosen by a Gibbs chain [GeorgeMcCulloch1993].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.surrogates.pairs.gibbs_kernel import sweep
from nnbo_mip.surrogates.pairs.terms import Terms

NOISE, SLAB, SHAPE = 0.005, 0.05, 5.0
"""Scale of the prior of s2, mean and shape of that of v, in units of the variance of the values."""

WARM_UP, THINNING = 200, 4
"""Sweeps before the first state that is kept, and from one to the next."""

LEAST_SHARE = 1e-9
"""p and 1 - p at least, so that the logarithm of their odds is a number."""


@dataclass(frozen=True, eq=False)
class Chain:
    """States that were kept.

    Parameters
    ----------
    weights : (M, p) array
    noise : (M,) array
        s2.
    """

    weights: FloatArray
    noise: FloatArray


def sampled(terms: Terms, y: FloatArray, keep: int, seed: int) -> Chain:
    """Return `keep` states of a chain.

    Parameters
    ----------
    terms : Terms
    y : (n,) array
        Centered values, of a variance of about 1.
    keep : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    p, n = terms.columns.shape
    products = terms.is_product
    norms = np.square(terms.columns).sum(axis=1)
    weights, residual = np.zeros(p), y.copy()
    noise, slabs = 0.5, np.full(2, SLAB)
    shares = np.full(2, 0.5 / max(1, p))
    against = (1.0, max(1.0, float(products.sum())))
    kept, noises = np.empty((keep, p)), np.empty(keep)
    kind = products.astype(np.int64)
    for step in range(WARM_UP + THINNING * keep):
        sweep(
            *(terms.columns, norms, weights, residual, noise),
            *(np.log(shares / (1.0 - shares))[kind], slabs[kind]),
            *(rng.permutation(p), rng.random(p), rng.standard_normal(p)),
        )
        noise = (NOISE + 0.5 * float(residual @ residual)) / rng.gamma(1.0 + 0.5 * n)
        for which, mine in enumerate((~products, products)):
            slabs[which], shares[which] = _prior(weights[mine], against[which], rng)
        index = step - WARM_UP
        if index >= 0 and index % THINNING == 0:
            kept[index // THINNING], noises[index // THINNING] = weights, noise
    return Chain(kept, noises)


def _prior(weights: FloatArray, against: float, rng: np.random.Generator) -> tuple[float, float]:
    """Draw the variance of weights that are not zero, and their share."""
    used: BoolArray = weights != 0.0
    count = int(used.sum())
    slab = (SLAB * (SHAPE - 1.0) + 0.5 * float(weights @ weights)) / rng.gamma(SHAPE + 0.5 * count)
    share = rng.beta(1.0 + count, against + len(weights) - count)
    return slab, float(np.clip(share, LEAST_SHARE, 1.0 - LEAST_SHARE))
