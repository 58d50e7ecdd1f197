r"""The std over boxes: a convex function above it and a concave one below, at the vertices.

*An output r, std = g(max(r, 0))*, g the identity or the smooth readout, which rises and is
concave: a tangent above, a chord below. Lines can be summed with the mean before ReLUs are
bounded, which is tighter than summing bounds (`joint_above`).

*A length, std^2 = |R psi|^2 + n^2*, psi outputs between L(x) and U(x), both affine. With
M = (L + U) / 2 and H = (U - L) / 2,

    |R psi| <= |R M| + min(||R| H|, s |H|),      s >= the spectral norm of R,

which is convex; and for every vector v, by Cauchy and Schwarz,

    std sqrt(|v|^2 + n^2) >= v . R psi + n^2 >= v . R M - |R^T v| . H + n^2,

which is affine. Under ``variance`` the std is q = |R psi|^2 / unit, with noise: q is the square
of the first line, and at least its own tangent (2 v . R psi - |v|^2) / unit.
"""

from __future__ import annotations

import abc
from functools import cached_property, singledispatch

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.outputs import RELATIVE, Drawn, Summed
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.posteriors.readouts import (
    MembersReadout,
    PlainReadout,
    QuadraticReadout,
    Readout,
    SmoothReadout,
)

CURVE_ROUNDING = 1e-14
"""Relative error of the smooth readout, its slopes and the lines made of them."""

POSITIVE = "positive_part"
"""Name of the output that is the positive part of the one that is read."""

Sum = tuple[FloatArray, FloatArray]
"""Weights (m, B) of outputs, and constants (B,)."""


class Std(abc.ABC):
    """Bounds of the std on B boxes."""

    @property
    @abc.abstractmethod
    def above(self) -> FloatArray:
        """(V, B) values at the vertices of a convex function that is never below the std."""

    @property
    @abc.abstractmethod
    def below(self) -> FloatArray:
        """(V, B) values at the vertices of a concave function that is never above it."""

    @cached_property
    def low(self) -> FloatArray:
        """(B,) lower ends, at least 0."""
        return np.asarray(np.maximum(self.below.min(axis=0), 0.0))

    @cached_property
    def high(self) -> FloatArray:
        """(B,) upper ends."""
        return np.asarray(np.maximum(self.above.max(axis=0), 0.0))

    def joint_above(self, mean_weight: FloatArray, std_weight: FloatArray) -> FloatArray | None:
        """Return values at the vertices of an affine function above a weighted sum, or None.

        The weight (B,) of the std may have any sign.
        """
        return None


class StdBounder(abc.ABC):
    """Makes bounds of the std of one readout."""

    network: Network
    outputs: tuple[str, ...]
    """What is read of `network`; the mean comes first."""

    @abc.abstractmethod
    def bound(self, bounder: Summed, drawn: Drawn) -> Std:
        """Bound the std over boxes."""


@singledispatch
def std_bounder(readout: Readout) -> StdBounder | None:
    """Return what bounds the std of a readout; None where its kind or numbers are unknown."""
    return None


@std_bounder.register
def _of_plain(readout: PlainReadout) -> StdBounder | None:
    return CurveBounder(readout.network, "std", None)


@std_bounder.register
def _of_smooth(readout: SmoothReadout) -> StdBounder | None:
    fits = readout.l_max > 0.0 and readout.factor >= 0.0 and readout.l_min >= 0.0
    return CurveBounder(readout.network, "relu_raw", readout) if fits else None


@std_bounder.register
def _of_members(readout: MembersReadout) -> StdBounder | None:
    count = len(readout.names)
    root = (np.eye(count) - 1.0 / count) / np.sqrt(count)
    unit = readout.variance_unit if readout.spread == "variance" else None
    return LengthBounder(readout.network, readout.names, root, readout.noise, unit)


@std_bounder.register
def _of_features(readout: QuadraticReadout) -> StdBounder | None:
    return LengthBounder(readout.network, readout.names, readout.root, readout.noise, None)


def with_positive_part(network: Network, output: str) -> Network:
    """Return a network with one more ReLU and output, the positive part of an output."""
    row = network.head.rows([network.output_index(output)])
    last = len(network.layers) + 1
    terms = {k: np.vstack([network.head.dense(k), np.zeros(row.dense(k).shape)]) for k in row.terms}
    count = network.n_outputs
    terms[last] = np.append(np.zeros(count), 1.0)[:, None]
    head = Affine(np.append(network.head.bias, 0.0), terms)
    names = (*network.output_names, POSITIVE)
    return Network(network.n_inputs, (*network.layers, row), head, names)


# -- a function of one output ---------------------------------------------------------


class CurveBounder(StdBounder):
    """The std is the positive part of an output, or a smooth readout of it."""

    def __init__(self, network: Network, output: str, curve: SmoothReadout | None) -> None:
        self.network = with_positive_part(network, output)
        self.outputs = ("mean", POSITIVE)
        self.curve = curve

    def bound(self, bounder: Summed, drawn: Drawn) -> CurveStd:
        """Bound the std over boxes."""
        return CurveStd(self, bounder, drawn)


class CurveStd(Std):
    """Lines round g."""

    def __init__(self, made_by: CurveBounder, bounder: Summed, drawn: Drawn) -> None:
        self._curve, self._network = made_by.curve, made_by.network
        self._bounder, self._drawn = bounder, drawn

    @cached_property
    def above(self) -> FloatArray:
        """Vertices of the upper line."""
        ones = np.ones(self._drawn.count)
        return self._summed(0.0 * ones, ones)

    @cached_property
    def below(self) -> FloatArray:
        """Vertices of the lower line."""
        ones = np.ones(self._drawn.count)
        return -self._summed(0.0 * ones, -ones)

    def joint_above(self, mean_weight: FloatArray, std_weight: FloatArray) -> FloatArray:
        """Sum the mean and a line before ReLUs are bounded."""
        return self._summed(mean_weight, std_weight)

    def _summed(self, mean_weight: FloatArray, std_weight: FloatArray) -> FloatArray:
        slope, constant = self._line_above(std_weight)
        weights = np.vstack([mean_weight, slope])
        return self._bounder.sums_at_vertices(self._drawn, weights, constant)

    def _line_above(self, weight: FloatArray) -> Sum:
        """Return slopes and constants (B,) of lines in r that are not below ``weight * g(r)``."""
        if self._curve is None:
            return weight, np.zeros_like(weight)
        if not (weight < 0.0).any():
            slope, constant = self._tangent
        elif not (weight > 0.0).any():
            slope, constant = self._chord
        else:
            up, down, rising = self._tangent, self._chord, weight > 0.0
            slope, constant = (np.where(rising, a, b) for a, b in zip(up, down, strict=True))
        return weight * slope, weight * constant + RELATIVE * np.abs(weight * constant)

    @cached_property
    def _tangent(self) -> Sum:
        """The tangent at the value of r in the middle, which is above g everywhere."""
        assert self._curve is not None
        middle = (0.5 * self._drawn.lower + 0.5 * self._drawn.upper).T
        r = np.maximum(self._network.evaluate(middle, POSITIVE), 0.0)
        slope, value = self._curve.slope_of(r), self._curve.std_of(r)
        reach = np.maximum(self._bounder.largest(1, self._drawn), 0.0) + r
        return slope, value - slope * r + CURVE_ROUNDING * (np.abs(value) + slope * reach)

    @cached_property
    def _chord(self) -> Sum:
        """The chord between the ends of r, which is below g between them."""
        assert self._curve is not None
        low, high = self._ends
        at_low, at_high = self._curve.std_of(low), self._curve.std_of(high)
        wide = high > low
        slope = np.where(wide, (at_high - at_low) / np.where(wide, high - low, 1.0), 0.0)
        constant = np.minimum(at_low - slope * low, at_high - slope * high)
        return slope, constant - CURVE_ROUNDING * (np.abs(at_high) + slope * high)

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """Ends (B,) of r."""
        ones = np.ones(self._drawn.count)
        weights = np.vstack([0.0 * ones, ones])
        high = self._bounder.sums_at_vertices(self._drawn, weights).max(axis=0)
        low = -self._bounder.sums_at_vertices(self._drawn, -weights).max(axis=0)
        low = np.maximum(low, 0.0)
        return low, np.maximum(high, low)


# -- the length of a vector of outputs ------------------------------------------------


class LengthBounder(StdBounder):
    """The std is the length of ``root @ psi``, with noise, or its square under variance.

    Parameters
    ----------
    network : Network
    names : sequence of str
        The outputs psi.
    root : (r, k) array
    noise : float
    unit : float or None
        If given, the spread is the square of the length, divided by it.
    """

    def __init__(
        self,
        network: Network,
        names: tuple[str, ...],
        root: FloatArray,
        noise: float,
        unit: float | None,
    ) -> None:
        self.network, self.outputs = network, ("mean", *names)
        self.root, self.noise, self.unit = root, noise, unit
        gram = root @ root.T if root.shape[0] < root.shape[1] else root.T @ root
        # A row sum bounds the largest eigenvalue of the gram matrix, and its error.
        size = float((np.abs(root).T @ np.abs(root)).sum(axis=1).max(initial=0.0))
        rounding = RELATIVE * (sum(root.shape) + 8) ** 2 * size
        largest = float(np.linalg.eigvalsh(gram)[-1]) if gram.size else 0.0
        self.norm = float(np.sqrt(max(largest, 0.0) * (1.0 + 1e-9) + rounding))

    def bound(self, bounder: Summed, drawn: Drawn) -> LengthStd:
        """Bound the std over boxes."""
        return LengthStd(self, bounder, drawn)


class LengthStd(Std):
    """A convex function above a length and an affine one below it."""

    def __init__(self, made_by: LengthBounder, bounder: Summed, drawn: Drawn) -> None:
        self._root, self._norm = made_by.root, made_by.norm
        self._noise, self._unit = made_by.noise, made_by.unit
        middle, half = output_forms(bounder, drawn)
        self._half = half
        count = self._root.shape[1]
        self._projected = np.tensordot(self._root, middle, axes=1)  # (r, V, B)
        sizes = np.tensordot(np.abs(self._root), np.abs(middle) + half, axes=1)
        self._rounding = RELATIVE * (count + len(self._root) + 8) * np.sqrt((sizes**2).sum(axis=0))

    @cached_property
    def above(self) -> FloatArray:
        """Vertices of the upper function."""
        apart = np.tensordot(np.abs(self._root), self._half, axes=1)
        spread = np.sqrt((apart**2).sum(axis=0))
        other = self._norm * np.sqrt((self._half**2).sum(axis=0))
        tighter = spread.max(axis=0) <= other.max(axis=0)  # one of them a box: both are convex
        length = np.sqrt((self._projected**2).sum(axis=0)) + np.where(tighter, spread, other)
        length = (length + self._rounding) * (1.0 + 1e-14)
        if self._unit is not None:
            length = length**2 / self._unit * (1.0 + 1e-14)
        return np.asarray(np.hypot(length, self._noise) * (1.0 + 1e-14))

    @cached_property
    def below(self) -> FloatArray:
        """Vertices of the lower function."""
        toward = self._projected.mean(axis=1)  # (r, B), any vector will do
        length = np.sqrt((toward**2).sum(axis=0))
        along = np.einsum("rb,rvb->vb", toward, self._projected)
        lost = np.einsum("kb,kvb->vb", np.abs(self._root.T @ toward), self._half)
        # Twice, as the weights of the half widths are sums as well.
        along = along - lost - 4.0 * length * self._rounding - 1e-14 * np.abs(along)
        noise, unit = self._noise, self._unit
        if unit is None:
            total = np.hypot(length, noise)
            safe = np.where(total > 1e-300, total, np.inf)
            value = (along + noise**2) / safe
            return np.asarray(value - 1e-14 * (np.abs(along) + noise**2) / safe)
        square = length**2
        spread = (2.0 * along - square) / unit - 1e-14 * (np.abs(along) + square) / unit
        at = square / unit
        total = np.hypot(at, noise)
        safe = np.where(total > 1e-300, total, np.inf)
        value = (at * spread + noise**2) / safe
        return np.asarray(value - 1e-14 * (np.abs(at * spread) + noise**2) / safe)


def output_forms(bounder: Summed, drawn: Drawn) -> tuple[FloatArray, FloatArray]:
    """Return middle and half width (k, V, B), at the vertices, of all outputs but the first."""
    outputs = len(bounder.errors)
    count, boxes = outputs - 1, drawn.count
    weights = np.zeros((outputs, 2 * count * boxes))
    for o in range(count):
        weights[o + 1, 2 * o * boxes : (2 * o + 1) * boxes] = 1.0
        weights[o + 1, (2 * o + 1) * boxes : (2 * o + 2) * boxes] = -1.0
    values = bounder.sums_at_vertices(drawn.repeated(2 * count), weights, rounds=0)
    split = values.reshape(len(values), count, 2, boxes)
    high, low = split[:, :, 0].swapaxes(0, 1), -split[:, :, 1].swapaxes(0, 1)
    middle = 0.5 * (low + high)
    half = 0.5 * (high - low) + RELATIVE * (np.abs(low) + np.abs(high))
    return middle, np.maximum(half, 0.0)
