r"""Log-odds of two Parzen densities: products of Gaussians that are cut off at the box.

With points c_1 … c_n of a class, widths h_ij and a uniform component of weight w_0,

    p(x) = ( w_0 2^-d + sum_i prod_j N(x_j; c_ij, h_ij) / Z_ij ) / (w_0 + n),
    Z_ij = Phi((1 - c_ij) / h_ij) - Phi((-1 - c_ij) / h_ij),

and u = log l(x) - log g(x) + log(s / (1 - s)). Widths are at least 2 / (1 + min(n, 100)), and by
rule

    neighbours   the larger distance of c_ij to the next coordinates j on its two sides, ends of
                 the box included,
    scott        sd_j n^(-1 / (d + 4)), that of one normal distribution, the same for all points,

times a factor.

References
----------
Parzen (1962), kernel densities [Parzen1962].
Bergstra et al. (2011), widths, and the uniform component [Bergstra2011].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import logit, logsumexp, ndtr, ndtri

from nnbo_mip.core.arrays import Array, FloatArray, blocks
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ratios.estimators.odds import Odds
from nnbo_mip.surrogates.ratios.estimators.svm_odds import SMOOTH_ODDS

MOST_NARROW = 100
"""Number of points from which on the least width shrinks no further."""

RULES = ("neighbours", "scott")
"""How widths are chosen."""

LEAST_MASS = 1e-3
"""Of a Gaussian within the box, for centers outside of it."""


@dataclass(frozen=True, eq=False)
class Parzen:
    """One density.

    Parameters
    ----------
    centers : (n, d) array
        Perhaps none.
    widths : (n, d) array
    prior : float
        w_0, positive where there are no centers.
    """

    centers: FloatArray
    widths: FloatArray
    prior: float

    @staticmethod
    def of(centers: FloatArray, factor: float, prior: float, rule: str = "neighbours") -> Parzen:
        """Choose the widths; without centers the density is uniform."""
        n, d = centers.shape
        if not n:
            return Parzen(centers, np.ones((0, d)), 1.0)
        least = 2.0 / (1.0 + min(n, MOST_NARROW))
        if rule == "scott":
            widths = np.tile(centers.std(axis=0) * n ** (-1.0 / (d + 4.0)), (n, 1))
        else:
            widths = _farther_neighbours(centers)
        return Parzen(centers, factor * np.maximum(widths, least), prior)

    def log_density(self, points: FloatArray) -> FloatArray:
        """Return log p (n,) at points (n, d)."""
        parts = [logsumexp(self._terms(block), axis=1) for block in self._blocks(points)]
        return np.asarray(np.concatenate(parts), dtype=np.float64)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the gradients (n, d) of log p."""
        parts = []
        for block in self._blocks(points):
            terms = self._terms(block)
            shares = np.exp(terms - logsumexp(terms, axis=1, keepdims=True))[:, 1:]
            steep = self.widths**-2.0
            parts.append(shares @ (steep * self.centers) - (shares @ steep) * block)
        return np.concatenate(parts)

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw n points (n, d) in the box."""
        count, d = self.centers.shape
        points = rng.uniform(-1.0, 1.0, (n, d))
        share = rng.uniform(0.0, self.prior + count, n)
        chosen = np.flatnonzero(share >= self.prior)
        kernels = np.minimum((share[chosen] - self.prior).astype(np.intp), count - 1)
        centers, widths = self.centers[kernels], self.widths[kernels]
        low, high = (ndtr((end - centers) / widths) for end in (-1.0, 1.0))
        # Uniform numbers of the box, stretched to the part of the normal distribution inside it.
        places = low + 0.5 * (1.0 + points[chosen]) * (high - low)
        points[chosen] = np.clip(centers + widths * ndtri(places), -1.0, 1.0)
        return points

    def _blocks(self, points: FloatArray) -> list[FloatArray]:
        return [points[rows] for rows in blocks(len(points), 4 * self.centers.size)]

    def _terms(self, points: FloatArray) -> FloatArray:
        """Return the logarithms (n, 1 + centers) of the components, with their weights."""
        d = self.centers.shape[1]
        total = np.log(self.prior + len(self.centers))
        with np.errstate(divide="ignore"):
            uniform = np.log(self.prior) - d * np.log(2.0)
        z = (points[:, None, :] - self.centers[None]) / self.widths
        ends = [(end - self.centers) / self.widths for end in (-1.0, 1.0)]
        mass = np.maximum(ndtr(ends[1]) - ndtr(ends[0]), LEAST_MASS)
        scales = np.log(np.sqrt(2.0 * np.pi) * self.widths * mass).sum(axis=1)
        components = -0.5 * np.square(z).sum(axis=2) - scales
        terms = np.hstack([np.full((len(points), 1), uniform), components])
        return np.asarray(terms - total)

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {name: np.asarray(getattr(self, name)) for name in ("centers", "widths", "prior")}

    @staticmethod
    def from_arrays(arrays: Mapping[str, Array]) -> Parzen:
        """Make the density that `to_arrays` described."""
        centers, widths, prior = arrays["centers"], arrays["widths"], float(arrays["prior"])
        fit = centers.ndim == 2 and widths.shape == centers.shape and bool((widths > 0.0).all())
        if not fit or prior < 0.0 or (prior == 0.0 and not len(centers)):
            raise ValueError("centers and widths that do not fit together")
        return Parzen(centers, widths, prior)


@dataclass(frozen=True, eq=False)
class ParzenOdds(Odds):
    """Two densities.

    Parameters
    ----------
    good, bad : Parzen
    share : float
        Of good observations.
    family : str
        Name of the surrogate that made it.
    """

    kind: ClassVar[str] = "parzen"
    capabilities = SMOOTH_ODDS | {Capability.CANDIDATES}

    good: Parzen
    bad: Parzen
    share: float
    family: str = "tpe"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.good.centers.shape[1])

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the log-odds (n,)."""
        points = self.check_points(X)
        difference = self.good.log_density(points) - self.bad.log_density(points)
        return np.asarray(difference + logit(self.share))

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the gradients (n, d)."""
        return self.good.gradient(points) - self.bad.gradient(points)

    def candidates(self, n: int, seed: int) -> FloatArray:
        """Draw points (n, d) from the density of good ones."""
        return self.good.sample(n, np.random.default_rng(seed))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            **{f"good_{name}": array for name, array in self.good.to_arrays().items()},
            **{f"bad_{name}": array for name, array in self.bad.to_arrays().items()},
            "share": np.array(self.share),
            "family": np.array(self.family),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> ParzenOdds:
        """Make the log-odds that `to_arrays` described."""
        good, bad = (
            Parzen.from_arrays(
                {name: arrays[f"{side}_{name}"] for name in ("centers", "widths", "prior")}
            )
            for side in ("good", "bad")
        )
        return cls(good, bad, float(arrays["share"]), str(arrays["family"]))


def _farther_neighbours(centers: FloatArray) -> FloatArray:
    """Return for each coordinate (n, d) the larger distance to the next ones on both sides."""
    widths = np.empty_like(centers)
    for j, column in enumerate(centers.T):
        order = column.argsort(kind="stable")
        gaps = np.diff(np.concatenate([[-1.0], column[order], [1.0]]))
        widths[order, j] = np.maximum(gaps[:-1], gaps[1:])
    return widths
