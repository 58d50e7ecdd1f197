r"""Bounds of the std of a Gaussian process over boxes.

In units of the kernel, with amplitude a, correlations h, k = a h, y = L^-1 k and any vector v,

    variance = a - |y|^2,    |y|^2 = 2 v . y - |v|^2 + |y - v|^2,    v . y = g . k,    g = L^-T v.

With v the y of the center the variance is below ``a + |v|^2 - 2 g . k``, a sum of correlations, and
above that less max |y - v|^2. The tangent of the root at s_0 makes of it the std from above, its
chord over [low, high] the std from below:

    std <= (variance + s_0^2) / (2 s_0),    std >= (variance + low high) / (low + high).

The kernel matrix K is positive definite, and L L^T - K is (this is checked), so L L^T belongs to
observations with some noise; hence |y(x)|^2 <= a, and as a posterior varies no more than its prior,

    |y(x) - y(x')|^2 and (std(x) - std(x'))^2 are at most 2 (a - k(x, x')),

whatever the condition of L. Ends of the std come from this and from the sums. Far from all
points y hardly changes although x does, so |L^-1| |k(x) - k(x')| bounds the first as well.

*Second order.* In the kernel's Hilbert space, with those observations for further coordinates, the
std is the distance of k(., x) from the space that the observed points span. With P the projection
onto the rest of it, c the center and t = x - c,

    k(., x) = k(., c) + sum_j t_j d_j k(., c) + R,    |R| <= sqrt(a) sqrt(E (w . t)^4) / 2,
    |std(x) - std(c)| <= sum_j |t_j| |P d_j k(., c)| + |R|,
    |P d_j k(., c)|^2 = a E w_j^2 - |L^-1 d_j k(c)|^2.

Where points are dense these slopes are as small as the std itself, and nothing else is of first
order: amid points that a run has gathered round an optimum, boxes can be some hundred times wider.

*Rounding.* The posterior solves (L + dL) y' = k + dk with |dL| <= gamma |L| and |dk| <= a e, so
that y' - y = L^-1 r with r = dk - dL y', of a norm that the computed inverse R and the size of
R L - I bound: `off`. With g as computed, which need not be L^-T v, and q = v - L^T g,

    v . y = g . k + q . y,
    |y'|^2 - |y|^2 = 2 (g . r + q . (y' - y) + (y - v) . (y' - y)) + |y' - y|^2,

which is small however badly L is conditioned: |g| is of order one, |q| of that of rounding, and
|y - v| of that of the box.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.exact.bounds.kernel_units import KernelUnits
from nnbo_mip.exact.bounds.row_relaxation import OutputBounds
from nnbo_mip.exact.bounds.unit_relaxation import UnitOutputBounds, UnitRows
from nnbo_mip.exact.heads.relaxers.spreads import ROUNDING, Spread, SpreadRelaxer, Sum
from nnbo_mip.exact.search.rounding import gamma
from nnbo_mip.scores.posteriors.process import ProcessPosterior

LEAST_STD = 1e-9
"""Tangents of the root are taken at no smaller share of the prior's std."""

FLAT = 0.9
"""Where the ends of the std lie below so much of what the sums say, the ends are taken."""

LARGEST_ERROR = 1e-2
"""Share of its largest norm by which rounding may move y; with more nothing is proven."""


@dataclass(frozen=True, eq=False)
class PosteriorSpread(Spread):
    """Sums of correlations round the std; all (B,) but `toward`, (B, n).

    Parameters
    ----------
    low, high
        Ends of the std, in units of y.
    toward
        a g.
    at
        Where tangents of the root are taken, in standardized units.
    flat : (B,) bool array
        Where the ends are closer than the sums.
    top, bottom
        The variance is within ``[bottom, top] - 2 toward . h``.
    reach : float
        From standardized units to those of y.
    """

    low: FloatArray
    high: FloatArray
    toward: FloatArray
    at: FloatArray
    flat: BoolArray
    top: FloatArray
    bottom: FloatArray
    least: float
    reach: float

    def above(self, weights: FloatArray) -> Sum:
        """Return the sum that fits the sign of the weight."""
        low, high = self.low / self.reach, self.high / self.reach
        at = np.maximum(self.at, self.least)
        both = low + high
        wide = both > self.least
        rising = weights > 0.0
        slope = np.where(rising, 0.5 / at, np.where(wide, 1.0 / np.where(wide, both, 1.0), 0.0))
        constant = np.where(rising, self.top + at**2, np.where(wide, self.bottom + low * high, 0.0))
        factors = weights * self.reach * slope
        sizes = np.abs(self.top) + np.abs(self.bottom) + at**2 + high**2
        constant = factors * constant + ROUNDING * np.abs(factors) * sizes
        ends = weights * np.where(rising, self.high, self.low)
        constant = np.where(self.flat, ends + ROUNDING * np.abs(ends), constant)
        factors = np.where(self.flat, 0.0, factors)
        return -2.0 * factors[:, None] * self.toward, constant


class PosteriorPart(SpreadRelaxer):
    """The std of a Gaussian process.

    Parameters
    ----------
    posterior : ProcessPosterior
    units : KernelUnits

    Attributes
    ----------
    rows : UnitRows
        Of the mean and of the correlations.
    """

    outputs = ()

    def __init__(self, posterior: ProcessPosterior, units: KernelUnits) -> None:
        self._posterior, self._units = posterior, units
        self.rows = UnitRows.of_posterior(units, posterior)
        factor, n = posterior.factor, len(posterior.points)
        self._inverse = solve_triangular(factor, np.eye(n), lower=True, check_finite=False)
        with np.errstate(over="ignore", invalid="ignore"):
            self.why_not = self._measure()

    def spread(self, bounded: OutputBounds) -> PosteriorSpread:
        """Bound the std over boxes; see the module."""
        assert isinstance(bounded, UnitOutputBounds)
        a, reach, units = self._posterior.amplitude, self._posterior.reach, self._units
        v = a * (bounded.forms.value @ self._inverse.T)
        g = v @ self._inverse
        square = np.square(v).sum(axis=1)
        length = np.sqrt(square)
        by_prior = np.sqrt(a) * units.changes(bounded.radius)[0]
        moved = np.minimum(by_prior, self._moved(bounded))
        missed, own_error = self._errors(v, g, moved)
        error = 2.0 * np.sqrt(a) * missed + ROUNDING * (a + square)
        low_sum, high_sum = self._ends(bounded, a * g)
        top = a + square + error
        bottom = a + square - np.square(moved + self._center_error) - error
        most = top - 2.0 * low_sum
        least = bottom - 2.0 * high_sum
        off = self._center_error + ROUNDING * length
        at_most = np.sqrt(np.maximum(a - np.square(np.maximum(length - off, 0.0)), 0.0))
        at_least = np.sqrt(np.maximum(a - np.square(length + off), 0.0))
        middle = a + square - 2.0 * a * (g * bounded.forms.value).sum(axis=1)
        own = error + 2.02 * a * (units.error + self._rounding) * np.abs(g).sum(axis=1)
        at_most = np.minimum(at_most, np.sqrt(np.maximum(middle + own, 0.0)))
        at_least = np.maximum(
            at_least, np.sqrt(np.maximum(middle - own - self._center_error**2, 0.0))
        )
        by_prior = np.minimum(by_prior, self._by_slopes(bounded))
        by_sums = np.sqrt(np.maximum(most, 0.0))
        high = np.minimum(np.minimum(by_sums, at_most + by_prior), np.sqrt(a))
        flat = high < FLAT * by_sums
        low = np.maximum(np.sqrt(np.maximum(least, 0.0)), at_least - by_prior)
        # The posterior's own variance lies a little off the exact one.
        high = np.sqrt(np.square(high) + own_error) * (1.0 + ROUNDING)
        low = np.sqrt(np.maximum(np.square(np.maximum(low, 0.0)) - own_error, 0.0))
        low = np.minimum(low * (1.0 - ROUNDING), high)
        shortest = LEAST_STD * float(np.sqrt(a))
        return PosteriorSpread(
            reach * low,
            reach * high,
            a * g,
            _middle_root(top - 2.0 * high_sum, most),
            flat,
            top + own_error,
            bottom - own_error,
            shortest,
            max(reach, 1e-300),
        )

    def _by_slopes(self, bounded: UnitOutputBounds) -> FloatArray:
        """Bound |std - std(center)| (B,) to second order; infinite for kernels without one."""
        units, a = self._units, self._posterior.amplitude
        rest = units.changes(bounded.radius)[1]
        if not np.isfinite(rest).all():
            return np.full(len(rest), np.inf)
        steps = units.scaled(bounded.radius)
        changes = (
            bounded.forms.slope[:, :, None] * bounded.forms.along * bounded.radius.T[:, None, :]
        )
        length = a * np.sqrt(np.square(self._inverse @ changes).sum(axis=1))
        prior = a * units.second_moment * np.square(steps)
        left = prior - np.square(np.maximum(length - self._slope_error * steps, 0.0))
        left = np.sqrt(np.maximum(left, 0.0) + 4.0 * self._rounding * prior)
        return np.asarray((left.sum(axis=1) + np.sqrt(a) * rest) * (1.0 + 1e-12))

    def _moved(self, bounded: UnitOutputBounds) -> FloatArray:
        """Bound |y(x) - y(center)| (B,) by the correlations that change."""
        a, forms = self._posterior.amplitude, bounded.forms
        up = forms.upper_value + np.abs(forms.upper_slope) * forms.reach - forms.value
        down = forms.value - forms.lower_value + np.abs(forms.lower_slope) * forms.reach
        changes = np.maximum(np.maximum(up, down), 0.0)
        return np.asarray(1.01 * self._grown * a * np.sqrt(np.square(changes).sum(axis=1)))

    def _errors(
        self, v: FloatArray, g: FloatArray, moved: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Bound |q|, and the error of the posterior's own variance; both (B,)."""
        factor, a = self._posterior.factor, self._posterior.amplitude
        sizes, rounding = np.abs(factor), self._rounding
        missed = np.sqrt(np.square(v - g @ factor).sum(axis=1))
        summands = np.abs(v) + np.abs(g) @ sizes
        missed = 1.01 * (missed + rounding * np.sqrt(np.square(summands).sum(axis=1)))
        around = moved + self._center_error
        solved = np.abs(v) @ sizes.T + (around + self._off)[:, None] * self._rows_of_factor
        shifts = a * self._units.error + rounding * solved
        error = (np.abs(g) * shifts).sum(axis=1) + (missed + around) * self._off
        error = 2.02 * error + 1.01 * self._off**2
        return missed, error + 2.0 * rounding * (a + (np.sqrt(a) + self._off) ** 2)

    def _ends(self, bounded: UnitOutputBounds, toward: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bound ``toward . h`` from below and from above over the boxes."""
        direct = np.zeros((len(toward), bounded.center.shape[0]))
        nothing, sizes = np.zeros(len(toward)), np.abs(toward)
        high = self.rows.sums(bounded, toward, sizes, direct, nothing).bound
        low = -self.rows.sums(bounded, -toward, sizes, direct, nothing).bound
        return low, high

    def _measure(self) -> str:
        """Bound the errors, and return why they are too large; empty where they are not."""
        read, units, inverse = self._posterior, self._units, self._inverse
        factor, a, n = read.factor, read.amplitude, len(read.points)
        sizes, root = np.abs(inverse), float(np.sqrt(a))
        product = sizes @ np.abs(factor)
        rounding = gamma(3 * n + 8)
        self._rounding = rounding
        self._rows_of_factor = np.linalg.norm(factor, axis=1)
        eps = float(np.linalg.norm(inverse @ factor - np.eye(n)))
        eps += 1.01 * rounding * float(np.linalg.norm(product))
        grown = float(np.linalg.norm(inverse))
        singular = "the factor of the posterior is singular to rounding; raise alpha or the noise."
        if not (np.isfinite(grown) and eps < 0.1):
            return singular
        condition = float(np.linalg.norm(product))
        condition += eps / (1.0 - eps) * grown * float(np.linalg.norm(factor))
        grown /= 1.0 - eps
        solved = 1.1 * rounding * condition
        entries = 1.01 * grown * a * units.error * float(np.sqrt(n))
        self._grown = grown
        self._off = 1.2 * solved * (root + entries) + entries
        rows = float(np.linalg.norm(sizes.sum(axis=1)))
        self._center_error = 1.1 * (eps * root + entries + rounding * a * rows)
        solving = float(np.sqrt(units.second_moment)) * (eps * root + rounding * a * rows)
        entering = grown * a * units.slope_error * float(np.sqrt(n))
        self._slope_error = 1.1 * (solving + entering)
        if not (solved < 0.1 and self._off < LARGEST_ERROR * root):
            return singular
        if not self._spare_noise(rounding) > 0.0:
            return "the noise of the posterior vanishes in rounding; raise alpha or the noise."
        return ""

    def _spare_noise(self, rounding: float) -> float:
        """Bound the least eigenvalue of L L^T - K from below."""
        factor, a = self._posterior.factor, self._posterior.amplitude
        excess = factor @ factor.T - a * self._units.gram
        error = rounding * (np.abs(factor) @ np.abs(factor.T)) + a * (self._units.error + rounding)
        diagonal = float((np.diag(excess) - np.diag(error)).min())
        others = np.abs(excess) + error
        np.fill_diagonal(others, 0.0)
        return diagonal - 1.01 * float(np.linalg.norm(others))


def _middle_root(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the middle of the roots: there a tangent loses the same at both ends."""
    roots = [np.sqrt(np.maximum(end, 0.0)) for end in (low, high)]
    return np.asarray(0.5 * roots[0] + 0.5 * roots[1])
