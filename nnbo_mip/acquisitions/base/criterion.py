"""Criteria that choose the next point themselves: there is no score to maximize."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.context import Context
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates.base.abstract import Belief


@dataclass(frozen=True, eq=False)
class Choice:
    """A point that was chosen.

    Parameters
    ----------
    x : (d,) array
        Admissible.
    value : float
        What the criterion made largest, for the record; of other criteria it says nothing.
    evaluations : int
        How often that was computed.
    """

    x: FloatArray
    value: float
    evaluations: int


class Criterion(Acquisition):
    """A frozen dataclass of options that chooses a point of a domain.

    Notes
    -----
    Maximizers that score points have no part in it, and nothing is proven. An implementation
    gives `needs` and `choose`, and stays within exclusions, rows and grids by `Domain.repair`.
    """

    proposes: ClassVar[bool] = True

    @abc.abstractmethod
    def choose(
        self, belief: Belief, domain: Domain, context: Context, rng: np.random.Generator
    ) -> Choice | None:
        """Return the next point; None where no admissible one was found."""

    def head(self, belief: Belief, context: Context) -> Head:
        """Refuse: there is no score."""
        raise UnsupportedError(
            f"{self.name} chooses a point and scores none; take nm.maximize or a run, or an "
            'acquisition with a score, such as "ei".'
        )


def candidates(domain: Domain, count: int, rng: np.random.Generator) -> FloatArray:
    """Return up to so many admissible points (n, d); perhaps none."""
    try:
        return domain.sample(count, rng)
    except InputError:  # none was found
        near = domain.repair(0.5 * domain.lower + 0.5 * domain.upper)
        return np.empty((0, domain.dimension)) if near is None else near[None, :]
