r"""Stationary kernels as functions of the squared scaled distance s = r^2.

    rbf                 p(s) = exp(-s / 2)
    matern, nu = 0.5    p(s) = exp(-r)
    matern, nu = 1.5    p(s) = (1 + z) exp(-z),              z = sqrt(3) r
    matern, nu = 2.5    p(s) = (1 + z + z^2 / 3) exp(-z),    z = sqrt(5) r
    rational_quadratic  p(s) = (1 + s / (2 m))^-m

Each falls and is convex in s, as its derivatives alternate in sign (it is positive definite in
every dimension).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError

MATERN_NU = (0.5, 1.5, 2.5)

LEAST = 1e-100
"""Distances below count as this one where a derivative is infinite at zero."""


@dataclass(frozen=True)
class Profile:
    """One of the functions above.

    Parameters
    ----------
    form : str
        ``rbf``, ``matern`` or ``rational_quadratic``.
    nu : float
        0.5, 1.5 or 2.5, of ``matern``.
    mixture : float
        m of ``rational_quadratic``.
    """

    form: str
    nu: float = 2.5
    mixture: float = 1.0

    def __post_init__(self) -> None:
        if self.form not in ("rbf", "matern", "rational_quadratic") or (
            self.form == "matern" and self.nu not in MATERN_NU
        ):
            raise UnsupportedError(
                "the kernel must be rbf, rational_quadratic, or matern with nu 0.5, 1.5 or 2.5, to "
                f"be bounded over boxes; got {self.form} with nu={self.nu}; choose one of these, "
                "or a heuristic maximizer."
            )

    def value(self, s: FloatArray) -> FloatArray:
        """Return p(s)."""
        if self.form == "rbf":
            return np.exp(-0.5 * s)
        if self.form == "rational_quadratic":
            return np.asarray(np.exp(-self.mixture * np.log1p(s / (2.0 * self.mixture))))
        z = np.sqrt(2.0 * self.nu * s)
        if self.nu == 0.5:
            return np.exp(-z)
        extra = z * z / 3.0 if self.nu == 2.5 else 0.0
        return np.asarray((1.0 + z + extra) * np.exp(-z))

    def derivatives(self, s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return p'(s), p''(s) and p'''(s); what is infinite at zero is cut off there."""
        if self.form == "rbf":
            p = np.exp(-0.5 * s)
            return -0.5 * p, 0.25 * p, -0.125 * p
        if self.form == "rational_quadratic":
            m = self.mixture
            logs = np.log1p(s / (2.0 * m))
            first, second, third = (np.exp(-(m + k) * logs) for k in (1.0, 2.0, 3.0))
            factor = (m + 1.0) / (4.0 * m)
            return -0.5 * first, factor * second, -factor * (m + 2.0) / (2.0 * m) * third
        z = np.sqrt(2.0 * self.nu * s)
        safe = np.maximum(z, LEAST)
        p = np.exp(-z)
        if self.nu == 0.5:
            r = np.maximum(z, 1e-12)
            return -0.5 * p / r, 0.25 * p * (1.0 + r) / r**3, np.full_like(z, -np.inf)
        if self.nu == 1.5:
            third = -3.375 * p * (1.0 + safe) / np.maximum(safe, 1e-50) ** 3
            return -1.5 * p, 2.25 * p / safe, third
        return -5.0 / 6.0 * (1.0 + z) * p, 25.0 / 12.0 * p, -125.0 / 24.0 * p / safe

    @property
    def is_smooth(self) -> bool:
        """Whether second derivatives by the inputs exist everywhere and are Lipschitz."""
        return not (self.form == "matern" and self.nu == 0.5)

    @property
    def steepest_third(self) -> float:
        """No third directional derivative by the scaled inputs is larger."""
        if self.form == "rbf":
            return 1.3802
        if self.form == "matern":
            return 10.3924 if self.nu == 1.5 else 2.9797
        # The larger of 12 p'' r and 8 |p'''| r^3, each at its maximum.
        m = self.mixture
        first, second = 2.0 * m / (2.0 * m + 3.0), 3.0 * m / (m + 1.5)
        steep = 3.0 * (m + 1.0) / m * first**0.5 * (1.0 + first / (2.0 * m)) ** -(m + 2.0)
        bent = (m + 1.0) * (m + 2.0) / m**2 * second**1.5 * (1.0 + second / (2.0 * m)) ** -(m + 3.0)
        return float(max(steep, bent)) * (1.0 + 1e-12)

    @property
    def moments(self) -> tuple[float, float]:
        """E (w . t)^4 and E (w . t)^6 of the spectrum for unit t; infinite where it is heavy."""
        if self.form == "rbf":
            return 3.0, 15.0
        if self.form == "matern":
            return (25.0 if self.nu == 2.5 else np.inf), np.inf
        m = self.mixture
        return 3.0 * (m + 1.0) / m, 15.0 * (m + 1.0) * (m + 2.0) / m**2
