"""A first step on made-up values: what it would refuse is refused before anything is paid for.

Whether a maximizer can serve a belief is known for certain only when there is one: whether its
score has gradients, or an exact form. Most combinations need no trial, and cost none.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.errors import InputError, SolverError, TrainingError, UnsupportedError
from nnbo_mip.loop.settings import Settings
from nnbo_mip.loop.step import seeded
from nnbo_mip.maximizers.abstract import Maximizer
from nnbo_mip.maximizers.target import Target
from nnbo_mip.surrogates.abstract import Capability

POINTS = 8


def rehearse(settings: Settings) -> None:
    """Refuse a maximizer that cannot serve the first step with a model."""
    if settings.acquisition.proposes or not _is_in_doubt(settings):
        return
    domain, rng = settings.search.model(), np.random.default_rng(settings.seed)
    try:
        X, y = domain.sample(POINTS, rng), rng.standard_normal(POINTS)
        belief = seeded(settings.surrogate, settings.seed).fit(X, y)
        scorer = seeded(settings.acquisition, settings.seed).scorer(belief, X, y)
    except (InputError, TrainingError, SolverError, ArithmeticError, np.linalg.LinAlgError):
        return  # these values are at fault, perhaps
    reason = settings.maximizer.why_not(Target(scorer, domain))
    if reason:
        raise UnsupportedError(
            f"the maximizer {settings.maximizer.name!r} must be able to choose the points of this "
            f"run; {reason}"
        )


def _is_in_doubt(settings: Settings) -> bool:
    """Whether capabilities do not say that the maximizer serves the belief."""
    able, offered = settings.maximizer.abilities, settings.surrogate.capabilities
    if able.falls_back:
        return False
    if able.needs_network or type(settings.maximizer).why_not is not Maximizer.why_not:
        return True
    is_plain = settings.acquisition.needs <= {Capability.MEAN, Capability.STD}
    return able.needs_gradient and not (is_plain and Capability.GRADIENT in offered)
