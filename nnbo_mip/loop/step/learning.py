"""Learning from a sample, with the deviations that were told where a family weighs them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.step.training_set import TrainingSet
from nnbo_mip.surrogates.base.abstract import Belief, Surrogate

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
        Deviations of the values; NaN where none was told, which counts as zero.
    """
    if not surrogate.weighs_noise:
        return surrogate.fit(X, y)
    # Never `fit`, which may look for a noise: that is done once a step, of values as they are.
    return surrogate.fit_with_noise(X, y, 0.0 if noise is None else np.nan_to_num(noise))


def seeded(options: T, seed: int) -> T:
    """Return option objects with a seed, if they have one."""
    made: Any = options
    return replace(made, seed=seed) if hasattr(options, "seed") else options
