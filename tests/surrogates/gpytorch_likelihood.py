"""The marginal likelihood of a Gaussian process with GPyTorch's kernels, to compare with.

PyTorch differentiates it, in float64; the factorization is PyTorch's exact one, never
GPyTorch's iterative solvers, so that the same data give the same likelihood.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import torch

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.gp.fitting import Hyperparameters, Likelihood


def gpytorch_likelihood(
    hyper: Hyperparameters, X: FloatArray, y: FloatArray, diagonal: float | FloatArray
) -> Likelihood:
    """Return the log marginal likelihood and its gradient; arguments as in `direct_likelihood`."""
    kernel = gpytorch_kernel(hyper)
    log_noise = torch.tensor(math.log(max(hyper.noise, 1e-300)), dtype=torch.float64)
    log_noise.requires_grad_("noise" in hyper.ranges)
    holders = {
        "amplitude": kernel.raw_outputscale,
        "mixture": getattr(kernel.base_kernel, "raw_alpha", None),
        "length_scale": kernel.base_kernel.raw_lengthscale,
        "noise": log_noise,
    }
    free = [holders[name] for name in dict.fromkeys(hyper.free)]
    points, values = torch.from_numpy(X), torch.from_numpy(y)
    unit = torch.eye(len(X), dtype=torch.float64)
    known = torch.as_tensor(diagonal, dtype=torch.float64)

    def likelihood(logarithms: FloatArray) -> tuple[float, FloatArray]:
        ends = np.cumsum([tensor.numel() for tensor in free])[:-1]
        pieces = np.split(logarithms, ends)
        with torch.no_grad():
            for tensor, piece in zip(free, pieces, strict=True):
                tensor.copy_(torch.from_numpy(piece.copy()).reshape(tensor.shape))
        covariance = kernel(points).to_dense() + (known + log_noise.exp()) * unit
        factor, failed = torch.linalg.cholesky_ex(covariance)
        if int(failed):
            return -math.inf, np.zeros_like(logarithms)
        whitened = torch.linalg.solve_triangular(factor, values[:, None], upper=False)
        log_root = factor.diagonal().log().sum()
        value = -0.5 * whitened.square().sum() - log_root - 0.5 * len(X) * math.log(2.0 * math.pi)
        gradients = torch.autograd.grad(value, free)
        return value.item(), torch.cat([g.reshape(-1) for g in gradients]).numpy()

    return likelihood


def gpytorch_kernel(hyper: Hyperparameters) -> Any:
    """Return GPyTorch's kernel, whose raw parameters are the logarithms of `hyper`."""
    gpytorch = import_gpytorch()
    kernel = hyper.kernel

    def logarithmic() -> Any:
        return gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)

    lengths = kernel.length_scale if hyper.ard else kernel.length_scale[:1]
    options: dict[str, Any] = {
        "ard_num_dims": len(lengths) if hyper.ard else None,
        "lengthscale_constraint": logarithmic(),
    }
    if kernel.form == "rbf":
        shape = gpytorch.kernels.RBFKernel(**options)
    elif kernel.form == "matern":
        shape = gpytorch.kernels.MaternKernel(nu=kernel.nu, **options)
    else:
        shape = gpytorch.kernels.RQKernel(alpha_constraint=logarithmic(), **options)
    scaled = gpytorch.kernels.ScaleKernel(shape, outputscale_constraint=logarithmic()).double()
    shape.lengthscale = torch.from_numpy(lengths.copy())
    scaled.outputscale = kernel.amplitude
    if kernel.form == "rational_quadratic":
        shape.alpha = kernel.mixture
    return scaled


def import_gpytorch() -> Any:
    """Import GPyTorch, without what it says about PyTorch."""
    with warnings.catch_warnings():
        # GPyTorch 1.15 decorates functions with torch.jit.script, which PyTorch deprecates.
        warnings.simplefilter("ignore", DeprecationWarning)
        import gpytorch
    return gpytorch
