"""What a step with a model is given, what it learns, and what it suggests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.regions.regions import Extent
from nnbo_mip.loop.step.training_set import TrainingSet
from nnbo_mip.surrogates.base.abstract import Belief


@dataclass(frozen=True, eq=False)
class StepInput:
    """What a step depends on, beside the settings.

    Parameters
    ----------
    sample : TrainingSet
        What the model learns from.
    pending : (p, k) array
        Points whose values are still to come, in model coordinates.
    seen : (n, k) array
        Points that the rule of escape keeps away from: all that were told or are pending.
    step : int
        Points that models chose before.
    starts : int
        Initial points of this stage.
    c : float or None
        The scale that the step begins with; None at the first step.
    extent : Extent or None
        The region to which the search is limited.
    fit_before : float
        Seconds that the model of the step before learned; 0 at the first step.
    time_limit : float
        Seconds that the ask may take.
    believed : callable
        Fits a surrogate to a sample alone; the same belief for the same sample, perhaps kept.
    """

    sample: TrainingSet
    pending: FloatArray
    seen: FloatArray
    step: int
    starts: int
    c: float | None
    extent: Extent | None
    fit_before: float
    time_limit: float
    believed: Callable[[TrainingSet], Belief]


@dataclass(frozen=True, eq=False)
class StepResult:
    """What a step suggests.

    Parameters
    ----------
    suggestion : Suggestion
    next_c : float
        The scale with which the next step begins.
    wanted : (k,) array or None
        What was proposed before the rule of escape, in model coordinates.
    learned : Learned
        What it was chosen by.
    """

    suggestion: Suggestion
    next_c: float
    wanted: FloatArray | None
    learned: Learned


@dataclass(frozen=True, eq=False)
class Learned:
    """What the fit of a step gives.

    Parameters
    ----------
    sample : TrainingSet
        What the model learned from, without what is taken of pending points.
    X, y, noise : (n, d), (n,) and (n,) arrays
        The same with pending points; `noise` may be None.
    acquisition : Acquisition
        As it stands beside pending points, in the model's units.
    belief : Belief
    region : RegionBox or None
        To which the search is limited, and what is said of it.
    said : str
    c : float
        The scale that the step begins with.
    began, ended : float
        Times of `core.control.now`, between which the model was trained.
    """

    sample: TrainingSet
    X: FloatArray
    y: FloatArray
    noise: FloatArray | None
    acquisition: Acquisition
    belief: Belief
    region: RegionBox | None
    said: str
    c: float
    began: float
    ended: float
