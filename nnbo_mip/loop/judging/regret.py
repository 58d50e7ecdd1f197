"""The regret bound of a run: the largest upper end of the model's band, and the best point's lower.

What is proven is about the model's band, in float64 and over all points of the space: no upper end
of it is larger. Where the function lies within the band, the optimum lies between the two ends.
Where values are exact, the lower one is the best value itself; where they are noisy, it is the
lower end of the band at the evaluated point of the best mean, which is the one that a run returns.
A warp is increasing, so bounds go back through it as they are.

References
----------
Makarova et al. (2022), the regret bound as a stop rule [Makarova2022].
Srinivas et al. (2010), the width of the band [Srinivas2010].
"""

from __future__ import annotations

import math

import numpy as np

from nnbo_mip.acquisitions.base.schedules import Confidence
from nnbo_mip.acquisitions.ucb import UpperConfidenceBound
from nnbo_mip.loop.judging.model import Model
from nnbo_mip.loop.step.training_set import TrainingSet
from nnbo_mip.loop.stopping.bounds import RegretBound

PART, LEAST_PART = 0.05, 1e-6
"""Of the regret that was found, and of the values' spread, by which a bound may be too large."""

ROOM = 0.5
"""Of what a tolerance leaves beyond the regret that was found, by which it may be too large."""

LEAST_GAP = 1e-9
"""Of a proof, times ``max(1, |value|)``."""


def regret_bound(
    model: Model, delta: float, nu: float, calibrate: bool, enough: float | None = None
) -> RegretBound:
    """Return between what the optimum lies; parameters as those of `Standing.regret_bound`."""
    settings, sample = model.settings, model.sample
    beta = Confidence(delta, nu).value(model.observations - 1, sample.X.shape[1])
    factor = model.calibration() if calibrate else 1.0
    belief = model.belief if factor == 1.0 else model.belief.scaled(factor)
    acquisition = UpperConfidenceBound(beta)
    if sample.is_noisy:
        told = np.flatnonzero(sample.told)
        means = belief.mean(sample.X[told])
        place = sample.X[told[int(means.argmax())]]
        low = float(means.max() - beta * belief.std(place[None])[0])
    else:
        row = int(np.where(sample.told, sample.y, -np.inf).argmax())
        place, low = sample.X[row], float(sample.y[row])

    def told_units(value: float) -> float:
        return float(sample.outward([value])[0]) if math.isfinite(value) else value

    climbed = model.climbed(acquisition, belief)
    reached = -math.inf if climbed is None else climbed.value
    proposal = climbed
    near = told_units(low)
    if enough is None or told_units(max(reached, low)) - near <= enough:
        gap = max(_allowed(sample, low, reached, enough) / max(1.0, abs(reached)), LEAST_GAP)
        start = None if climbed is None or climbed.x is None else climbed.x
        proposal = model.proven(acquisition, belief, min(gap, 1.0), start)
        reached = max(reached, proposal.value)
    is_proven = proposal is not None and proposal.kind != "none"
    far = max(proposal.bound, low) if proposal is not None and is_proven else math.inf
    sign = settings.sign
    ends = sorted((sign * near, sign * told_units(far)))
    return RegretBound(
        lower=ends[0],
        upper=ends[1],
        direction=settings.direction,
        x=settings.search.decode(place),
        reached=sign * told_units(max(reached, low)),
        delta=delta,
        beta=beta,
        calibration=factor,
        kind=proposal.kind if proposal is not None else "none",
        status=proposal.status if proposal is not None else "heuristic",
        about=model.about,
        proposal=proposal if is_proven else None,
    )


def _allowed(sample: TrainingSet, low: float, reached: float, enough: float | None) -> float:
    """Return by how much a bound may exceed the largest value, in the model's units."""
    found = max(reached - low, 0.0) if math.isfinite(reached) else 0.0
    allowed = max(PART * found, LEAST_PART * float(np.ptp(sample.y)))
    if enough is None:
        return allowed
    near = float(sample.outward([low])[0])
    return max(allowed, ROOM * (float(sample.inward([near + enough])[0]) - low - found))
