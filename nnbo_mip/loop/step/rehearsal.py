"""A first step on made-up values: what it would refuse is refused before anything is paid for.

Whether a maximizer can serve a belief is known for certain only when there is one: whether its
score has gradients, or an exact form. How long it was trained does not matter for that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.catalogue import registry as acquisitions
from nnbo_mip.core.errors import InputError, SolverError, TrainingError, UnsupportedError
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.step.training_set import seeded
from nnbo_mip.maximizers.base.abstract import Maximizer
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.surrogates.base.abstract import Capability, Surrogate
from nnbo_mip.surrogates.base.families import registry as surrogates

POINTS = 8

SIZES = ("n_hidden", "n_members", "n_trees", "passes")
"""By which a belief grows; which maximizers can serve it does not depend on them."""

SMALL = 200
"""Of these at most are made to try a maximizer on."""


def rehearse(settings: Settings) -> None:
    """Refuse settings that cannot serve all steps with a model, those of a batch included."""
    settings.escape.check_steps(settings.steps)
    settings.surrogate.check_installed()
    rehearse_maximizer(settings)
    rehearse_stop(settings)


def rehearse_maximizer(settings: Settings) -> None:
    """Refuse a maximizer that cannot choose the points of a run."""
    alone = settings.acquisition
    beside_pending = settings.batch.acquisition(alone, 1)
    for acquisition in (alone,) if beside_pending is alone else (alone, beside_pending):
        if not acquisition.proposes:
            _rehearse(settings, acquisition)


def rehearse_stop(settings: Settings) -> None:
    """Refuse a stop rule whose bound nobody can prove for the beliefs of a run."""
    for rule in settings.stop.parts:
        if not rule.certified:
            continue
        domain, rng = settings.search.model(), np.random.default_rng(settings.seed)
        surrogate, acquisition = _briefly(settings), acquisitions.create(rule.acquisition)
        try:
            X, y = domain.sample(POINTS, rng), rng.standard_normal(POINTS)
            target = Target(acquisition.scorer(surrogate.fit(X, y), X, y), domain)
        except (InputError, TrainingError, SolverError, ArithmeticError, np.linalg.LinAlgError):
            return  # these values are at fault, perhaps
        reason = target.why_no_objective
        if reason:
            raise UnsupportedError(
                f"the stop rule {rule.name!r} takes a proven bound of {rule.acquisition}; {reason}"
            )


def _rehearse(settings: Settings, chosen: Acquisition) -> None:
    domain, rng = settings.search.model(), np.random.default_rng(settings.seed)
    surrogate, acquisition = _cast(settings, chosen)
    try:
        X, y = domain.sample(POINTS, rng), rng.standard_normal(POINTS)
        scorer = acquisition.scorer(surrogate.fit(X, y), X, y)
    except (InputError, TrainingError, SolverError, ArithmeticError, np.linalg.LinAlgError):
        return  # these values are at fault, perhaps
    reason = settings.maximizer.why_not(Target(scorer, domain))
    if reason:
        raise UnsupportedError(
            f"the maximizer {settings.maximizer.name!r} must be able to choose the points of this "
            f"run; {reason}"
        )


def _cast(settings: Settings, chosen: Acquisition) -> tuple[Surrogate, Acquisition]:
    """Return whom the maximizer meets: stand-ins where the domain alone can be in its way."""
    able, offered = settings.maximizer.abilities, settings.surrogate.capabilities
    needs_none = not able.needs_network and type(settings.maximizer).why_not is Maximizer.why_not
    is_plain = chosen.needs <= {Capability.MEAN, Capability.STD}
    has_gradient = is_plain and Capability.GRADIENT in offered
    if able.any_belief or (needs_none and (has_gradient or not able.needs_gradient)):
        return surrogates.create("brvfl", n_hidden=2), acquisitions.create("mean")
    return _briefly(settings), seeded(chosen, settings.seed)


def _briefly(settings: Settings) -> Surrogate:
    """Return the surrogate of a run, trained as briefly as it can be, and small."""
    surrogate: Any = seeded(settings.surrogate, settings.seed)
    given = {name: getattr(surrogate, name, 0) for name in SIZES}
    small = {name: SMALL for name, size in given.items() if isinstance(size, int) and size > SMALL}
    if hasattr(surrogate, "epochs"):
        small["epochs"] = 1
    brief: Surrogate = replace(surrogate, **small) if small else surrogate
    return brief
