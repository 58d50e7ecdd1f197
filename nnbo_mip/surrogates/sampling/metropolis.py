"""Random-walk Metropolis: a Gaussian step, accepted with min(1, exp(E - E')).

References
----------
Metropolis et al. (1953), the sampler [Metropolis1953].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nnbo_mip.core.arrays import FloatArray


def metropolis(
    energy: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    deviation: float,
    n_draws: int,
    rng: np.random.Generator,
    burn_in: int = 0,
) -> tuple[FloatArray, float]:
    """Return draws (n_draws, C, P) and the part of the proposals that was accepted.

    Parameters
    ----------
    energy : callable
        Positions (C, P) to energies (C,).
    start : (C, P) array
        First positions.
    deviation : float
        Standard deviation of a step in each coordinate.
    n_draws : int
        Draws that are returned; a rejected step repeats the position.
    rng : numpy.random.Generator
        Source of the steps.
    burn_in : int
        Steps before the first draw.
    """
    position, value = start.copy(), energy(start)
    draws = np.empty((n_draws, *start.shape))
    accepted = 0
    for index in range(-burn_in, n_draws):
        proposal = position + deviation * rng.standard_normal(position.shape)
        proposed = energy(proposal)
        moves = np.log(rng.random(len(position))) < value - proposed
        position = np.where(moves[:, None], proposal, position)
        value = np.where(moves, proposed, value)
        if index >= 0:
            draws[index] = position
            accepted += int(moves.sum())
    return draws, accepted / (n_draws * len(start))
