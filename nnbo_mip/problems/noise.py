"""What an observation adds to the value of a function, and the wrapper `noisy`.

The noise of a point is a function of one uniform number. That number comes from the
generator a caller passes, or else from the seed and the bits of the point alone, so that a
run that is killed and started again, or run in another order, sees the same observations.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_finite, as_whole
from nnbo_mip.core.errors import InputError

if TYPE_CHECKING:
    from nnbo_mip.problems.problem import Problem

Seed: TypeAlias = int | np.random.Generator | None

HALF_STEP = 2.0**-54
"""Uniform numbers are multiples of 2**-53; moved by half of it they are never 0 or 1."""


@dataclass(frozen=True)
class Noise(abc.ABC):
    """Noise that depends on the point and one uniform number.

    Parameters
    ----------
    seed : int
        Which noise belongs to the points; at least 0.
    """

    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", _checked_seed(self.seed))

    @abc.abstractmethod
    def spoiled(self, X: FloatArray, y: FloatArray, share: FloatArray) -> FloatArray:
        """Return the observations (n,) of values y at raw coordinates X (n, k).

        `share` (n,) is uniform in (0, 1).
        """

    def added(self, X: FloatArray, y: FloatArray, seed: Seed) -> FloatArray:
        """Return observations (n,): fresh ones, or with None those that belong to the points."""
        if seed is None:
            share = np.array([self._of_point(x) for x in X], dtype=np.float64)
        elif isinstance(seed, np.random.Generator):
            share = seed.random(len(X))
        else:
            share = np.random.default_rng(_checked_seed(seed)).random(len(X))
        return self.spoiled(X, y, share + HALF_STEP)

    def _of_point(self, x: FloatArray) -> float:
        bits = np.ascontiguousarray(x + 0.0).view(np.uint32)  # + 0.0: one zero, not two
        return float(np.random.default_rng([self.seed, *bits.tolist()]).random())


@dataclass(frozen=True)
class GaussianNoise(Noise):
    """Normal noise of the same size everywhere.

    Parameters
    ----------
    seed : int
        As in `Noise`.
    sd : float
        Standard deviation in units of y, above 0.
    """

    sd: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        sd = as_finite(self.sd, "sd of the noise")
        if sd <= 0.0:
            raise InputError(f"sd of the noise must be > 0; got {sd}; leave the noise out for 0.")
        object.__setattr__(self, "sd", sd)

    def spoiled(self, X: FloatArray, y: FloatArray, share: FloatArray) -> FloatArray:
        """Return ``y + sd * Phi^-1(share)``."""
        from scipy.special import ndtri

        draws: FloatArray = ndtri(share)
        return y + self.sd * draws


def noisy(problem: object, sd: float, seed: int = 0) -> Problem:
    """Return a problem whose observations carry normal noise; optimum and regret do not.

    Parameters
    ----------
    problem : Problem, str or mapping
        What `create` takes.
    sd : float
        Standard deviation in units of y.
    seed : int
        Which noise belongs to the points.
    """
    from nnbo_mip.problems.catalogue import registry

    inner = registry.create(problem)
    if inner.noise is not None:
        raise InputError(
            f"a problem carries one noise; {inner.name!r} has {inner.noise}; wrap one without."
        )
    noise = GaussianNoise(seed=seed, sd=sd)
    return replace(
        inner,
        name=f"{inner.name}, noise {noise.sd:g}",
        optimizers=inner.known_optimizers,
        noise=noise,
    )


def _checked_seed(seed: object) -> int:
    number = as_whole(seed, "a seed of noise")
    if number < 0:
        raise InputError(f"a seed of noise must be >= 0; got {number}; choose another.")
    return number
