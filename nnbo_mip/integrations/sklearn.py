"""Surrogates as regressors of scikit-learn: pipelines, cross-validation, searches, plots."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_flag
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.surrogates.base.abstract import Belief, Capability
from nnbo_mip.surrogates.base.families import registry
from nnbo_mip.surrogates.base.observations import Standardization


class SurrogateRegressor(RegressorMixin, BaseEstimator):
    """A surrogate behind `fit` and `predict`.

    Parameters
    ----------
    surrogate : str, dict or Surrogate
        With a mean; its seed is one of its options.
    scale_inputs : bool
        Whether the range of every input in `fit` is mapped to [-1, 1], in which surrogates are
        meant to learn.

    Attributes
    ----------
    belief_ : Belief
        What was learned, of scaled inputs.
    units_ : Standardization
        The map of the inputs.
    n_features_in_ : int
        d, the number of inputs.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0.0, 6.0, 9)[:, None]
    >>> model = SurrogateRegressor("gp").fit(X, np.sin(X[:, 0]))
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.5)) < 0.01)
    True
    """

    belief_: Belief
    units_: Standardization
    n_features_in_: int

    def __init__(self, surrogate: object = "gp", scale_inputs: bool = True) -> None:
        self.surrogate = surrogate
        self.scale_inputs = scale_inputs

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from points (n, d) and values (n,)."""
        surrogate = registry.create(self.surrogate)
        if Capability.MEAN not in surrogate.capabilities:
            raise UnsupportedError(
                f"a regressor must predict a mean; {surrogate.name} models a density ratio and "
                "has none; choose another surrogate."
            )
        points, values = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        values = np.asarray(values, dtype=np.float64)
        center, scale = np.zeros(points.shape[1]), np.ones(points.shape[1])
        if check_flag("scale_inputs", self.scale_inputs):
            lower, upper = points.min(axis=0), points.max(axis=0)
            half = 0.5 * upper - 0.5 * lower
            center, scale = 0.5 * lower + 0.5 * upper, np.where(half > 0.0, half, 1.0)
        self.units_ = Standardization(center, scale, 0.0, 1.0)
        self.belief_ = surrogate.fit(self.units_.inward(points), values)
        return self

    def predict(
        self, X: npt.ArrayLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return means (n,), or means and stds of the function, without the noise."""
        check_is_fitted(self)
        points: Any = validate_data(self, X, dtype=np.float64, reset=False)
        return self.belief_.predict(self.units_.inward(points), return_std)
