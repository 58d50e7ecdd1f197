"""The marginal likelihood of a Gaussian process by scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.gp.fitting import Hyperparameters, Likelihood


def sklearn_likelihood(
    hyper: Hyperparameters, X: FloatArray, y: FloatArray, diagonal: float | FloatArray
) -> Likelihood:
    """Return the log marginal likelihood and its gradient; arguments as in `direct_likelihood`."""
    from sklearn.gaussian_process import GaussianProcessRegressor

    known = diagonal if "noise" in hyper.ranges else diagonal + hyper.noise
    model = GaussianProcessRegressor(sklearn_kernel(hyper), alpha=known, optimizer=None)
    model.fit(X, y)

    def likelihood(logarithms: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = model.log_marginal_likelihood(
            logarithms, eval_gradient=True, clone_kernel=False
        )
        return float(value), np.asarray(gradient, dtype=np.float64)

    return likelihood


def sklearn_kernel(hyper: Hyperparameters) -> Any:
    """Return scikit-learn's kernel, whose ``theta`` is the vector of logarithms of `hyper`."""
    from sklearn.gaussian_process import kernels

    kernel = hyper.kernel
    lengths: Any = kernel.length_scale if hyper.ard else float(kernel.length_scale[0])

    def range_of(name: str) -> Any:
        return hyper.ranges.get(name, "fixed")

    if kernel.form == "rbf":
        shape = kernels.RBF(lengths, range_of("length_scale"))
    elif kernel.form == "matern":
        shape = kernels.Matern(lengths, range_of("length_scale"), nu=kernel.nu)
    else:
        shape = kernels.RationalQuadratic(
            lengths, kernel.mixture, range_of("length_scale"), range_of("mixture")
        )
    product = kernels.ConstantKernel(kernel.amplitude, range_of("amplitude")) * shape
    if "noise" in hyper.ranges:
        return product + kernels.WhiteKernel(hyper.noise, range_of("noise"))
    return product
