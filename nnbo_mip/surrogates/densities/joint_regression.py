"""What the families share that learn the density of input and value together."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar, Generic

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_count, check_number
from nnbo_mip.surrogates.base.abstract import Belief, Surrogate
from nnbo_mip.surrogates.base.observations import Observations, Standardization, check_y_range
from nnbo_mip.surrogates.densities.background import BLENDS, Background
from nnbo_mip.surrogates.densities.held_out import (
    DELTAS,
    MIDDLE_DELTA,
    Choice,
    Setting,
    check_delta,
)
from nnbo_mip.surrogates.densities.joint_density import JointDensity
from nnbo_mip.surrogates.densities.mixture_belief import OFFERED, MixtureBelief


@dataclass(frozen=True)
class JointRegression(Surrogate, Generic[Setting]):
    """A density of standardized input and value, tuned by what was held out.

    Parameters
    ----------
    delta : float or "held_out"
        How much an observation counts against the background.
    background : float
        Variance of the background in standardized units.
    blend : {"mixture", "normal"}
        Whether the conditional is mixed with the background, or one normal distribution.
    folds : int
        Parts that are held out in turn; each observation alone where there are fewer.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    seed : int
        Of whatever is random.
    """

    belief_type: ClassVar[type[Belief]] = MixtureBelief
    capabilities = OFFERED

    delta: float | str = "held_out"
    background: float = 100.0
    blend: str = "mixture"
    folds: int = 10
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_delta(self.delta)
        check_number("background", self.background, above=0.0)
        check_choice("blend", self.blend, BLENDS)
        check_count("folds", self.folds, least=2)
        check_y_range(self.y_range)
        check_count("seed", self.seed, least=0)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> MixtureBelief:
        """Choose what is tuned, and learn from all observations; see `Surrogate.fit`."""
        data = Observations.of(X, y)
        units = Standardization.of(data, inputs=True, outputs=True, y_range=self.y_range)
        u, v = units.inward(data.X), units.values_inward(data.y)
        choice = self._tuned(u, v)
        background = Background(len(v), choice.delta, self.background, self.blend)
        return MixtureBelief(self.name, self._joint(u, v, choice.setting), background, units)

    @abc.abstractmethod
    def _tuned(self, u: FloatArray, v: FloatArray) -> Choice[Setting]:
        """Choose for inputs (n, d) and values (n,)."""

    @abc.abstractmethod
    def _joint(self, u: FloatArray, v: FloatArray, setting: Setting) -> JointDensity:
        """Learn the density of all observations."""

    @property
    def _deltas(self) -> tuple[float, ...]:
        """Those that are tried."""
        return DELTAS if isinstance(self.delta, str) else (float(self.delta),)

    def _untuned(self, setting: Setting) -> Choice[Setting]:
        """Return what is taken where one observation leaves nothing to hold out."""
        delta = MIDDLE_DELTA if isinstance(self.delta, str) else float(self.delta)
        return Choice(setting, delta, -np.inf)

    def _held_out_background(self, fewest: int) -> Background:
        """Return the background beside densities that learned from so many; its delta is open."""
        return Background(fewest, 1.0, self.background, self.blend)
