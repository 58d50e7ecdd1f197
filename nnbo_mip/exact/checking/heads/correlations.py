r"""Correlations with observed points as functions of a Hilbert space, written for checking.

In units of length-scales a stationary kernel is p(|t|^2) = E cos(w . t) for a random w, so that
k_x = p(|. - x|^2) is an element of length 1 and, with derivatives by x,

    <k_c, d_i d_j k_c> = -<d_i k_c, d_j k_c> = -mu_2 [i = j],      mu_n = E (w . e)^n, |e| = 1.

What is left of k_{c+t} after its Taylor expansion at c has a length that depends on s = |t|^2
alone and grows with it, as |e^ia - 1 - ia + ...| grows with |a|:

    order 0    E |e^ia - 1|^2                = 2 - 2 p
    order 1    E |e^ia - 1 - ia|^2           = 2 - 2 p + mu_2 s + 4 s p'            <= mu_4 s^2 / 4
    order 2    E |e^ia - 1 - ia + a^2/2|^2   = 2 - 2 p + mu_4 s^2/4 + 2 s p' - 4 s^2 p''
                                                                                    <= mu_6 s^3 / 36

with a = w . t. Where the last moment is infinite, in z = sqrt(2 nu s), the squares of order 1 are
at most 4 z^3 / 3 for matern 1.5, and those of order 2 at most 4 z^5 / 15 for matern 2.5: their
derivatives by z are 2 z (1 - e^-z + z e^-z) and z^3 (1 - e^-z + z e^-z / 3), and 1 - e^-z <= z.

*Rounding.* With v the difference to an observed point, computed as v', |v' - v| <= 4 u |v| + e,
where e is zero unless inputs are moved or scaled. A correlation and its derivatives are displaced
by that, times the next derivative, which is at most 1, mu_2 and sqrt(mu_2 mu_4) in length and,
times |v|, at most 0.8, 1.2 and 5. What remains is a few roundings of numbers below 1, 1 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.scores.posteriors.process import ProcessPosterior

UNIT = 2.0**-53

LIBRARY = 16.0 * UNIT
"""Relative error of exp and log1p."""


def gamma(count: int) -> float:
    """Bound the relative error of a sum of so many products, in any order."""
    return count * UNIT / (1.0 - count * UNIT)


@dataclass(frozen=True, eq=False)
class Columns:
    """Correlations of B points with n observed ones, and what their derivatives are made of.

    Parameters
    ----------
    taylor : (1 + d, n, B) array
        Correlations, and their first derivatives by the scaled inputs.
    off : (d, n, B) array
        Scaled differences.
    bend, fall : (n, B) arrays
        The second derivative by inputs j and k is ``bend * off_j * off_k``, less `fall` if j = k.
    """

    taylor: FloatArray
    off: FloatArray
    bend: FloatArray
    fall: FloatArray

    def curved(self, weights: FloatArray) -> FloatArray:
        """Return sums (d, d, B) of second derivatives with weights (n, B) or (n, 1)."""
        d = len(self.off)
        bent, fallen = weights * self.bend, (weights * self.fall).sum(axis=0)
        sums = np.empty((d, d, bent.shape[1]))
        for j in range(d):
            part = bent * self.off[j]
            for k in range(j + 1):
                sums[j, k] = sums[k, j] = (part * self.off[k]).sum(axis=0)
            sums[j, j] -= fallen
        return sums


class Correlations:
    """The kernel of a posterior over boxes inside ``lower <= x <= upper``.

    Parameters
    ----------
    posterior : ProcessPosterior
        Its kernel has a second moment: not matern with nu = 0.5.
    lower, upper : (d,) arrays

    Attributes
    ----------
    second, fourth : float
        mu_2 and mu_4, the latter perhaps infinite.
    errors : tuple of float
        How far computed correlations, first and second derivatives may be from exact.
    gram_error : float
        The same of correlations between observed points.
    own_error : float
        The same of correlations as the posterior itself computes them.
    """

    def __init__(self, posterior: ProcessPosterior, lower: FloatArray, upper: FloatArray) -> None:
        self.form, self.nu, self.mixture = posterior.form, posterior.nu, posterior.mixture
        self._read, self._length = posterior, posterior.length_scale
        self._reach = posterior.length_scale * posterior.x_scale
        m, d = self.mixture, posterior.n_inputs
        if self.form == "rbf":
            self.second, self.fourth, self._sixth = 1.0, 3.0, 15.0
        elif self.form == "matern":
            self.second, self._sixth = (3.0 if self.nu == 1.5 else 5.0 / 3.0), np.inf
            self.fourth = np.inf if self.nu == 1.5 else 25.0
        else:
            self.second, self.fourth = 1.0, 3.0 * (m + 1.0) / m
            self._sixth = 15.0 * (m + 1.0) / m * ((m + 2.0) / m)
        most = (np.maximum(np.abs(lower), np.abs(upper)) + np.abs(posterior.x_center)) * 1.01
        sizes = most / self._reach
        powers_of_two = np.frexp(posterior.x_scale)[0] == 0.5
        moved = ~(powers_of_two & (posterior.x_center == 0.0))
        shift = 4.0 * UNIT * float(np.linalg.norm(np.where(moved, sizes, 0.0)))
        third = float(np.sqrt(self.second * self.fourth)) if self.is_twice_smooth else 0.0
        self.errors = (
            (40.0 + 4.0 * d) * UNIT + 2.0 * shift,
            (60.0 + 6.0 * d) * UNIT + 4.0 * shift,
            (300.0 + 10.0 * d) * UNIT + 2.0 * third * shift,
        )
        self.gram_error = (40.0 + 4.0 * d) * UNIT
        sizes = sizes + np.abs(posterior.points / self._length).max(axis=0)
        self.own_error = (64.0 + 4.0 * d) * UNIT + 16.0 * UNIT * float(np.linalg.norm(sizes))

    @property
    def is_twice_smooth(self) -> bool:
        """Whether second derivatives of k_x are in the space."""
        return bool(np.isfinite(self.fourth))

    @property
    def has_sane_scales(self) -> bool:
        """Whether nothing here comes near overflow or underflow."""
        sizes = np.concatenate([self._length, self._reach, [self.mixture]])
        spread = sizes.min() > 1e-60 and sizes.max() < 1e60
        return bool(spread and max(*self.errors[:2], self.own_error) < 1e-3)

    def gram(self) -> FloatArray:
        """Return computed correlations (n, n) between the observed points."""
        points = self._read.points
        off = (points.T[:, :, None] - points.T[:, None, :]) / self._length[:, None, None]
        return self._profile(np.square(off).sum(axis=0))[0]

    def scaled(self, half: FloatArray) -> FloatArray:
        """Return half widths (d, B) of boxes in length-scales, rounded up."""
        return np.asarray(half / self._reach[:, None] * (1.0 + 8.0 * UNIT))

    def columns(self, center: FloatArray) -> Columns:
        """Return the correlations at points (d, B)."""
        read = self._read
        u = (center - read.x_center[:, None]) / read.x_scale[:, None]
        off = (u[:, None, :] - read.points.T[:, :, None]) / self._length[:, None, None]
        value, fall, bend = self._profile(np.square(off).sum(axis=0))
        taylor = np.concatenate([value[None], -fall * off])
        return Columns(taylor, off, bend, fall)

    def remainders(self, half: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Bound what is left of k_x in boxes of scaled half widths (d, B) after orders 0, 1, 2.

        The last is infinite where the second derivatives are not in the space.
        """
        s = np.square(half).sum(axis=0) * (1.0 + 1e-14)
        p, fall, bend = self._profile(s)  # fall is -2 p', bend 4 p''
        none = np.minimum(2.0 - 2.0 * p + 2.0 * self.gram_error, self.second * s)
        rounding = 300.0 * UNIT * (1.0 + self.second * s)
        one = none + self.second * s - 2.0 * s * fall + rounding
        z = np.sqrt(2.0 * self.nu * s)
        if not self.is_twice_smooth:
            one = np.minimum(one, 4.0 / 3.0 * z**3)
            two = np.full_like(s, np.inf)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                one = np.minimum(one, 0.25 * self.fourth * s**2)
                quartic = 0.25 * self.fourth * s**2
                two = 2.0 - 2.0 * p + quartic - s * fall - s * s * bend
                two = two + 300.0 * UNIT * (4.0 + quartic)
                least = self._sixth / 36.0 * s**3 if np.isfinite(self._sixth) else 4 / 15 * z**5
                two = np.fmin(two, least)
        return (
            np.sqrt(none) * (1.0 + 1e-12),
            np.sqrt(one) * (1.0 + 1e-12),
            np.sqrt(two) * (1.0 + 1e-12),
        )

    def _profile(self, s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return p, -2 p' and 4 p'' at squared distances; the last is zero where it is infinite."""
        if self.form == "rbf":
            p = np.exp(-0.5 * s)
            return p, p, p
        if self.form == "rational_quadratic":
            m = self.mixture
            logs = np.log1p(0.5 * s / m)
            p, fall, bend = (np.exp(-(m + k) * logs) for k in (0.0, 1.0, 2.0))
            return p, fall, (m + 1.0) / m * bend
        z = np.sqrt(2.0 * self.nu * s)
        p = np.exp(-z)
        if self.nu == 1.5:
            return (1.0 + z) * p, 3.0 * p, np.zeros_like(p)
        return (1.0 + z + z * z / 3.0) * p, 5.0 / 3.0 * (1.0 + z) * p, 25.0 / 3.0 * p
