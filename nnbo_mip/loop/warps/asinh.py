r"""A warp that keeps small gaps to the best value, and makes of large ones their logarithm.

With y* the best of the values, larger is better, and s the gap to it below which a share of them
lies,

    v_i = y* - s asinh((y* - y_i) / s),

which is y_i to first order where the gap y* - y_i is much smaller than s, and y* - s log(2 gap / s)
where it is much larger. As good values gather about the optimum s shrinks with their gaps. Beyond
y* nothing changes, v = y, so improvements keep their units. Where values are noisy, s is at least
four deviations: gaps that noise makes are not stretched beside those that the function makes, and
values that are low by chance do not pass for surer ones.

>>> from nnbo_mip.loop.warps.warping import warp_of
>>> warped = warp_of("asinh:share=0.5").learn([-1e6, -40.0, 1.0, 2.0, 3.0])
>>> warped.values.round(2)
array([-24.63,  -4.52,   1.24,   2.04,   3.  ])
>>> warped.outward(warped.values).round(6)
array([-1.e+06, -4.e+01,  1.e+00,  2.e+00,  3.e+00])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number
from nnbo_mip.loop.warps.warping import LARGEST, Warp, Warped, as_floats

NOISES = 4.0
"""Standard deviations of a value below which no gap is bent much."""


@dataclass(frozen=True)
class Asinh(Warp):
    """Make of large gaps to the best value their logarithm.

    Parameters
    ----------
    share : float
        Part of the values, above 0 and at most 1, whose gap is below s.

    Notes
    -----
    Where so many values are equal to the best one that s is zero, values stay as they are.
    """

    name: ClassVar[str] = "asinh"

    share: float = 0.35

    def __post_init__(self) -> None:
        """Refuse a share that is none."""
        check_number("share", self.share, above=0.0, below=np.nextafter(1.0, 2.0))

    def learn(self, y: npt.ArrayLike, noise: float = 0.0) -> Warped:
        """Return the warped values."""
        told = np.array(y, dtype=np.float64)
        if not len(told):
            return Warped(told, as_floats, as_floats)
        best = float(told.max())
        # Halves, as the difference of the largest numbers is not finite.
        half_gaps = 0.5 * best - 0.5 * told
        half_width = max(float(np.quantile(half_gaps, self.share)), 0.5 * NOISES * noise)
        if not half_width > 0.0:
            return Warped(told, as_floats, as_floats)

        def inward(y: npt.ArrayLike) -> FloatArray:
            """Bend what is worse than the best."""
            given = as_floats(y)
            with np.errstate(over="ignore"):
                ratios = np.clip((0.5 * best - 0.5 * given) / half_width, 0.0, LARGEST)
                bent = best - 2.0 * (half_width * np.arcsinh(ratios))
            return np.maximum(given, np.minimum(bent, best))

        values = inward(told)
        worst = float(values.min())
        steepest = float(np.hypot(1.0, min(float(half_gaps.max()) / half_width, LARGEST)))

        def outward(v: npt.ArrayLike) -> FloatArray:
            """Undo it; what is worse than all that was told goes on as steeply as there."""
            given = as_floats(v)
            inner = np.maximum(given, worst)
            with np.errstate(over="ignore"):
                wanted = np.maximum((0.5 * best - 0.5 * inner) / half_width, 0.0)
                gaps = 2.0 * (half_width * np.sinh(wanted)) + steepest * (inner - given)
            return np.where(given < best, np.maximum(best - gaps, -LARGEST), given)

        return Warped(values, inward, outward)
