r"""Log-odds of a sum of Gaussian kernels, r(x) = sum_b w_b exp(-|x - c_b|^2 / 2 s^2).

plain      r estimates l / g:           u = log(r + floor) + prior odds
relative   share r estimates P(good):   u = odds(share r), odds as in `labels.odds_of_probability`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.surrogates.ratios.estimators.labels import (
    odds_of_probability,
    odds_of_ratio,
    slope_of_odds,
)
from nnbo_mip.surrogates.ratios.estimators.odds import Odds
from nnbo_mip.surrogates.ratios.estimators.svm_odds import SMOOTH_ODDS

LINKS = ("plain", "relative")

FLOOR = 1e-10
"""Added to a ratio before its logarithm, as far from all centers the ratio is zero in float64."""


@dataclass(frozen=True, eq=False)
class KernelOdds(Odds):
    """Kernels and their weights; without any, the prior log-odds.

    Parameters
    ----------
    centers : (m, d) array
    weights : (m,) array
        At least zero.
    width : float
        s.
    share : float
        Of good observations.
    link : str
        ``plain`` or ``relative``.
    family : str
        Name of the surrogate that made it.
    """

    kind: ClassVar[str] = "kernels"
    capabilities = SMOOTH_ODDS

    centers: FloatArray
    weights: FloatArray
    width: float
    share: float
    link: str
    family: str = "bore"

    @staticmethod
    def constant(d: int, share: float, family: str = "bore") -> KernelOdds:
        """Return the log-odds at a ratio of 1 everywhere."""
        return KernelOdds(np.zeros((0, d)), np.zeros(0), 1.0, share, "plain", family)

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.centers.shape[1])

    def plain_ratio(self, points: FloatArray) -> FloatArray:
        """Return r (n,) itself, as it was fitted; 1 without kernels."""
        if not len(self.centers):
            return np.ones(len(points))
        return np.asarray(self._kernel(points) @ self.weights)

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the log-odds (n,)."""
        r = self.plain_ratio(self.check_points(X))
        if self.link == "relative":
            return odds_of_probability(self.share * r)
        return odds_of_ratio(r + FLOOR, self.share)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the gradients (n, d)."""
        r = self.plain_ratio(points)
        pull = self._kernel(points) * self.weights
        toward = (pull @ self.centers - pull.sum(axis=1)[:, None] * points) / self.width**2
        if self.link == "relative":
            slope = self.share * slope_of_odds(self.share * r)
        else:
            slope = 1.0 / (r + FLOOR)
        return np.asarray(slope[:, None] * toward)

    def _kernel(self, points: FloatArray) -> FloatArray:
        return kernel(points, self.centers, self.width)

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        names = ("centers", "weights", "width", "share", "link", "family")
        return {name: np.asarray(getattr(self, name)) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> KernelOdds:
        """Make the log-odds that `to_arrays` described."""
        centers, weights = arrays["centers"], arrays["weights"]
        width, share, link = float(arrays["width"]), float(arrays["share"]), str(arrays["link"])
        fit = centers.ndim == 2 and weights.shape == (len(centers),) and link in LINKS
        if not (fit and width > 0.0 and 0.0 < share < 1.0):
            raise ValueError("kernels and weights that do not fit together")
        return cls(centers, weights, width, share, link, str(arrays["family"]))


def kernel(points: FloatArray, centers: FloatArray, width: float) -> FloatArray:
    """Return Gaussian kernels (n, m) of points (n, d) and centers (m, d)."""
    return np.asarray(np.exp(-0.5 * cdist(points, centers, "sqeuclidean") / width**2))
