r"""Stationary kernels of Gaussian processes, in closed form, in float64.

With the length-scales l_i, the amplitude a and r^2 = sum_i (x_i - x'_i)^2 / l_i^2,

    rbf                  rho(r) = exp(-r^2 / 2)
    matern               rho(r) = 2^(1-nu) / Gamma(nu) z^nu K_nu(z),   z = sqrt(2 nu) r
        nu = 0.5         rho(r) = exp(-r)
        nu = 1.5         rho(r) = (1 + sqrt(3) r) exp(-sqrt(3) r)
        nu = 2.5         rho(r) = (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)
    rational_quadratic   rho(r) = (1 + r^2 / (2 m))^(-m),   m the mixture

the kernel is k(x, x') = a rho(r). Its gradient needs the slope q(r) = -rho'(r) / r:

    dk/dx_i = -a q(r) (x_i - x'_i) / l_i^2.

With G disjoint groups of inputs that hold all of them, the function is a sum of functions of one
group each: k(x, x') = (a / G) sum_g rho(r_g), r_g the distance in the inputs of g alone.

Each rho is the mean of cos(w . (x - x') / l) over w = sqrt(s) z, z ~ N(0, I), with s = 1
(rbf), 1 / Gamma(nu, rate nu) (matern) or Gamma(m, rate m) (rational quadratic); with groups, w
is that of a random one and 0 elsewhere.

References
----------
Rasmussen and Williams (2006), kernels, chapter 4 [RasmussenWilliams2006].
Rahimi and Recht (2007), random waves [RahimiRecht2007].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import gammaln, kve

from nnbo_mip.core.arrays import FloatArray

FORMS = ("rbf", "matern", "rational_quadratic")

LARGEST_NU = 30.0
"""Beyond it K_nu leaves the float64 numbers, and a Matern kernel is an rbf to the eye."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel with all its parameters.

    Parameters
    ----------
    form : str
        ``rbf``, ``matern`` or ``rational_quadratic``.
    length_scale : (d,) array
        l, one an input.
    amplitude : float
        a, the variance of the function.
    nu : float
        Smoothness of ``matern``.
    mixture : float
        m of ``rational_quadratic``.
    groups : tuple of tuple of int
        Inputs of each group; none for one function of all inputs.
    """

    form: str
    length_scale: FloatArray
    amplitude: float = 1.0
    nu: float = 2.5
    mixture: float = 1.0
    groups: tuple[tuple[int, ...], ...] = ()

    def parts(self) -> Iterator[tuple[tuple[int, ...], Kernel]]:
        """Yield the inputs and the kernel of each group, or of all inputs."""
        if not self.groups:
            yield tuple(range(len(self.length_scale))), self
        for columns in self.groups:
            yield (
                columns,
                replace(
                    self,
                    length_scale=self.length_scale[list(columns)],
                    amplitude=self.amplitude / len(self.groups),
                    groups=(),
                ),
            )

    def __call__(self, A: FloatArray, B: FloatArray) -> FloatArray:
        """Return k (n, m) between points (n, d) and (m, d)."""
        if self.groups:
            shares = [part(A[:, columns], B[:, columns]) for columns, part in self.parts()]
            return np.asarray(np.sum(shares, axis=0))
        return self.at(self._distances(A, B))

    def pull(self, A: FloatArray, B: FloatArray, weights: FloatArray) -> FloatArray:
        """Return sum_j weights_ij dk(a_i, b_j)/da_i, (n, d); 0 for the slope at a cusp.

        Parameters
        ----------
        A, B : (n, d) and (m, d) arrays
            Points.
        weights : (n, m) or (m,) array
            Factors of the gradients.
        """
        if self.groups:
            pulled = np.zeros_like(A)
            for columns, part in self.parts():
                pulled[:, columns] = part.pull(A[:, columns], B[:, columns], weights)
            return pulled
        slopes = weights * self.slope(A, B)
        middle = B.mean(axis=0)  # keeps the difference of products exact far from the origin
        a, b = (A - middle) / self.length_scale, (B - middle) / self.length_scale
        return np.asarray((slopes @ b - slopes.sum(axis=1)[:, None] * a) / self.length_scale)

    def slope(self, A: FloatArray, B: FloatArray) -> FloatArray:
        """Return a q(r) (n, m) between points (n, d) and (m, d), of a kernel without groups."""
        return self.slope_at(self._distances(A, B))

    @property
    def is_smooth(self) -> bool:
        """Whether the kernel has a second derivative where points coincide."""
        return self.form != "matern" or self.nu > 1.0

    def at(self, r: FloatArray) -> FloatArray:
        """Return k at scaled distances, of a kernel without groups."""
        return np.asarray(self.amplitude * self._correlation(r))

    def slope_at(self, r: FloatArray) -> FloatArray:
        """Return a q(r)."""
        return np.asarray(self.amplitude * self._slope(r))

    def mixture_slope_at(self, r: FloatArray) -> FloatArray:
        """Return dk / d log m."""
        m = self.mixture
        share = np.square(r) / (2.0 * m)
        return np.asarray(self.at(r) * m * (share / (1.0 + share) - np.log1p(share)))

    def frequencies(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Return `count` draws (count, d) of w / l, for random waves of this kernel."""
        directions = rng.standard_normal((count, len(self.length_scale)))
        if self.groups:
            chosen = rng.integers(len(self.groups), size=count)
            for index, columns in enumerate(self.groups):
                others = np.setdiff1d(np.arange(len(self.length_scale)), columns)
                directions[np.ix_(chosen == index, others)] = 0.0
        if self.form == "matern":
            spread = 1.0 / rng.gamma(self.nu, 1.0 / self.nu, count)
        elif self.form == "rational_quadratic":
            spread = rng.gamma(self.mixture, 1.0 / self.mixture, count)
        else:
            spread = np.ones(count)
        return np.asarray(np.sqrt(spread)[:, None] * directions / self.length_scale)

    def _distances(self, A: FloatArray, B: FloatArray) -> FloatArray:
        return np.asarray(cdist(A / self.length_scale, B / self.length_scale))

    def _correlation(self, r: FloatArray) -> FloatArray:
        """Return rho(r)."""
        if self.form == "rbf":
            return np.exp(-0.5 * r * r)
        if self.form == "rational_quadratic":
            return np.asarray(np.exp(-self.mixture * np.log1p(r * r / (2.0 * self.mixture))))
        z = np.sqrt(2.0 * self.nu) * r
        if self.nu == 0.5:
            return np.asarray(np.exp(-z))
        if self.nu == 1.5:
            return np.asarray((1.0 + z) * np.exp(-z))
        if self.nu == 2.5:
            return np.asarray((1.0 + z + z * z / 3.0) * np.exp(-z))
        return np.where(z > 0.0, _bessel(self.nu, self.nu, z), 1.0)

    def _slope(self, r: FloatArray) -> FloatArray:
        """Return q(r) = -rho'(r) / r; 0 at a cusp, where it has no limit."""
        if self.form == "rbf":
            return np.exp(-0.5 * r * r)
        if self.form == "rational_quadratic":
            exponent = -(self.mixture + 1.0)
            return np.asarray(np.exp(exponent * np.log1p(r * r / (2.0 * self.mixture))))
        z = np.sqrt(2.0 * self.nu) * r
        if self.nu == 0.5:
            return np.asarray(np.divide(np.exp(-z), r, out=np.zeros_like(r), where=r > 0.0))
        if self.nu == 1.5:
            return np.asarray(3.0 * np.exp(-z))
        if self.nu == 2.5:
            return np.asarray(5.0 / 3.0 * (1.0 + z) * np.exp(-z))
        at_zero = self.nu / (self.nu - 1.0) if self.nu > 1.0 else 0.0
        return np.where(z > 0.0, 2.0 * self.nu * _bessel(self.nu, self.nu - 1.0, z), at_zero)


def _bessel(nu: float, order: float, z: FloatArray) -> FloatArray:
    """Return 2^(1-nu) / Gamma(nu) z^order K_order(z) for z > 0, by logarithms."""
    positive = np.where(z > 0.0, z, 1.0)
    bessel = kve(order, positive)
    # At infinite kve, z is so small that the factors have their limit.
    limit = gammaln(abs(order)) + (abs(order) - 1.0) * np.log(2.0) if order != 0.0 else 0.0
    near = np.isinf(bessel)
    logs = order * np.log(positive) + np.log(np.where(near, 1.0, bessel)) - positive
    logs = np.where(near, limit, logs)
    return np.asarray(np.exp((1.0 - nu) * np.log(2.0) - gammaln(nu) + logs))
