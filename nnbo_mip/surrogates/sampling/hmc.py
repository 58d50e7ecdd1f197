r"""Hybrid (Hamiltonian) Monte Carlo with a step size that follows the acceptance.

A transition draws a momentum p ~ N(0, I) and follows the dynamics of H = E(q) + p.p / 2 by
L leapfrog steps of size e,

    p <- p - (e/2) grad E(q),   q <- q + e p,   p <- p - (e/2) grad E(q),

then moves with probability min(1, exp(H - H')) and else stays.

The step size is multiplied by `increase` where the moving average of the acceptance is above
the target, else by `decrease`, within limits; the average then takes in the acceptance of
this transition. As long as it changes, the chain is not exactly that of the density, which is
why `advance` can be told to leave it alone.

References
----------
Duane et al. (1987), hybrid Monte Carlo [Duane1987].
Neal (2011), leapfrog steps [Neal2011].
Metropolis et al. (1953), acceptance [Metropolis1953].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.sampling.energy import Energy


@dataclass(frozen=True)
class StepRule:
    """How the step size follows the acceptance.

    Parameters
    ----------
    target : float
        Acceptance that is aimed at, between 0 and 1.
    increase, decrease : float
        Factors of the step size.
    smallest, largest : float
        Limits of the step size.
    memory : float
        Weight of the past in the moving average of the acceptance.
    """

    target: float = 0.9
    increase: float = 1.02
    decrease: float = 0.98
    smallest: float = 1e-5
    largest: float = 0.25
    memory: float = 0.9

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_number("target", self.target, above=0.0, below=1.0)
        check_number("increase", self.increase, above=1.0)
        check_number("decrease", self.decrease, above=0.0, below=1.0)
        check_number("smallest", self.smallest, above=0.0)
        check_number("largest", self.largest, above=0.0)
        check_number("memory", self.memory, least=0.0, below=1.0)
        if self.smallest > self.largest:
            raise InputError(
                f"the smallest step must not exceed the largest; got {self.smallest!r} and "
                f"{self.largest!r}; exchange them."
            )

    def next_step(self, step: float, average: float) -> float:
        """Return the step size after a transition, by the average before it."""
        factor = self.increase if average > self.target else self.decrease
        return min(max(step * factor, self.smallest), self.largest)

    def next_average(self, average: float, acceptance: float) -> float:
        """Return the moving average with one more acceptance."""
        return self.memory * average + (1.0 - self.memory) * acceptance


def leapfrog(
    energy: Energy,
    position: FloatArray,
    momentum: FloatArray,
    gradient: FloatArray,
    step: float,
    n_steps: int,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Follow the dynamics; return position, momentum, energies (C,) and gradient at the end.

    Parameters
    ----------
    energy : callable
        See `Energy`.
    position, momentum, gradient : (C, P) arrays
        Where the chains start, and the gradient of the energy there.
    step : float
        Step size.
    n_steps : int
        How many steps, at least one.
    """
    momentum = momentum - 0.5 * step * gradient
    for index in range(n_steps):
        position = position + step * momentum
        value, gradient = energy(position)
        # Two half steps of the momentum meet between two steps of the position.
        momentum = momentum - (step if index < n_steps - 1 else 0.5 * step) * gradient
    return position, momentum, value, gradient


class HybridMonteCarlo:
    """C chains that advance together with one step size.

    Parameters
    ----------
    start : (C, P) array
        First positions.
    rng : numpy.random.Generator
        Source of momenta and decisions.
    n_leapfrog : int
        Steps of a transition.
    step : float
        First step size.
    rule : StepRule
        How it follows the acceptance.
    """

    def __init__(
        self,
        start: FloatArray,
        rng: np.random.Generator,
        n_leapfrog: int = 20,
        step: float = 0.01,
        rule: StepRule | None = None,
    ) -> None:
        self.position = start.copy()
        self.step = step
        self.rule = rule or StepRule()
        self.average = self.rule.target
        self._rng = rng
        self._n_leapfrog = n_leapfrog

    def advance(self, energy: Energy, adapt: bool = True) -> FloatArray:
        """Make one transition; return the probabilities (C,) with which chains moved.

        Parameters
        ----------
        energy : callable
            See `Energy`; it may differ from that of the last transition.
        adapt : bool
            Whether the step size follows the acceptance.
        """
        momentum = self._rng.standard_normal(self.position.shape)
        with np.errstate(over="ignore", invalid="ignore"):  # a step that is too large diverges
            before, gradient = energy(self.position)
            before = before + 0.5 * np.square(momentum).sum(axis=1)
            position, momentum, after, _ = leapfrog(
                energy, self.position, momentum, gradient, self.step, self._n_leapfrog
            )
            change = before - (after + 0.5 * np.square(momentum).sum(axis=1))
        change = np.where(np.isfinite(change), np.minimum(change, 0.0), -np.inf)
        moves = np.log(self._rng.random(len(change))) < change
        self.position = np.where(moves[:, None], position, self.position)
        acceptance = np.exp(change)
        if adapt:
            self.step = self.rule.next_step(self.step, self.average)
            self.average = self.rule.next_average(self.average, float(acceptance.mean()))
        return np.asarray(acceptance)
