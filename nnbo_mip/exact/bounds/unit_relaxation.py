r"""Sums of smooth units over boxes: planes of lines, and expansions of second order.

Outputs are ``y_o = offset_o + direct_o x + sum_j outer_oj h_j(x)``, h_j a smooth function of the
input of size at most 1. Round the center of a box, with t = x - center, every unit has

    lines        a_j + b_j (D_j t) <= h_j <= a'_j + b'_j (D_j t)
    expansion    |h_j - (v_j + s_j D_j t + q_j(t) / 2)| <= third_j,
                 q_j(t) = bend_j (D_j t)^2 + 2 s_j sum_i metric_i t_i^2,

each up to error_j (`Units`). A sum sum_j c_j h_j is bounded from above by

* its lines: the upper one where c_j > 0, the lower one elsewhere; they hold on large boxes;
* its expansion: the gradient is exact and summands cancel in it, and in the form
  Q = sum_j c_j q_j, before a bound is taken. Over the box Q / 2 is at most the smaller of
  ``(1/2) sum_ij |Q_ij| r_i r_j`` without negative Q_ii, and ``(d/2) max(lambda_max, 0)`` of
  (Q_ij r_i r_j): nothing is lost to second order where the sum is concave;
* where the units lie in a Hilbert space of functions, by the norm N of the sum in it
  (`kernel_units`), which knows what cancels: its third remainder, a second remainder in place
  of Q, and the largest change of any such function over the box.

The plane with the smallest bound is kept. Errors: c_j is off by gamma_(m+3) times its summands,
and |h_j| <= 1; the sums of a plane, of U products of few factors, and the posterior's own float64
evaluation of the outputs are off by gamma_(U+d+8) times theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.relaxation import LinearBounds
from nnbo_mip.exact.bounds.row_relaxation import OutputBounds
from nnbo_mip.exact.bounds.units import UnitRelaxations, Units, moving
from nnbo_mip.exact.search.rounding import LARGEST_MAGNITUDE, center_and_radius, gamma
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.scores.posteriors.tanh import TanhPosterior, thinned

OPERATIONS = 32
"""Rounded operations that a summand meets beside the sums it is in, generously."""

GROWTH = 2.5
"""Power of the width with which remainders grow, about."""

EIGENVALUE_ERROR = 1e-12
"""Relative error of the largest eigenvalue of a matrix of few rows, generously."""


@dataclass(frozen=True, eq=False)
class UnitOutputBounds(OutputBounds):
    """Forms of outputs, and relaxations of the units they are made of."""

    forms: UnitRelaxations


@dataclass(frozen=True, eq=False)
class Curve:
    """What is below a sum of units, to second order, where something was left out of it.

    Parameters
    ----------
    form : (B, m, m) array
        In the units of the boxes, ``|t_i| <= 1``, in the coordinates that `moving` returns: half of
        ``t' form t`` is added to the expansion.
    after : (B,) array
        And this, with the sum's own remainder.
    whole : (B,) array
        Or this, which has the sum's remainder in it.
    """

    form: FloatArray
    after: FloatArray
    whole: FloatArray


class UnitRows:
    """Bounds of outputs of smooth units; see `row_relaxation.Rows`.

    Parameters
    ----------
    units : Units
    outer : (1 + m, U) array
    direct : (1 + m, d) array
    offset : (1 + m,) array
        Of the base and the outputs.
    whole_forms : bool
        Whether `bound_outputs` gives forms of the outputs, which sums do not need.
    """

    def __init__(
        self,
        units: Units,
        outer: FloatArray,
        direct: FloatArray,
        offset: FloatArray,
        whole_forms: bool,
    ) -> None:
        self.units, self.depth = units, 1
        self._base, self._direct, self._offset = outer[0], direct, offset
        self._outer, self._sizes = thinned(outer[1:]), thinned(np.abs(outer[1:]))
        self._whole_forms = whole_forms
        self._reach = np.maximum(np.abs(units.lower), np.abs(units.upper))
        d = len(units.lower)
        self._linear = (np.abs(direct) @ self._reach + np.abs(offset)) * (1.0 + 1e-9)
        self._magnitudes = np.abs(outer).sum(axis=1) * (1.0 + 1e-9) + self._linear
        self._gamma = gamma(2 * (units.count + len(offset) + d) + OPERATIONS)
        self._errors = self._gamma * self._magnitudes + 1e-300
        largest = max(float(self._magnitudes.max()), units.largest)
        self.is_useful = bool(largest < LARGEST_MAGNITUDE)

    @staticmethod
    def of_tanh(units: Units, posterior: TanhPosterior) -> UnitRows:
        """Return the rows of mean and other outputs of tanh units."""
        return UnitRows(units, posterior.outer, posterior.direct, posterior.offset, True)

    @staticmethod
    def of_posterior(units: Units, posterior: ProcessPosterior) -> UnitRows:
        """Return the rows of the mean, and of the correlations themselves."""
        n, d = posterior.points.shape
        mean = posterior.y_scale * posterior.amplitude * posterior.weights
        outer = np.vstack([mean[None, :], np.eye(n)])
        offset = np.append(posterior.y_center, np.zeros(n))
        return UnitRows(units, outer, np.zeros((n + 1, d)), offset, False)

    def floats_per_box(self) -> int:
        """Float64 values held for one box."""
        d = len(self.units.lower)
        if not self._whole_forms:
            return int(self.units.count * (4 + d))
        return int(self.units.count * (16 + 2 * d) + (d + 2) * len(self._offset))

    def bound_outputs(self, lower: FloatArray, upper: FloatArray) -> UnitOutputBounds:
        """Bound the outputs over boxes (d, B)."""
        center, radius = center_and_radius(lower, upper)
        forms = self.units.forms(center, radius)
        slopes, at_center, off = self._middles(forms, center, radius)
        boxes = (lower, upper, center, radius)
        return UnitOutputBounds(*boxes, slopes, at_center, off, self._magnitudes[1:], forms)

    def carry(
        self,
        bounded: OutputBounds,
        shares: FloatArray,
        rows: FloatArray,
        constants: FloatArray,
        levels: FloatArray,
        slope_steps: int,
        curve: Curve | None = None,
    ) -> LinearBounds:
        """Bound sums of outputs from above; see `row_relaxation.Rows`, and `sums`."""
        assert isinstance(bounded, UnitOutputBounds)
        weights = shares[:, None] * self._base + rows @ self._outer
        sizes = np.abs(shares[:, None] * self._base) + np.abs(rows) @ self._sizes
        direct = shares[:, None] * self._direct[0] + rows @ self._direct[1:]
        errors = np.abs(shares) * self._errors[0] + np.abs(rows) @ self._errors[1:]
        summands = np.abs(shares) * self._linear[0] + np.abs(rows) @ self._linear[1:]
        summands = summands + np.abs(constants)
        constants = constants + shares * self._offset[0] + rows @ self._offset[1:]
        constants = constants + errors + 2.0 * self._gamma * summands
        return self.sums(bounded, weights, sizes, direct, constants, curve)

    def sums(
        self,
        bounded: UnitOutputBounds,
        weights: FloatArray,
        sizes: FloatArray,
        direct: FloatArray,
        constants: FloatArray,
        curve: Curve | None = None,
    ) -> LinearBounds:
        """Bound ``constants + direct x + sum_j weights_j h_j`` from above.

        Parameters
        ----------
        bounded : UnitOutputBounds
        weights, sizes : (B, U) arrays
            Each weight may be off by gamma times its size.
        direct : (B, d) array
        constants : (B,) array
            With the rounding of the outputs, and of what makes the sum of them.
        curve : Curve, optional
            What makes the expansion closer.
        """
        center, radius, forms = bounded.center.T, bounded.radius.T, bounded.forms
        base = constants + (direct * center).sum(axis=1)
        found = [self._of_lines(forms, weights)]
        norms, changes = self.units.norms(weights), self.units.changes(bounded.radius)
        if self.units.is_smooth:
            found.append(self._of_expansion(bounded, weights, sizes, norms, changes, curve))
        with np.errstate(invalid="ignore"):
            flat = (forms.value * weights).sum(axis=1) + norms * changes[0]
        flat = flat + (sizes * forms.error).sum(axis=1)
        found.append((np.where(np.isfinite(flat), flat, np.inf), np.zeros_like(direct)))
        best_top = np.full(len(base), np.inf)
        best, slopes = best_top.copy(), np.zeros_like(direct)
        for value, slope in found:
            whole = slope + direct
            top = value + (np.abs(whole) * radius).sum(axis=1)
            better = top < best_top
            best_top = np.where(better, top, best_top)
            best = np.where(better, value, best)
            slopes = np.where(better[:, None], whole, slopes)
        far = np.abs(center) + radius
        around = (np.abs(slopes) * far).sum(axis=1) + (np.abs(direct) * far).sum(axis=1)
        rounding = self._gamma * (self._size_of(forms, sizes) + around + np.abs(base))
        value = base + best + rounding
        constant = value - (slopes * center).sum(axis=1)
        bound = value + (np.abs(slopes) * radius).sum(axis=1)
        loose = None
        if not self._whole_forms:  # remainders grow with the distance in length-scales
            rest = np.maximum(best - (weights * forms.value).sum(axis=1), 0.0)
            shares = np.square(radius) * forms.metric
            shares = shares / np.maximum(shares.sum(axis=1), 1e-300)[:, None]
            loose = (GROWTH * rest[:, None] * shares).T
        return LinearBounds(np.ascontiguousarray(slopes.T), constant, bound, loose)

    # -- parts ------------------------------------------------------------------------

    @staticmethod
    def _of_lines(forms: UnitRelaxations, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values at the centers (B,) and slopes (B, d) of the sums' lines."""
        rising = np.maximum(weights, 0.0)
        falling = weights - rising
        value = (rising * forms.upper_value + falling * forms.lower_value).sum(axis=1)
        factors = rising * forms.upper_slope + falling * forms.lower_slope
        return value, forms.sum_along(factors)

    def _of_expansion(
        self,
        bounded: UnitOutputBounds,
        weights: FloatArray,
        sizes: FloatArray,
        norms: FloatArray,
        changes: tuple[FloatArray, FloatArray, FloatArray],
        curve: Curve | None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the same of the sums' expansions."""
        forms, columns = bounded.forms, moving(bounded.lower, bounded.upper, bounded.center)
        radius = bounded.radius.T[:, columns]
        slopes = forms.sum_along(weights * forms.slope)
        form = radius[:, :, None] * forms.sum_curved(weights, columns) * radius[:, None, :]
        third = (np.abs(weights) * forms.third).sum(axis=1)
        _, after_one, after_two = changes
        with np.errstate(invalid="ignore"):  # no norm times no bound is no number, and not taken
            own = np.fmin(third, norms * after_two)
            if curve is not None:
                left = np.fmin(own + curve.after, curve.whole)
                closer = form + curve.form
                pays = left + half_of_sizes(closer) < own + half_of_sizes(form)
                own = np.where(pays, left, own)
                form = np.where(pays[:, None, None], closer, form)
            rest = np.fmin(largest_half(form) + own, norms * after_one)
        value = (
            (weights * forms.value).sum(axis=1)
            + rest * (1.0 + 1e-9)
            + (sizes * forms.error).sum(axis=1)
        )
        return value, slopes

    @staticmethod
    def _size_of(forms: UnitRelaxations, sizes: FloatArray) -> FloatArray:
        """Bound the sum (B,) of the sizes of all summands of a plane over its box."""
        steep = np.abs(forms.upper_slope) + np.abs(forms.lower_slope) + np.abs(forms.slope)
        values = np.maximum(np.abs(forms.upper_value), np.abs(forms.lower_value)) + 2.0
        return np.asarray((sizes * (values + steep * forms.reach)).sum(axis=1))

    def _middles(
        self, forms: UnitRelaxations, center: FloatArray, radius: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return slopes, values at the centers and errors of the outputs' forms."""
        batch, d = center.shape[1], len(center)
        if not self._whole_forms:
            return np.empty((batch, d, 0)), np.empty((batch, 0)), np.empty((batch, 0))
        value = 0.5 * (forms.upper_value + forms.lower_value)
        slope = 0.5 * (forms.upper_slope + forms.lower_slope)
        off = 0.5 * (forms.upper_value - forms.lower_value)
        off = off + 0.5 * np.abs(forms.upper_slope - forms.lower_slope) * forms.reach
        if self.units.is_smooth:
            wide = np.abs(forms.slope) * (2.0 * np.square(radius).T @ forms.metric)[:, None]
            second = 0.5 * (np.abs(forms.bend) * forms.reach**2 + wide) + forms.third + forms.error
            closer = second < off
            value, slope = (
                np.where(closer, forms.value, value),
                np.where(closer, forms.slope, slope),
            )
            off = np.where(closer, second, off)
        outer, sizes, direct = self._outer.T, self._sizes.T, self._direct[1:]
        at_center = value @ outer + center.T @ direct.T + self._offset[1:]
        along = forms.along if forms.along.ndim == 3 else forms.along[None]
        steps = [(slope * along[:, :, i]) @ outer for i in range(d)]
        slopes = np.stack(steps, axis=1) + direct.T[None]
        off = (off @ sizes) * (1.0 + 1e-9)
        summands = (1.0 + np.abs(slope) * forms.reach + np.abs(value)) @ sizes
        return slopes, at_center, off + 2.0 * self._errors[1:] + self._gamma * summands


def largest_half(scaled: FloatArray) -> FloatArray:
    """Bound ``t' Q t / 2`` over boxes |t_i| <= 1, for symmetric Q (B, d, d)."""
    d = scaled.shape[1]
    sizes = np.abs(scaled).sum(axis=(1, 2))
    plain = half_of_sizes(scaled)
    if d > 1:
        good = np.isfinite(sizes)
        largest = np.full(len(sizes), np.inf)
        largest[good] = np.linalg.eigvalsh(scaled[good])[:, -1]
        plain = np.minimum(plain, 0.5 * d * np.maximum(largest, 0.0))
    return np.asarray(plain + EIGENVALUE_ERROR * sizes)


def half_of_sizes(scaled: FloatArray) -> FloatArray:
    """Bound the same by the sizes of entries, without negative ones of the diagonal."""
    diagonal = np.arange(scaled.shape[1])
    on = scaled[:, diagonal, diagonal]
    sizes = np.abs(scaled).sum(axis=(1, 2)) - np.abs(on).sum(axis=1)
    return np.asarray(0.5 * (sizes + np.maximum(on, 0.0).sum(axis=1)))
