"""`TrainingSet`: what a model learns from, made of what was told; and the fit.

Values are turned so that larger is better, here and nowhere else. A failed evaluation counts as the
worst value that was told, less a hair where all are equal, so that the model expects little around
it; the value is chosen anew at each step, as worse ones come in. At most so many observations are
fitted: half of them the best ones, the others those that are farthest from all that were chosen
before them, so that the fit takes a bounded time however many were told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray, IntArray
from nnbo_mip.loop.record.events import Observation
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.step.repeats import deviations_by_point
from nnbo_mip.loop.warps.warping import LARGEST, Inward, Outward, Warp, as_floats, divided, in_units
from nnbo_mip.surrogates.base.abstract import Belief, Surrogate

HAIR = 1e-3
"""Part of their size by which failures are worse than values that are all equal."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Points in model coordinates and their values, larger is better.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
        Finite; failures have a value.
    noise : (n,) array or None
        Standard deviations of the values from the function as models see them, NaN where none
        was told; None where none was at all.
    deviations : (m,) array or None
        Those that were told, in the units of good values as models see them; None where none was.
    told : (n,) bool array
        False for failures.
    inward : callable
        Values in the units that were told, larger is better, as a model sees them.
    outward : callable
        Values as a model sees them, in the units that were told; larger is better.
    learned : float
        A deviation that was learned from the values, in the units that were told; 0 for none.
    exponent : int
        Of the power of two in which models count values beyond the best one.
    """

    X: FloatArray
    y: FloatArray
    noise: FloatArray | None
    deviations: FloatArray | None
    told: BoolArray
    inward: Inward = as_floats
    outward: Outward = as_floats
    learned: float = 0.0
    exponent: int = 0

    @staticmethod
    def of(observations: tuple[Observation, ...], dimension: int, sign: float) -> TrainingSet:
        """Make the sample of some observations; `sign` is -1 where small values are wanted."""
        told = np.array([not one.failed for one in observations], dtype=np.bool_)
        X = np.array([one.z for one in observations]).reshape(len(observations), dimension)
        y = np.array([sign * one.y if one.y is not None else np.nan for one in observations])
        if told.any():
            y[~told] = value_of_failures(y[told])
        noise = np.array([np.nan if one.noise is None else one.noise for one in observations])
        known = noise[~np.isnan(noise)]
        return TrainingSet(X, y, noise if len(known) else None, known if len(known) else None, told)

    def warped(self, warp: Warp, in_unit: bool = True) -> TrainingSet:
        """Return the sample as models are to see it, deviations bent as the values are.

        Parameters
        ----------
        warp : Warp
        in_unit : bool
            Whether values that are very large or very small are counted in a unit (`units`).
        """
        noise, deviations = self.noise, self.deviations
        seen = warp.learn(self.y, self.typical_deviation)
        if in_unit:
            seen = in_units(seen)
        if noise is not None:
            noise = 0.5 * (seen.inward(self.y + noise) - seen.inward(self.y - noise))
        if deviations is not None and seen.exponent:
            deviations = divided(deviations, seen.exponent)
        return replace(
            self,
            y=seen.values,
            noise=noise,
            deviations=deviations,
            inward=seen.inward,
            outward=seen.outward,
            exponent=seen.exponent,
        )

    def with_noise(self, deviation: float) -> TrainingSet:
        """Return the sample with this deviation of values, others where repeats say so.

        A failure has none.
        """
        noise = np.full(len(self.y), np.nan)
        noise[self.told] = deviations_by_point(self.X[self.told], self.y[self.told], deviation)
        return replace(self, noise=noise, deviations=noise[self.told], learned=deviation)

    @property
    def typical_deviation(self) -> float:
        """The median of the deviations; 0 where none is known."""
        return 0.0 if self.deviations is None else float(np.median(self.deviations))

    @property
    def is_noisy(self) -> bool:
        """Whether a value has a deviation above zero."""
        return self.deviations is not None and bool(self.deviations.any())

    @property
    def can_be_fitted(self) -> bool:
        """Whether there is a value at all."""
        return bool(self.told.any())

    def value_inward(self, value: float, sign: float) -> float:
        """Return a value in the user's units and direction as models see it."""
        return float(self.inward([sign * value])[0])

    def equals(self, other: TrainingSet) -> bool:
        """Whether another sample has the same points, values and deviations."""
        pairs = ((self.X, other.X), (self.y, other.y), (self._noise, other._noise))
        return all(np.array_equal(one, two, equal_nan=True) for one, two in pairs)

    @property
    def _noise(self) -> FloatArray:
        return np.full(len(self.y), np.nan) if self.noise is None else self.noise

    def best(self, n: int) -> FloatArray:
        """Return the n best points, the best first."""
        return np.asarray(self.X[np.argsort(-self.y, kind="stable")[:n]])

    def fitted(self, most: int) -> TrainingSet:
        """Return at most so many observations, in their order."""
        if len(self.y) <= most:
            return self
        kept = np.sort(best_and_spread(self.X, self.y, most))
        noise = None if self.noise is None else self.noise[kept]
        return replace(self, X=self.X[kept], y=self.y[kept], noise=noise, told=self.told[kept])


def value_of_failures(y: FloatArray) -> float:
    """Return what a failure counts as, given the values (n,) that were told."""
    worst, best = float(y.min()), float(y.max())
    if worst < best:
        return worst
    return max(worst - HAIR * max(1.0, abs(worst)), -LARGEST)


def best_and_spread(X: FloatArray, y: FloatArray, most: int) -> IntArray:
    """Return the indices of `most` points (n, d): the best half, then the farthest of the rest."""
    chosen = np.argsort(-y, kind="stable")[: most // 2].tolist()
    distance = np.full(len(X), np.inf)
    for index in chosen:
        distance = np.minimum(distance, np.square(X - X[index]).sum(axis=1))
    distance[chosen] = -1.0  # a repeated point may be chosen, but none twice
    while len(chosen) < most:
        farthest = int(distance.argmax())
        chosen.append(farthest)
        distance = np.minimum(distance, np.square(X - X[farthest]).sum(axis=1))
        distance[farthest] = -1.0
    return np.array(chosen)


T = TypeVar("T")


def as_models_see(sample: TrainingSet, settings: Settings, seed: int) -> TrainingSet:
    """Return values as models are to see them, with a noise that is learned where none was told.

    Parameters
    ----------
    sample : TrainingSet
        With at least one value, in the units that were told.
    settings : Settings
    seed : int
        Of what looks for a noise.
    """
    if sample.noise is None:
        surrogate = seeded(settings.learner, seed).converted(lambda value: settings.sign * value)
        deviation = surrogate.noise_in(sample.X[sample.told], sample.y[sample.told])
        sample = sample.with_noise(deviation) if deviation > 0.0 else sample
    return sample.warped(settings.warp, in_unit=not settings.speaks_of_y)


def learned(surrogate: Surrogate, X: FloatArray, y: FloatArray, noise: FloatArray | None) -> Belief:
    """Fit a surrogate.

    Parameters
    ----------
    surrogate : Surrogate
    X, y : (n, d) and (n,) arrays
        Points and values, larger is better.
    noise : (n,) array or None
        Standard deviations of the values; NaN where none was told, which counts as zero.
    """
    if not surrogate.weighs_noise:
        return surrogate.fit(X, y)
    # Never `fit`, which may look for a noise: that is done once a step, of values as they are.
    return surrogate.fit_with_noise(X, y, 0.0 if noise is None else np.nan_to_num(noise))


def seeded(options: T, seed: int) -> T:
    """Return option objects with a seed, if they have one."""
    made: Any = options
    return replace(made, seed=seed) if hasattr(options, "seed") else options
