r"""Correlations h_j(x) = p(s_j(x)) of a stationary kernel with observed points, over boxes.

s_j is the squared scaled distance from point j; p falls and is convex (`kernel_profiles`). With
v_j the scaled difference at the center and tau = t / (x_scale length),

    s_j = s_j(center) + D_j t + |tau|^2,    D_j t = 2 v_j . tau,    0 <= |tau|^2 <= Q.

*Lines.* The range [l, u] of s_j over the box is exact. Above h_j is the chord of p, of slope
k < 0, in which s_j counts without |tau|^2; below it is a tangent of p, with Q in place of
|tau|^2. The tangent of any s >= 0 serves.

*Expansion.* Along t the third derivative is p''' (D t)^3 + 6 p'' (D t) |tau|^2, where
|D t| <= 2 r |tau| at distance r, so at most |tau|^3 max(8 |p'''| r^3, 12 p'' r), as the signs
differ. p'' and |p'''| fall, so that the near end bounds them; `Profile.steepest_third` does
everywhere.

*Norm.* f = sum_j c_j h_j lies in the kernel's Hilbert space, with norm N^2 = c' K c, K the
correlations between the points. There |f(x)| <= N, f changes by at most
N sqrt(2 - 2 p(|tau|^2)), and its derivative of order k along t is at most
N |tau|^k sqrt(E (w . t)^2k) in the spectrum of the kernel. This knows what cancels between
weights of either sign, as those of a smooth posterior are.

*Remainders.* What is left of k(., x), an element of that space of length 1, after its expansion at
the center to order n has the squared length E |e^ia - 1 - ia - …|^2, a = w . t. Its parts without
e^ia are moments of the spectrum, m along a line, and those with it derivatives of p at s = |tau|^2:

    n = 0    2 - 2 p                                                     <= m_2 s
    n = 1    2 - 2 p + m_2 s + 4 s p'                                    <= m_4 s^2 / 4
    n = 2    2 - 2 p + m_4 s^2 / 4 + 2 s p' - 4 s^2 p''                  <= m_6 s^3 / 36

They grow with |a|, hence with s. Where the last moment is infinite, in z = sqrt(2 nu s), n = 1 of
matern 1.5 is at most 4 z^3 / 3 and n = 2 of matern 2.5 at most 4 z^5 / 15: their derivatives by z
are 2 z (1 - e^-z + z e^-z) and z^3 (1 - e^-z + z e^-z / 3), and 1 - e^-z <= z.

*Rounding.* What is computed is exact for a point displaced by the rounding of v_j, e_j, by which
h_j and its first derivatives change by at most e_j times the next derivative.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.units import UnitRelaxations, Units
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF, gamma
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.space.domain import Domain

LEAST_TANGENT = 1e-24
"""Tangents are taken at no smaller s, so that their slopes stay far from overflow."""


class KernelUnits(Units):
    """The correlations with the observed points of a posterior.

    Parameters
    ----------
    posterior : ProcessPosterior
    domain : Domain

    Attributes
    ----------
    error : float
        How far a computed correlation may be from exact.
    gram : (n, n) array
        Computed correlations between the points.
    second_moment : float
        E (w . t)^2 of the spectrum for unit t: no second directional derivative by the scaled
        inputs is larger.
    fourth_moment : float
        E (w . t)^4; infinite for kernels without one.
    slope_error : float
        How far a computed derivative by a scaled input may be from exact.
    """

    def __init__(self, posterior: ProcessPosterior, domain: Domain) -> None:
        self.lower, self.upper = domain.lower, domain.upper
        self.profile = posterior.profile
        self.is_smooth = self.profile.is_smooth
        self.count = len(posterior.points)
        self._posterior = posterior
        length, scale = posterior.length_scale, posterior.x_scale
        self._unit = 1.0 / (length * scale)
        self._points = posterior.points / length
        most = np.maximum(np.abs(domain.lower), np.abs(domain.upper)) + np.abs(posterior.x_center)
        sizes = most / (scale * length) + np.abs(self._points).max(axis=0)
        shift = 16.0 * UNIT_ROUNDOFF * sizes
        self.largest = float(np.square(sizes).sum() + self._unit.max() ** 2)
        # Twice the displacement: once here, once in the posterior's own evaluation.
        self.error = 2.0 * float(np.linalg.norm(shift)) + 64.0 * UNIT_ROUNDOFF
        steepest = self.profile.steepest_third if self.is_smooth else 1.0
        self._growth = max(1.0, steepest)
        r = cdist(self._points, self._points)
        self.gram = self.profile.value(r * r)
        self._moments = self.profile.moments
        self.fourth_moment = self._moments[0]
        self.second_moment = -2.0 * float(self.profile.derivatives(np.zeros(1))[0][0])
        bent = max(self._growth, self.second_moment)
        self.slope_error = 2.0 * bent * (self.error + 64.0 * UNIT_ROUNDOFF)

    def forms(self, center: FloatArray, radius: FloatArray) -> UnitRelaxations:
        """Return the forms over boxes (d, B)."""
        read, p = self._posterior, self.profile
        u = (0.5 * center.T - 0.5 * read.x_center) / (0.5 * read.x_scale) / read.length_scale
        v = u[:, None, :] - self._points
        sides = self.scaled(radius)
        sizes = np.abs(v)
        s = np.square(v).sum(axis=2)
        shrink = 1.0 + 8.0 * UNIT_ROUNDOFF * (len(center) + 2)
        near = np.square(np.maximum(sizes - sides[:, None], 0.0)).sum(axis=2) / shrink
        far = np.square(sizes + sides[:, None]).sum(axis=2) * shrink
        whole = np.square(sides).sum(axis=1)[:, None]  # Q
        reach = 2.0 * (sizes * sides[:, None]).sum(axis=2) * shrink
        value, (slope, bend, _) = p.value(s), p.derivatives(s)
        high, low = p.value(near), p.value(far)
        width = far - near
        wide = width > 1e-12 * far
        chord = np.where(wide, (low - high) / np.where(wide, width, 1.0), 0.0)
        top = np.maximum(high - chord * near, low - chord * far)
        at = np.maximum(0.5 * near + 0.5 * far, LEAST_TANGENT)
        tangent = p.derivatives(at)[0]
        bottom = p.value(at) + tangent * (whole * shrink - at)
        rounding = 32.0 * UNIT_ROUNDOFF
        third = np.zeros_like(s)
        error = np.full_like(s, self.error)
        if self.is_smooth:
            third = self._third(near, far) * whole**1.5 / 6.0 * (1.0 + 1e-9)
            tau = np.sqrt(whole)
            error = self._growth * (self.error + rounding) * (1.0 + tau + whole) + 0.0 * s
        return UnitRelaxations(
            along=2.0 * v * self._unit,
            metric=self._unit**2,
            lower_value=bottom
            + tangent * s
            - self.error
            - rounding * (1.0 + np.abs(tangent) * (far + at + whole)),
            lower_slope=tangent,
            upper_value=top + chord * s + self.error + rounding * (1.0 - chord * far),
            upper_slope=chord,
            value=value,
            slope=slope,
            bend=bend,
            third=third,
            error=error,
            reach=reach,
        )

    def norms(self, weights: FloatArray) -> FloatArray:
        """Bound the norms (B,) of sums with weights (B, n)."""
        squares = ((weights @ self.gram) * weights).sum(axis=1)
        sums = np.square(np.abs(weights).sum(axis=1))
        slack = (gamma(4 * (self.count + 4)) + self.error) * sums
        return np.asarray(np.sqrt(np.maximum(squares, 0.0) + slack) * (1.0 + 1e-12))

    def changes(self, radius: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Bound what is left of a function of norm 1 over boxes (d, B) after 0 to 2 orders."""
        squared = np.square(self.scaled(radius)).sum(axis=1) * (1.0 + 1e-12)
        fourth, sixth = self._moments
        none = np.sqrt(2.0 * (1.0 - self.profile.value(squared)) + 64.0 * UNIT_ROUNDOFF)
        if self.is_smooth:
            none = np.minimum(none, np.sqrt(self.second_moment * squared))
        one, two = self._closed(squared)
        # Of a kernel that is not smooth they are infinite; at a point nothing changes all the same.
        with np.errstate(invalid="ignore"):
            first = np.where(squared > 0.0, 0.5 * np.sqrt(fourth) * squared, 0.0)
            second = np.where(squared > 0.0, np.sqrt(sixth) / 6.0 * squared**1.5, 0.0)
        one, two = np.fmin(one, first), np.fmin(two, second)
        if self.profile.form == "matern":  # of which those moments are infinite
            z = np.sqrt(2.0 * self.profile.nu * squared)
            if self.profile.nu == 2.5:
                two = np.fmin(two, np.sqrt(4.0 / 15.0) * z**2.5)
            elif self.profile.nu == 1.5:
                one = np.fmin(one, np.sqrt(4.0 / 3.0) * z**1.5)
        return none * (1.0 + 1e-12), one * (1.0 + 1e-12), two * (1.0 + 1e-12)

    def _closed(self, squared: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what is left after one order and two at squared distances; see *Remainders*."""
        if not self.is_smooth:
            nothing = np.full_like(squared, np.inf)
            return nothing, nothing
        value, (first, second, _) = self.profile.value(squared), self.profile.derivatives(squared)
        with np.errstate(invalid="ignore"):  # of infinite moments
            fourth = 0.25 * self.fourth_moment * squared**2
            two = 2.0 - 2.0 * value + fourth + 2.0 * squared * first - 4.0 * squared**2 * second
        one = 2.0 - 2.0 * value + self.second_moment * squared + 4.0 * squared * first
        rounding = 512.0 * UNIT_ROUNDOFF * (1.0 + squared)
        one = np.sqrt(np.maximum(one, 0.0) + rounding)
        return one, np.sqrt(np.maximum(two, 0.0) + rounding * (1.0 + fourth))

    def scaled(self, radius: FloatArray) -> FloatArray:
        """Return half sides (B, d) in length-scales, rounded up."""
        return np.asarray(radius.T * self._unit * (1.0 + 8.0 * UNIT_ROUNDOFF))

    def _third(self, near: FloatArray, far: FloatArray) -> FloatArray:
        """Bound third directional derivatives where s is in [near, far]."""
        _, second, third = self.profile.derivatives(near)
        r = np.sqrt(far)
        with np.errstate(over="ignore"):
            local = np.maximum(12.0 * second * r, -8.0 * third * r * far)
        return np.fmin(local, self.profile.steepest_third)
