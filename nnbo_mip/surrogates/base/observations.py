"""Observations, checked once, and the standardization a belief keeps inside.

u = (x - x_center) / x_scale,      v = (y - y_center) / y_scale
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder

NEGLIGIBLE_SPREAD = 16 * np.finfo(np.float64).eps
"""Values whose spread is below this part of their size differ by rounding only."""

LEAST_SCALE = 4.0 * float(np.finfo(np.float64).tiny)
"""A smaller scale has no finite reciprocal, or loses digits; such values count as constant."""


@dataclass(frozen=True, eq=False)
class Observations:
    """Points and their values, finite and of matching shapes.

    Parameters
    ----------
    X : (n, d) array
        Points in model coordinates.
    y : (n,) array
        Their values; larger is better.
    """

    X: FloatArray
    y: FloatArray

    @staticmethod
    def of(X: npt.ArrayLike, y: npt.ArrayLike) -> Observations:
        """Check what a user passed to `fit`."""
        points, values = _floats(X, "X"), _floats(y, "y")
        if points.ndim != 2 or points.shape[1] == 0:
            raise InputError(
                f"X must have shape (n, d), one row a point; got shape {points.shape}; "
                "reshape it (X[:, None] for one dimension)."
            )
        if values.shape != (len(points),):
            raise InputError(
                f"y must have shape ({len(points)},), one value a row of X; got shape "
                f"{values.shape}; pass y.ravel() or the missing rows."
            )
        if not len(points):
            raise InputError(
                "a surrogate needs at least one observation; got none; evaluate an initial design "
                "first."
            )
        for name, array in (("X", points), ("y", values)):
            bad = np.flatnonzero(~np.isfinite(array).reshape(len(array), -1).all(axis=1))
            if bad.size:
                raise InputError(
                    f"{name} must be finite; row {bad[0]} holds {array[bad[0]]} "
                    f"({bad.size} such rows); drop or mend these observations."
                )
        return Observations(points, values)

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.X.shape[1])

    def deviations(self, noise: npt.ArrayLike) -> FloatArray:
        """Check standard deviations of the values, one for all () or one each (n,)."""
        given = _floats(noise, "noise")
        if given.shape not in ((), self.y.shape) or not (np.isfinite(given) & (given >= 0.0)).all():
            raise InputError(
                f"noise must be one standard deviation >= 0, or one for each of the "
                f"{len(self.y)} values; got {np.array2string(given, threshold=6)}; mend it."
            )
        return given


def _floats(given: npt.ArrayLike, name: str) -> FloatArray:
    try:
        return np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{name} must be an array of numbers; got {given!r:.60} ({error}); convert it."
        ) from error


@dataclass(frozen=True, eq=False)
class Standardization:
    """The affine maps between a user's units and those that a model learns in.

    Parameters
    ----------
    x_center, x_scale : (d,) arrays
        Input map; scales are positive.
    y_center, y_scale : float
        Output map; the scale is positive.
    """

    x_center: FloatArray
    x_scale: FloatArray
    y_center: float
    y_scale: float

    @staticmethod
    def of(
        data: Observations,
        inputs: bool,
        outputs: bool,
        y_range: tuple[float, float] | None = None,
    ) -> Standardization:
        """Standardize inputs or outputs to mean 0 and standard deviation 1.

        Parameters
        ----------
        data : Observations
            What the moments are taken from.
        inputs, outputs : bool
            Whether each is standardized. A constant column or y keeps the scale 1.
        y_range : (low, high), optional
            Map this range to [-1, 1] instead of standardizing y.
        """
        d = data.n_inputs
        x_center, x_scale = np.zeros(d), np.ones(d)
        if inputs:
            moments = [_moments(column) for column in data.X.T]
            x_center = np.array([center for center, _ in moments])
            x_scale = np.array([scale for _, scale in moments])
        y_center, y_scale = _moments(data.y) if outputs else (0.0, 1.0)
        if y_range is not None:
            low, high = (float(end) for end in y_range)
            y_center, y_scale = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
        return Standardization(x_center, x_scale, y_center, y_scale)

    def inward(self, X: npt.NDArray[np.float64]) -> FloatArray:
        """Return points (n, d) in the model's units."""
        return _inward(X, self.x_center, self.x_scale)

    def values_inward(self, y: FloatArray) -> FloatArray:
        """Return values (n,) in the model's units."""
        return _inward(y, self.y_center, self.y_scale)

    def first_layer(self, weights: FloatArray, bias: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return weights (h, d) and bias (h,) of the model's units for the user's units."""
        return weights / self.x_scale, bias - weights @ (self.x_center / self.x_scale)

    def input_of(self, builder: GraphBuilder) -> Affine:
        """Return the standardized input as a value of a network under construction."""
        scaled = builder.scale(builder.input, 1.0 / self.x_scale)
        return builder.shift(scaled, -self.x_center / self.x_scale)


def check_y_range(y_range: object) -> None:
    """Refuse a known range of y that is none."""
    if y_range is None:
        return
    pair = list(y_range) if isinstance(y_range, tuple | list) else []
    low = high = np.nan
    if len(pair) == 2 and all(isinstance(end, int | float | np.number) for end in pair):
        with contextlib.suppress(OverflowError):  # an integer may be larger than any float
            low, high = float(pair[0]), float(pair[1])
    half, largest = 0.5 * high - 0.5 * low, max(abs(low), abs(high))
    if not (np.isfinite(half) and half >= max(LEAST_SCALE, NEGLIGIBLE_SPREAD * largest)):
        raise InputError(
            f"y_range must be None or a pair (low, high) with low < high; got {y_range!r}; "
            "give the known range of y."
        )


def _inward(
    values: FloatArray, center: FloatArray | float, scale: FloatArray | float
) -> FloatArray:
    """Return (values - center) / scale; halves, as a difference of the largest overflows."""
    return np.asarray((0.5 * values - 0.5 * center) / (0.5 * scale))


def _moments(values: FloatArray) -> tuple[float, float]:
    """Return mean and standard deviation, safe for any finite size; deviation 1 if constant."""
    # Scaled by a power of two first, so that squares neither overflow nor vanish.
    exponent = int(np.frexp(np.abs(values).max())[1])
    scaled = np.ldexp(values, -exponent)
    spread = float(scaled.std())
    deviation = float(np.ldexp(spread, exponent))
    if spread <= NEGLIGIBLE_SPREAD * float(np.abs(scaled).max()) or deviation < LEAST_SCALE:
        return float(values[0]), 1.0
    return float(np.ldexp(scaled.mean(), exponent)), deviation
