r"""Which inputs matter, by the model: the share of its variance in which each input has a part.

With A and B independent uniform points of the box, and A_j the point A with input j of B, the total
effect of input j is

    T_j = E[(f(A) - f(A_j))^2] / (2 Var f),

the part of the variance of the model's mean f that would be left if all other inputs were known.
Inputs that work together share what they do together, so that the sum may exceed 1. Linear
constraints are left out: f is defined beyond them.

References
----------
Jansen (1999), the estimator of total effects [Jansen1999].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.seen.side import Side
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates.base.abstract import Belief

SAMPLES = 512
EVALUATIONS = 60_000
"""Points at which a model is read, at most."""


def total_effects(belief: Belief, domain: Domain, sides: list[Side]) -> FloatArray:
    """Return T (d,) of the inputs; zeros where the mean is constant.

    Parameters
    ----------
    belief : Belief
        With a mean.
    domain : Domain
        Of model coordinates.
    sides : list of Side
    """
    n = int(np.clip(EVALUATIONS // (len(sides) + 2), 16, SAMPLES))
    rng = np.random.default_rng(0)
    free = Domain(domain.lower, domain.upper, domain.grids, domain.one_hot)
    A, B = free.sample(n, rng), free.sample(n, rng)
    at_a, at_b = (belief.mean(domain.held(points)) for points in (A, B))
    variance = float(np.var(np.concatenate([at_a, at_b])))
    if not variance > 0.0:
        return np.zeros(len(sides))
    effects = []
    for side in sides:
        mixed = A.copy()
        mixed[:, side.columns] = B[:, side.columns]
        change = at_a - belief.mean(domain.held(mixed))
        effects.append(float(np.mean(np.square(change))) / (2.0 * variance))
    return np.array(effects)
