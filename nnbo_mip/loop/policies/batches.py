"""What a model makes of points whose values are still to come.

A *believer* takes the mean that the model expects there for their values, a *liar* one and the same
value; both then learn from them as if they had been told. *Thompson* leaves them out and draws a
function instead, another one for each point of a batch. Every rule of escape keeps its distance
from them in any case.

>>> from nnbo_mip.loop.policies.batches import batch_of
>>> batch_of("liar:value=worst").values([[0.5]], [1.0, 4.0], None)
array([1.])

References
----------
Ginsbourger et al. (2010), kriging believer, constant liar [Ginsbourger2010].
Thompson (1933), Thompson sampling [Thompson1933].
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.ts import ThompsonSample
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice
from nnbo_mip.core.registry import Registry
from nnbo_mip.surrogates.base.abstract import Belief

Fit = Callable[[], Belief]
"""Learns from what was told alone."""


class Batch(abc.ABC):
    """A frozen dataclass of options; a pure rule."""

    name: ClassVar[str]
    """Its name in the registry."""

    keeps_acquisition: ClassVar[bool] = True
    """Whether `acquisition` returns what it is given."""

    @abc.abstractmethod
    def values(
        self, pending: npt.ArrayLike, y: npt.ArrayLike, fit: Fit | None
    ) -> FloatArray | None:
        """Return values (p,) to learn from, or None to leave the points out.

        Parameters
        ----------
        pending : (p, d) array
            At least one point, in model coordinates.
        y : (n,) array
            What was told, at least one value; larger is better.
        fit : callable or None
            For rules that ask a model; None where there is none.
        """

    def acquisition(self, given: Acquisition, pending: int) -> Acquisition:
        """Return what is maximized while so many points, one at least, are pending."""
        return given


@dataclass(frozen=True)
class Believer(Batch):
    """Believe what a model of the told values expects."""

    name: ClassVar[str] = "believer"

    def values(
        self, pending: npt.ArrayLike, y: npt.ArrayLike, fit: Fit | None
    ) -> FloatArray | None:
        """Return the means of the model."""
        if fit is None:
            return Liar("mean").values(pending, y, fit)
        return fit().mean(pending)


@dataclass(frozen=True)
class Liar(Batch):
    """Assume the same value everywhere.

    Parameters
    ----------
    value : {"worst", "mean", "best"}
        Of those that were told. ``worst`` keeps the points of a batch far apart, ``best`` lets
        them gather.
    """

    name: ClassVar[str] = "liar"

    value: str = "worst"

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_choice("value", self.value, ("worst", "mean", "best"))

    def values(
        self, pending: npt.ArrayLike, y: npt.ArrayLike, fit: Fit | None
    ) -> FloatArray | None:
        """Return the same value for every point."""
        told = np.asarray(y, dtype=np.float64)
        lie = {"worst": told.min(), "mean": told.mean(), "best": told.max()}[self.value]
        return np.full(len(np.asarray(pending)), float(lie))


@dataclass(frozen=True)
class Thompson(Batch):
    """Maximize a drawn function instead of the acquisition while points are pending."""

    name: ClassVar[str] = "thompson"
    keeps_acquisition: ClassVar[bool] = False

    def values(
        self, pending: npt.ArrayLike, y: npt.ArrayLike, fit: Fit | None
    ) -> FloatArray | None:
        """Return None."""
        return None

    def acquisition(self, given: Acquisition, pending: int) -> Acquisition:
        """Return Thompson sampling, of which every step draws anew."""
        return ThompsonSample()


@dataclass(frozen=True)
class Unaware(Batch):
    """Leave pending points out of the model."""

    name: ClassVar[str] = "none"

    def values(
        self, pending: npt.ArrayLike, y: npt.ArrayLike, fit: Fit | None
    ) -> FloatArray | None:
        """Return None."""
        return None


registry: Registry[Batch] = Registry(
    "batch rule",
    Batch,
    {
        "believer": f"{__name__}:Believer",
        "liar": f"{__name__}:Liar",
        "thompson": f"{__name__}:Thompson",
        "none": f"{__name__}:Unaware",
    },
    group="nnbo_mip.batches",
    of_none="none",
)
"""Filled by this module, by entry points, and by `register`."""


batch_of = registry.create
"""Returns a rule that was named, described or given; None leaves pending points out."""
