"""What is known when an acquisition is resolved: observations, their noise, the step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.acquisitions.base.schedules import Schedule, Scheduled, number_in_step
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count, check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True, eq=False)
class Context:
    """Checked data of one step.

    Parameters
    ----------
    X : (n, d) array, optional
        Evaluated points in model coordinates.
    y : (n,) array, optional
        Their values; larger is better.
    noise : float, optional
        Standard deviation of an observation from the function.
    step : int
        Number of the step, from 0.
    """

    X: FloatArray | None = None
    y: FloatArray | None = None
    noise: float | None = None
    step: int = 0

    @staticmethod
    def of(
        belief: Belief,
        X: npt.ArrayLike | None,
        y: npt.ArrayLike | None,
        noise: npt.ArrayLike | None,
        step: int,
    ) -> Context:
        """Check what a caller passed."""
        points = None if X is None else belief.check_points(X)
        values = None if y is None else _numbers("y", y)
        if points is not None and not np.isfinite(points).all():
            raise InputError("X must be finite; got NaN or infinity; drop these observations.")
        if points is not None and values is not None and len(points) != len(values):
            raise InputError(
                f"X and y must have one row an observation; got {len(points)} and {len(values)}; "
                "pass both of the same observations."
            )
        deviation = None if noise is None else _common_noise(noise)
        return Context(points, values, deviation, check_count("step", step, least=0))

    def incumbent(self, given: float | None, belief: Belief | None = None) -> float:
        """Return the incumbent that was given, or the largest y.

        Where values have a noise the largest is the luckiest: then it is the largest mean of a
        belief at an evaluated point, if there is one.
        """
        if given is not None:
            return given
        if belief is not None and self.noise and self.X is not None and len(self.X):
            return float(belief.mean(self.X).max())
        if self.y is None or not len(self.y):
            raise InputError(
                "this acquisition needs the best value so far; got neither incumbent nor y; give "
                "incumbent=…, or y when it is resolved."
            )
        return float(self.y.max())

    def scheduled(self, name: str, given: Scheduled, n_inputs: int) -> float:
        """Return the number >= 0 that an option, perhaps a schedule, has in this step."""
        if isinstance(given, str | Mapping | Schedule):
            return number_in_step(name, given, self.step, n_inputs)
        return check_number(name, given, least=0.0)

    def observations(self) -> tuple[FloatArray, FloatArray]:
        """Return the evaluated points and their values, of which there must be two."""
        if self.X is None or self.y is None or len(self.y) < 2:
            raise InputError(
                "a criterion that chooses a point learns from observations itself, two at least; "
                f"got {'none' if self.X is None or self.y is None else len(self.y)}; give X and y."
            )
        return self.X, self.y

    def evaluated(self) -> FloatArray:
        """Return the evaluated points, of which there must be one."""
        if self.X is None or not len(self.X):
            raise InputError(
                "this acquisition compares the belief at evaluated points; got no X; give X when "
                "it is resolved, or incumbent=…."
            )
        return self.X

    def noise_of(self, belief: Belief, given: float | None) -> float:
        """Return the noise that was given, or was told, or else what the belief says.

        A belief whose noise varies answers with the root mean square at the evaluated points.
        """
        for noise in (given, self.noise):
            if noise is not None:
                return noise
        if Capability.NOISE not in belief.capabilities:
            return 0.0
        if self.X is None or not len(self.X):
            raise InputError(
                "the noise of this belief is estimated at the evaluated points; got no X; give X "
                "when it is resolved, or noise=…."
            )
        return _common_noise(belief.noise_std(self.X))


def check_incumbent(incumbent: float | None) -> None:
    """Refuse an incumbent that is no finite number."""
    if incumbent is not None:
        check_number("incumbent", incumbent)


def check_scheduled(name: str, given: Scheduled) -> None:
    """Refuse an option that is neither a number >= 0 nor a schedule."""
    Context().scheduled(name, given, n_inputs=1)


def _numbers(name: str, given: npt.ArrayLike) -> FloatArray:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{name} must be an array of numbers; got {given!r:.60} ({error}); convert it."
        ) from error
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError(
            f"{name} must be finite and have shape (n,); got shape {values.shape}"
            f"{'' if np.isfinite(values).all() else ' with NaN or infinity'}; pass {name}.ravel() "
            "without failed observations."
        )
    return values


def _common_noise(given: npt.ArrayLike) -> float:
    """Return the root mean square of standard deviations, one or one an observation."""
    values = _numbers("noise", np.ravel(np.asarray(given, dtype=object)).tolist())
    if not len(values) or (values < 0.0).any():
        raise InputError(
            "noise must be one standard deviation >= 0, or one an observation; got "
            f"{'none' if not len(values) else values.min()!r}; give it."
        )
    largest = float(values.max())
    return largest * float(np.sqrt(np.square(values / (largest or 1.0)).mean()))
