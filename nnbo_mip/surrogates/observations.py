"""Observations, checked once, and the standardization a belief keeps inside.

u = (x - x_center) / x_scale,      v = (y - y_center) / y_scale
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.errors import InputError
from nnbo_mip.network.affine import Affine, FloatArray
from nnbo_mip.network.builder import GraphBuilder

NEGLIGIBLE_SPREAD = 16 * np.finfo(np.float64).eps
"""Values whose spread is below this part of their size differ by rounding only."""


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
        """Standardize inputs or outputs to mean 0 and deviation 1.

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
            low, high = y_range
            y_center, y_scale = low + 0.5 * (high - low), 0.5 * (high - low)
        return Standardization(x_center, x_scale, y_center, y_scale)

    def inward(self, X: npt.NDArray[np.float64]) -> FloatArray:
        """Return points (n, d) in the model's units."""
        return np.asarray((X - self.x_center) / self.x_scale)

    def values_inward(self, y: FloatArray) -> FloatArray:
        """Return values (n,) in the model's units."""
        return np.asarray((y - self.y_center) / self.y_scale)

    def input_of(self, builder: GraphBuilder) -> Affine:
        """Return the standardized input as a value of a network under construction."""
        scaled = builder.scale(builder.input, 1.0 / self.x_scale)
        return builder.shift(scaled, -self.x_center / self.x_scale)


def check_y_range(y_range: object) -> None:
    """Refuse a known range of y that is none."""
    if y_range is None:
        return
    ends = np.asarray(y_range, dtype=np.float64) if isinstance(y_range, tuple | list) else None
    if ends is None or ends.shape != (2,) or not np.isfinite(ends).all() or ends[0] >= ends[1]:
        raise InputError(
            f"y_range must be None or a pair (low, high) with low < high; got {y_range!r}; "
            "give the known range of y."
        )


def _moments(values: FloatArray) -> tuple[float, float]:
    """Return mean and standard deviation, safe for any finite size; deviation 1 if constant."""
    largest = float(np.abs(values).max())
    if largest == 0.0:
        return 0.0, 1.0
    # Scaled by a power of two first, so that squares neither overflow nor vanish.
    unit = 2.0 ** np.floor(np.log2(largest))
    scaled = values / unit
    center, spread = float(scaled.mean()), float(scaled.std())
    if spread <= NEGLIGIBLE_SPREAD * float(np.abs(scaled).max()):
        return float(values[0]), 1.0
    return center * unit, spread * unit
