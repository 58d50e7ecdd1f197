"""The best point of a run: where values are noisy, that of the best mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.core.errors import TrainingError
from nnbo_mip.loop.record.events import Observation
from nnbo_mip.loop.settings.settings import Purpose, Settings, seed_for
from nnbo_mip.loop.step.training_set import TrainingSet, as_models_see, learned, seeded
from nnbo_mip.surrogates.base.abstract import Capability


@dataclass(frozen=True, eq=False)
class Recommendation:
    """An evaluated point, and what is expected there.

    Parameters
    ----------
    observation : Observation
        The point and what was told of it.
    y : float
        The value that was told or, where values are noisy, the mean of the model, in the user's
        units.
    noise : float
        Typical deviation of a value, told or learned; 0 where none is known.
    """

    observation: Observation
    y: float
    noise: float = 0.0

    @property
    def x(self) -> Any:
        """The point, an array or a dict."""
        return self.observation.x


def recommended(
    settings: Settings, observations: tuple[Observation, ...], best: Observation | None
) -> Recommendation | None:
    """Return the best of all points that were evaluated; None without a value.

    Parameters
    ----------
    settings : Settings
    observations : tuple of Observation
        Everything that was told.
    best : Observation or None
        The one with the best value.
    """
    if best is None or best.y is None:
        return None
    plainly = Recommendation(best, best.y)
    seed = seed_for(settings.seed, len(observations), Purpose.NOISE)
    sign, surrogate = settings.sign, settings.learner
    if Capability.MEAN not in surrogate.capabilities:
        return plainly
    told = tuple(one for one in observations if not one.failed)
    raw = TrainingSet.of(observations, settings.search.model().dimension, sign)
    try:
        sample = as_models_see(raw, settings, seed).fitted(settings.most_fitted)
        if not sample.is_noisy:
            return plainly
        made = seeded(surrogate, seed).converted(lambda value: sample.value_inward(value, sign))
        belief = learned(made, sample.X, sample.y, sample.noise)
    except (TrainingError, np.linalg.LinAlgError, ArithmeticError):
        return plainly
    means = belief.mean(np.array([one.z for one in told]))
    place = int(means.argmax())
    expected = sign * float(sample.outward(means[place : place + 1])[0])
    return Recommendation(told[place], expected, sample.learned or raw.typical_deviation)
