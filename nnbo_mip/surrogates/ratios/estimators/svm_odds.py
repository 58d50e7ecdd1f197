r"""Log-odds of a support vector machine: u = slope (sum_i a_i exp(-k |x - s_i|^2) + b) + offset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ratios.estimators.odds import Odds

SMOOTH_ODDS = frozenset({Capability.MEAN, Capability.GRADIENT})
"""What smooth log-odds offer."""


@dataclass(frozen=True, eq=False)
class SvmOdds(Odds):
    """A decision function and its calibration.

    Parameters
    ----------
    vectors : (m, d) array
        Support vectors s_i, perhaps none.
    weights : (m,) array
        a_i.
    width : float
        k.
    bias, slope, offset : float
    family : str
        Name of the surrogate that made it.
    """

    kind: ClassVar[str] = "svm"
    capabilities = SMOOTH_ODDS

    vectors: FloatArray
    weights: FloatArray
    width: float
    bias: float
    slope: float
    offset: float
    family: str = "bore"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.vectors.shape[1])

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the log-odds (n,)."""
        decision = self._kernel(self.check_points(X)) @ self.weights + self.bias
        return np.asarray(self.slope * decision + self.offset)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the gradients (n, d)."""
        pull = self._kernel(points) * self.weights
        toward = pull @ self.vectors - pull.sum(axis=1)[:, None] * points
        return np.asarray(2.0 * self.width * self.slope * toward)

    def _kernel(self, points: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-self.width * cdist(points, self.vectors, "sqeuclidean")))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        names = ("vectors", "weights", "width", "bias", "slope", "offset", "family")
        return {name: np.asarray(getattr(self, name)) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> SvmOdds:
        """Make the log-odds that `to_arrays` described."""
        vectors, weights = arrays["vectors"], arrays["weights"]
        if vectors.ndim != 2 or weights.shape != (len(vectors),):
            raise ValueError("support vectors and weights that do not fit together")
        return cls(
            vectors,
            weights,
            width=float(arrays["width"]),
            bias=float(arrays["bias"]),
            slope=float(arrays["slope"]),
            offset=float(arrays["offset"]),
            family=str(arrays["family"]),
        )
