"""The largest expected improvement of a run: its step's own proven bound, or a search for it.

Expected improvement counts what is better than the best value. A warp leaves values beyond the best
one as they are, so improvements have the user's units; where values are noisy it counts from the
best mean, which may lie below the best value, where a warp bends, and the bound is about values as
the model sees them.
"""

from __future__ import annotations

import math

import numpy as np

from nnbo_mip.acquisitions.ei import Ei
from nnbo_mip.loop.judging.model import Model
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.stopping.bounds import ImprovementBound

GAP = 0.02
"""Of the logarithms, at which a search for the largest expected improvement may stop."""

USERS = "in the user's units"


def is_own(settings: Settings, step: Suggestion) -> bool:
    """Whether a step's bound says what no point's expected improvement exceeds.

    That is so where it maximized expected improvement over the best value, over the whole space.
    """
    has_it = step.head in ("ei", "logei") and step.region is None and step.kind != "none"
    return has_it and asks_for_it(settings)


def asks_for_it(settings: Settings) -> bool:
    """Whether steps maximize expected improvement over the best value."""
    acquisition = settings.acquisition
    return isinstance(acquisition, Ei) and acquisition.incumbent is None and not acquisition.xi


def of_step(model: Model, step: Suggestion) -> ImprovementBound:
    """Return the bound of a step for which `is_own` is true."""
    about = model.about
    if step.eps > 0.0:
        about += f" farther than {0.5 * step.eps:.2g} of a side from every known point"
    if step.c != 1.0:
        about += f", standard deviations times {step.c:.3g},"
    exponent = model.sample.exponent
    return ImprovementBound(
        bound=_in_units(step.bound, step.head, exponent),
        reached=_in_units(step.value, step.head, exponent),
        kind=step.kind,
        about=about,
        units=_units(model),
        certificate_text=step.certificate_text,
    )


def searched(model: Model, enough: float | None) -> ImprovementBound:
    """Return the bound of a search of its own; where more than `enough` is found, no proof."""
    acquisition, exponent = Ei(), model.sample.exponent
    found = model.climbed(acquisition, model.belief)
    if found is None or enough is None or _in_units(found.value, found.head, exponent) <= enough:
        found = model.proven(acquisition, model.belief, GAP, None if found is None else found.x)
    is_proven, certificate = found.kind != "none", found.certificate
    return ImprovementBound(
        bound=_in_units(found.bound, found.head, exponent) if is_proven else math.inf,
        reached=_in_units(found.value, found.head, exponent),
        kind=found.kind,
        about=model.about,
        units=_units(model),
        certificate_text="" if certificate is None else certificate.to_json(),
    )


def _in_units(score: float, head: str, exponent: int) -> float:
    """Return a score, or the number whose logarithm it is, in the units that were told.

    An exponential is rounded up, a power of two changes no digit.
    """
    plain = score if head != "logei" else math.exp(min(score, 700.0)) * (1.0 + 1e-12)
    return float(np.ldexp(plain, exponent)) if math.isfinite(plain) else plain


def _units(model: Model) -> str:
    warp = model.settings.warp.name
    if model.sample.is_noisy and warp != "none":
        return f"as the model sees values, which the warp {warp!r} bends"
    return USERS
