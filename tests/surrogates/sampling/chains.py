"""Chains of a fixed density, which the package's own steps are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.sampling.energy import Energy
from nnbo_mip.surrogates.sampling.hmc import HybridMonteCarlo

Conditional = Callable[[FloatArray, np.random.Generator], FloatArray]
"""The state (C, P) to new values (C,) of one coordinate, drawn given the others."""


def gibbs(
    conditionals: Sequence[Conditional],
    start: FloatArray,
    n_draws: int,
    rng: np.random.Generator,
    burn_in: int = 0,
) -> FloatArray:
    """Return draws (n_draws, C, P).

    Parameters
    ----------
    conditionals : sequence of callables
        One a coordinate; each sees the new values of those before it.
    start : (C, P) array
        First positions.
    n_draws : int
        Sweeps that are returned.
    rng : numpy.random.Generator
        Source of the draws.
    burn_in : int
        Sweeps before the first draw.
    """
    position = start.copy()
    draws = np.empty((n_draws, *start.shape))
    for index in range(-burn_in, n_draws):
        for coordinate, conditional in enumerate(conditionals):
            position[:, coordinate] = conditional(position, rng)
        if index >= 0:
            draws[index] = position
    return draws


def metropolis(
    energy: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    deviation: float,
    n_draws: int,
    rng: np.random.Generator,
    burn_in: int = 0,
) -> tuple[FloatArray, float]:
    """Walk at random: a Gaussian step, accepted with min(1, exp(E - E')).

    Returns draws (n_draws, C, P) and the part of the proposals that was accepted.

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


def sample_hmc(
    energy: Energy, chains: HybridMonteCarlo, burn_in: int, n_draws: int, freeze: bool = True
) -> tuple[FloatArray, float]:
    """Return draws (n_draws, C, P) of a fixed density and the mean acceptance after burn-in.

    Parameters
    ----------
    energy : callable
        See `Energy`.
    chains : HybridMonteCarlo
        Advanced in place.
    burn_in, n_draws : int
        Transitions before the first draw, and draws.
    freeze : bool
        Whether the step size stays as it is after burn-in.
    """
    for _ in range(burn_in):
        chains.advance(energy)
    draws = np.empty((n_draws, *chains.position.shape))
    accepted = 0.0
    for index in range(n_draws):
        accepted += float(chains.advance(energy, adapt=not freeze).mean())
        draws[index] = chains.position
    return draws, accepted / n_draws
