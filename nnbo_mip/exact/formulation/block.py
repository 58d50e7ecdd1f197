"""The ReLUs of one layer that can be on and off: what a formulation gets and gives back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.exact.formulation.builder import ModelBuilder
from nnbo_mip.exact.formulation.expression import Expressions
from nnbo_mip.exact.formulation.model import power_of_two_above


@dataclass(frozen=True, eq=False)
class Switching:
    """Pre-activations z of the n ReLUs of a layer whose sign is not known.

    Parameters
    ----------
    layer : int
        Layer, counted from 1 as in `Network`.
    neurons : (n,) int array
        Rows of the layer.
    z : Expressions
        One a ReLU.
    lower, upper : (n,) arrays
        Proven bounds, ``lower < 0 < upper``.
    """

    layer: int
    neurons: IntArray
    z: Expressions
    lower: FloatArray
    upper: FloatArray

    def names(self, prefix: str) -> list[str]:
        """Return one name a ReLU: prefix, layer, row."""
        return [f"{prefix}{self.layer}_{i}" for i in self.neurons]


@dataclass(frozen=True, eq=False)
class Block:
    """The columns that a formulation gave to the ReLUs of a `Switching`.

    Parameters
    ----------
    switching : Switching
    positive, positive_scales : (n,) arrays
        Columns of ``h = max(z, 0)`` and the power of two by which each is divided.
    negative, negative_scales : (n,) arrays or None
        The same for ``s = max(-z, 0)``.
    switch : (n,) int array or None
        Binary columns, 1 where z > 0.
    parts, part_values, part_owner : (p,) int array, Expressions, (p,) int array; or None
        Columns that hold a part of z where the owner is on, and 0 where it is off.
    feasibility_gain, integrality_gain : (n,) arrays
        A solver that breaks every row and bound by eps and every integer by eta can move
        h away from ``max(z, 0)`` by at most ``gain_f eps + gain_i eta``.
    """

    switching: Switching
    positive: IntArray
    positive_scales: FloatArray
    feasibility_gain: FloatArray
    integrality_gain: FloatArray
    negative: IntArray | None = None
    negative_scales: FloatArray | None = None
    switch: IntArray | None = None
    parts: IntArray | None = None
    part_values: Expressions | None = None
    part_owner: IntArray | None = None

    def complete(self, columns: FloatArray, z: FloatArray) -> None:
        """Fill in this block's columns at pre-activations z (n,) of the whole layer."""
        z = z[self.switching.neurons]
        columns[self.positive] = np.maximum(z, 0.0) / self.positive_scales
        if self.negative is not None and self.negative_scales is not None:
            columns[self.negative] = np.maximum(-z, 0.0) / self.negative_scales
        if self.switch is not None:
            columns[self.switch] = z > 0.0
        if self.parts is not None and self.part_values is not None:
            rows = self.part_values.widened(columns.size)
            values = rows @ columns + self.part_values.constants
            columns[self.parts] = np.where(z[self.part_owner] > 0.0, values, 0.0)


@dataclass(frozen=True, eq=False)
class SplitColumns:
    """Columns h and s of ``h - s = z`` and the scales of these rows."""

    positive: IntArray
    positive_scales: FloatArray
    negative: IntArray
    negative_scales: FloatArray
    row_scales: FloatArray

    @property
    def larger_scales(self) -> FloatArray:
        """Scale (n,) of the larger of h and s."""
        return np.maximum(self.positive_scales, self.negative_scales)


def add_split(builder: ModelBuilder, switching: Switching) -> SplitColumns:
    """Append ``h - s = z`` with ``0 <= h <= u`` and ``0 <= s <= -l``, in columns of order 1."""
    positive_scales = power_of_two_above(switching.upper)
    negative_scales = power_of_two_above(switching.lower)
    positive = builder.add_columns(switching.names("h"), 0.0, switching.upper / positive_scales)
    negative = builder.add_columns(switching.names("s"), 0.0, -switching.lower / negative_scales)
    split = builder.rows_of((positive, positive_scales), (negative, -negative_scales))
    z = switching.z
    rows = builder.add_rows(
        switching.names("z"),
        csr_array(split - z.widened(builder.n_columns)),
        z.constants,
        z.constants,
        errors=z.errors,
    )
    return SplitColumns(positive, positive_scales, negative, negative_scales, rows.scales)
