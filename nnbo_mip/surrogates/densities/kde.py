r"""Kernel density regression: a round normal component at every observation.

    p(u, v) = (1 / n) sum_i N(u | u_i, s_x^2 I) N(v | v_i, s_y^2),

so that the weight of observation i at u is proportional to N(u | u_i, s_x^2 I), the mean of the
conditional is the Nadaraya-Watson average, and the background is blended in (`background`). The
widths s_x and s_y and the weight Delta have the highest held-out density (`held_out`), for which
nothing has to be learned again; under a hyper-prior, its product with

    log s_x, log s_y ~ N(-log(n) / (d + 5), tau^2),     log Delta ~ N(0, tau^2),

Scott's rule in the middle, as few observations say little of widths.

References
----------
Parzen (1962), kernel densities [Parzen1962].
Nadaraya (1964), the mean [Nadaraya1964].
Watson (1964), the mean [Watson1964].
Kruse (2022), as a surrogate [Kruse2022].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count, check_number
from nnbo_mip.surrogates.base.mixture import log_normal, log_sum
from nnbo_mip.surrogates.densities.gaussian_joint import GaussianJoint
from nnbo_mip.surrogates.densities.held_out import (
    Choice,
    HeldOut,
    Range,
    best,
    check_range,
    folds_of,
    searched,
)
from nnbo_mip.surrogates.densities.joint_regression import JointRegression


@dataclass(frozen=True)
class Kde(JointRegression[tuple[float, ...]]):
    """Options of kernel density regression.

    Parameters
    ----------
    x_width, y_width : (low, high)
        Ranges of s_x and s_y, in standard deviations of the inputs and of y. The source's end at
        0.3, which is narrow for more than two inputs.
    hyper_prior : float
        tau; 0 for none.
    candidates : int
        Pairs of widths that are tried, on a grid and a finer one.
    delta, background, blend, folds, y_range, seed
        See `JointRegression`; the seed is that of the folds.
    """

    name: ClassVar[str] = "kde"

    x_width: Range = (1e-3, 1.0)
    y_width: Range = (1e-3, 1.0)
    folds: int = 30
    hyper_prior: float = 0.0
    candidates: int = 128

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        for name in ("x_width", "y_width"):
            object.__setattr__(self, name, check_range(name, getattr(self, name)))
        check_number("hyper_prior", self.hyper_prior, least=0.0)
        check_count("candidates", self.candidates, least=8)

    def _joint(self, u: FloatArray, v: FloatArray, setting: tuple[float, ...]) -> GaussianJoint:
        """Put a component of these widths at every observation."""
        return GaussianJoint.of_kernels(u, v, *setting)

    def _tuned(self, u: FloatArray, v: FloatArray) -> Choice[tuple[float, ...]]:
        lower, upper = np.array([self.x_width, self.y_width]).T
        if len(v) == 1:
            middle = tuple(np.sqrt(lower * upper).tolist())
            return self._untuned(middle)
        folds = folds_of(len(v), self.folds, self.seed)
        known = folds[:, None] != folds  # who speaks of whom
        counts = known.sum(axis=1)
        squares = cdist(u, u, "sqeuclidean")
        background = self._held_out_background(int(counts.min()))
        scott = -np.log(len(v)) / (u.shape[1] + 5.0)

        def log_prior(setting: tuple[float, ...], delta: float) -> float:
            if not self.hyper_prior:
                return 0.0
            off = np.array([*(np.log(setting) - scott), np.log(delta)])
            return float(-0.5 * np.square(off / self.hyper_prior).sum())

        def held_out(setting: tuple[float, ...]) -> HeldOut:
            x_width, y_width = setting
            logs = -0.5 * squares / x_width**2 - u.shape[1] * np.log(x_width)
            logs = np.where(known, logs, -np.inf) - np.log(counts)[:, None]
            logs -= 0.5 * u.shape[1] * np.log(2.0 * np.pi)
            marginal = log_sum(logs)
            shares = np.exp(logs - marginal[:, None])
            mean = shares @ v
            variance = y_width**2 + shares @ np.square(v) - np.square(mean)
            joint = log_sum(logs + log_normal(v[:, None], v[None, :], np.array(y_width)))
            return HeldOut(marginal, joint, mean, np.maximum(variance, y_width**2))

        def tune(settings: FloatArray) -> Choice[tuple[float, ...]]:
            return best(
                map(tuple, settings.tolist()), held_out, v, background, self._deltas, log_prior
            )

        return searched(lower, upper, self.candidates, tune)
