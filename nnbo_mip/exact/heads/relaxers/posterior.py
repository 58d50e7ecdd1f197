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

*First order.* In the kernel's Hilbert space, with those observations for further coordinates, the
std is the distance of k(., x) from the space that the observed points span. With P the projection
onto the rest of it, c the center, t = x - c and J = L^-1 dk(c), so that J t is what the points
know of the step,

    k(., x) = k(., c) + r + q + R_2,    r = sum_j t_j d_j k(., c),    q of second order,
    |P r|^2 = a E (w . t)^2 - |J t|^2,    <P k(., c), P r> = -y(c) . J t,
    |q|^2 = a E (w . t)^4 / 4,
    |std(x) - |P k(., c) + P r|| <= |R_1|,    R_1 = q + R_2.

Where points are dense |P r| is as small as the std itself, and nothing else is of first order.

*Second order.* The tangent of the root divides by the std, so that what is left out of the variance
is enlarged by it; |y - v|^2 = |J t|^2 + … is the largest such part and cancels most of the
curvature of ``-2 g . k``. It is taken off in two ways (`Bent`), and the smaller bound is kept.

By sums: y(x) - v = J t + e, where |e| is at most |R_1|, and at most |L^-1| times the remainders
of the correlations, so that

    -|y - v|^2 <= -|J t|^2 + 2 |J t| |e|,

and the correlations in ``-2 g . k`` have third remainders, one by one or by their norm.

By the space: no remainder of a correlation is taken, but std(x) <= |P (k(., c) + r + q)| + |R_2|.
With z the components of q along the points, |P q|^2 = |q|^2 - |z|^2, and as <r, q> = 0,

    |P (k(., c) + r + q)|^2 = a + |q|^2 - |y(c) + J t + z|^2
                           <= a + |v|^2 - 2 g . k_2(t) - |J t|^2 + |q|^2 + 2 |P r| |q|,

k_2 the second-order expansion of the correlations, for -J t . z = <P r, P q>. The mean is a product
of k(., x) with a combination f of the points' elements, to which P is orthogonal, so that what is
left of ``s mean + l std`` is at most sqrt(s^2 |f|^2 + l^2) |R_2|: of a length, not of a sum. And
f = f_1 + f_2: correlations of f_1 have third remainders one by one, and |f_2| takes the place of
|f| (`_parts_of_mean`): weights of close points are large and cancel, ridge weights are small.

*Rounding.* The posterior solves (L + dL) y' = k + dk with |dL| <= gamma |L| and |dk| <= a e, so
that y' - y = L^-1 r with r = dk - dL y', of a norm that the computed inverse R and the size of
R L - I bound: `off`. With g as computed, which need not be L^-T v, and q = v - L^T g,

    v . y = g . k + q . y,
    |y'|^2 - |y|^2 = 2 (g . r + q . (y' - y) + (y - v) . (y' - y)) + |y' - y|^2,

which is small however badly L is conditioned: |g| is of order one, |q| of that of rounding, and
|y - v| of that of the box.

References
----------
Wendland (2005), the std as a distance in the kernel's space [Wendland2005].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.exact.bounds.kernel_units import KernelUnits
from nnbo_mip.exact.bounds.relaxation import LinearBounds
from nnbo_mip.exact.bounds.row_relaxation import OutputBounds, Rows
from nnbo_mip.exact.bounds.unit_relaxation import Curve, UnitOutputBounds, UnitRows
from nnbo_mip.exact.bounds.units import moving
from nnbo_mip.exact.heads.relaxers.spreads import ROUNDING, Spread, SpreadRelaxer, Sum
from nnbo_mip.exact.scores.level_lines import LevelLines
from nnbo_mip.exact.search.rounding import gamma
from nnbo_mip.scores.posteriors.process import ProcessPosterior

LEAST_STD = 1e-9
"""Tangents of the root are taken at no smaller share of the prior's std."""

FLAT = 0.5
"""Where the ends of the std lie below so much of what the sums say, the ends are taken."""

RIDGES = (1e-2, 1e-4, 1e-6)
"""Shares of the amplitude; of the parts of the mean."""

LARGEST_ERROR = 1e-2
"""Share of its largest norm by which rounding may move y; with more nothing is proven."""


@dataclass(frozen=True, eq=False)
class Bent:
    """What the squared length of ``y - v`` takes off the variance; see *Second order*.

    Parameters
    ----------
    form : (B, m, m) array
        ``J' J`` in the units of the boxes, in the coordinates that move.
    by_sums, by_space : (B,) arrays
        What is added where the correlations' remainders are bounded by themselves, and where they
        are bounded in the space.
    across : (B,) array
        The largest ``|P sum_j t_j d_j k|``.
    along : (B,) array
        The largest ``<P k(., c), P sum_j t_j d_j k>``.
    first, remainder : (B,) arrays
        The largest length of what is left of k after the first order, and after the second.
    parts : (B, p) array
        What is left after the second order of parts of the mean, bounded by themselves.
    norms : (p,) array
        Lengths in the space, in units of y, of what the mean is beside these parts.
    """

    form: FloatArray
    by_sums: FloatArray
    by_space: FloatArray
    across: FloatArray
    along: FloatArray
    first: FloatArray
    remainder: FloatArray
    parts: FloatArray
    norms: FloatArray

    def curve(self, factors: FloatArray, stds: FloatArray, shares: FloatArray) -> Curve:
        """Return the curve of a sum, with factors of the variance that stand for these of the std.

        All (B,); shares are those of the mean.
        """
        with np.errstate(invalid="ignore"):
            lengths = np.hypot(shares[:, None] * self.norms, stds[:, None])
            left = np.abs(shares)[:, None] * self.parts + lengths * self.remainder[:, None]
            whole = factors * self.by_space + np.fmin.reduce(left, axis=1)
        return Curve(
            -2.0 * factors[:, None, None] * self.form,
            factors * self.by_sums,
            np.where(np.isnan(whole), np.inf, whole),
        )


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
    bent: Bent

    def above(self, weights: FloatArray) -> Sum:
        """Return the sum that fits the sign of the weight."""
        factors, constant = self._scaled(weights)
        return -2.0 * factors[:, None] * self.toward, constant

    def carried(
        self, rows: Rows, bounded: OutputBounds, lines: LevelLines, slope_steps: int
    ) -> LinearBounds:
        """Bound the sums, with their curves."""
        assert isinstance(rows, UnitRows)
        made, constants = self.above(lines.std_weight)
        curve = self._curve(lines.mean_weight, lines.std_weight)
        shares, levels = lines.mean_weight, lines.limit
        return rows.carry(bounded, shares, made, constants, levels, slope_steps, curve)

    def _curve(self, shares: FloatArray, weights: FloatArray) -> Curve:
        """Return what closes in on a sum with shares of the mean and these weights of the std."""
        rising = (weights > 0.0) & ~self.flat
        factors = np.where(rising, self._scaled(weights)[0], 0.0)
        # A chord below the root is a sum of correlations whose remainder is not bounded here.
        stds = np.where((weights < 0.0) & ~self.flat, np.inf, np.abs(weights) * self.reach)
        stds = np.where(self.flat, 0.0, stds)
        return self.bent.curve(factors, stds, shares)

    def _scaled(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the factors of the variance, and constants."""
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
        return np.where(self.flat, 0.0, factors), constant


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
        self.lengths = posterior.length_scale * posterior.x_scale
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
        bent = self._bent(bounded, v, missed)
        error = 2.0 * np.sqrt(a) * missed + ROUNDING * (a + square)
        top = a + square + error
        bottom = a + square - np.square(moved + self._center_error) - error
        off = self._center_error + ROUNDING * length
        at_most = np.sqrt(np.maximum(a - np.square(np.maximum(length - off, 0.0)), 0.0))
        at_least = np.sqrt(np.maximum(a - np.square(length + off), 0.0))
        middle = a + square - 2.0 * a * (g * bounded.forms.value).sum(axis=1)
        own = error + 2.02 * a * (units.error + self._rounding) * np.abs(g).sum(axis=1)
        at_most = np.minimum(at_most, np.sqrt(np.maximum(middle + own, 0.0)))
        at_least = np.maximum(
            at_least, np.sqrt(np.maximum(middle - own - self._center_error**2, 0.0))
        )
        by_prior = np.minimum(by_prior, bent.across + bent.first)
        cone = np.sqrt(np.square(at_most) + 2.0 * bent.along + np.square(bent.across))
        around = np.minimum(at_most + by_prior, cone + bent.first)
        low_sum, high_sum = self._ends(bounded, a * g, bent, around)
        most, least = top - 2.0 * low_sum, bottom - 2.0 * high_sum
        by_sums = np.sqrt(np.maximum(most, 0.0))
        high = np.minimum(np.minimum(by_sums, around), np.sqrt(a))
        flat = high < FLAT * by_sums
        low = np.maximum(np.sqrt(np.maximum(least, 0.0)), at_least - by_prior)
        cone = np.sqrt(np.maximum(np.square(at_least) - 2.0 * bent.along, 0.0))
        low = np.maximum(low, cone - bent.first)
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
            bent,
        )

    def _bent(self, bounded: UnitOutputBounds, v: FloatArray, missed: FloatArray) -> Bent:
        """Return what |y - v|^2 takes off; `missed` bounds |q|."""
        units, a = self._units, self._posterior.amplitude
        root = float(np.sqrt(a))
        _, after_one, after_two = units.changes(bounded.radius)
        steps = units.scaled(bounded.radius)
        squares = np.square(steps)
        prior = a * units.second_moment * squares.sum(axis=1)
        columns = moving(bounded.lower, bounded.upper, bounded.center)
        along = bounded.forms.along[..., columns]
        changes = bounded.forms.slope[:, :, None] * along * bounded.radius.T[:, None, columns]
        moved = a * (self._inverse @ changes)
        form = moved.transpose(0, 2, 1) @ moved
        own = self._slope_error * steps.sum(axis=1)
        rounded = 8.0 * self._rounding * prior * steps.shape[1]
        length = np.sqrt(np.abs(form).sum(axis=(1, 2)))
        length = np.minimum(length, np.sqrt(prior) + own)
        error = 2.0 * (length + own) * own + rounded
        rest = np.minimum(root * after_one, self._second(bounded)) + self._center_error + own
        by_sums = 2.0 * length * rest + error
        left, d = -form, steps.shape[1]
        diagonal = np.arange(form.shape[1])
        left[:, diagonal, diagonal] += a * units.second_moment * squares[:, columns]
        across = np.sqrt(np.abs(left).sum(axis=(1, 2)) + error)
        along = np.abs((v[:, None, :] @ moved)[:, 0]).sum(axis=1)
        along = along + (root + self._center_error) * own + self._center_error * (length + own)
        along = along + self._rounding * root * (np.sqrt(prior) + own) * d
        second = root * 0.5 * np.sqrt(units.fourth_moment) * squares.sum(axis=1)
        with np.errstate(invalid="ignore"):
            by_space = second**2 + 2.0 * across * second + error
            by_space = by_space + 2.0 * (length + own + second) * (self._center_error + own)
            by_space = by_space + 2.0 * missed * second
        return Bent(
            form,
            by_sums * (1.0 + 1e-9),
            np.where(np.isnan(by_space), np.inf, by_space * (1.0 + 1e-9)),
            across * (1.0 + 1e-9),
            along * (1.0 + 1e-9),
            root * after_one,
            root * after_two,
            bounded.forms.third @ self._parts_sizes * (1.0 + 1e-9),
            self._norms,
        )

    def _second(self, bounded: UnitOutputBounds) -> FloatArray:
        """Bound |y - v - J t| (B,) by the correlations."""
        a, forms = self._posterior.amplitude, bounded.forms
        wide = 2.0 * np.square(bounded.radius).T @ forms.metric
        second = 0.5 * (np.abs(forms.bend) * forms.reach**2 + np.abs(forms.slope) * wide[:, None])
        second = second + forms.third + forms.error
        return np.asarray(1.01 * self._grown * a * np.sqrt(np.square(second).sum(axis=1)))

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

    def _ends(
        self, bounded: UnitOutputBounds, toward: FloatArray, bent: Bent, around: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Bound ``toward . h + |y - v|^2 / 2`` from below, and ``toward . h`` from above.

        No std is larger than `around`.
        """
        direct = np.zeros((len(toward), bounded.center.shape[0]))
        nothing, sizes = np.zeros(len(toward)), np.abs(toward)
        high = self.rows.sums(bounded, toward, sizes, direct, nothing).bound
        curve = bent.curve(nothing + 0.5, around + 1.5 * bent.remainder, nothing)
        low = -self.rows.sums(bounded, -toward, sizes, direct, nothing, curve).bound
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
        self._parts_sizes, self._norms = self._parts_of_mean(rounding)
        if not self._spare_noise(rounding) > 0.0:
            return "the noise of the posterior vanishes in rounding; raise alpha or the noise."
        return ""

    def _parts_of_mean(self, rounding: float) -> tuple[FloatArray, FloatArray]:
        """Return sizes of weights (n, p) of parts of the mean, and norms (p,) of what is left.

        The mean's weights are large where points are close, and of either sign. Ridge weights are
        smaller, and what they miss is short. The first part is nothing, the last all of it.
        """
        read, factor = self._posterior, self._posterior.factor
        gram, weights, n = factor @ factor.T, read.weights, len(read.weights)
        unit, right = read.amplitude * np.eye(n), gram @ weights
        ridges = [np.linalg.solve(gram + c * unit, right) for c in RIDGES]
        parts = np.array([0.0 * weights, *ridges, weights]).T
        missed = weights[:, None] - parts
        sizes = np.abs(factor).T @ (np.abs(weights)[:, None] + np.abs(parts))
        norms = np.linalg.norm(factor.T @ missed, axis=0)
        norms += rounding * np.linalg.norm(sizes, axis=0)
        scale = abs(read.y_scale) * (1.0 + 1e-12)
        return scale * read.amplitude * np.abs(parts), scale * norms

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
