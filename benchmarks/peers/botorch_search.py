"""BoTorch's `optimize_acqf` on our scores: 20 restarts, 1024 raw samples, its defaults else."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from botorch.acquisition import AcquisitionFunction
from botorch.optim import optimize_acqf

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.maximizers import Target

RESTARTS, RAW_SAMPLES = 20, 1024


class _Score(torch.autograd.Function):
    """Values and gradients of what is searched, as torch sees them."""

    @staticmethod
    def forward(context: Any, X: torch.Tensor, problem: Any) -> torch.Tensor:
        values, gradients = problem.values_and_gradients(X.detach().numpy())
        context.save_for_backward(torch.as_tensor(gradients))
        return torch.as_tensor(values)

    @staticmethod
    def backward(context: Any, *grads: torch.Tensor) -> Any:
        (gradients,) = context.saved_tensors
        return gradients * grads[0][:, None], None


class _Acquisition(AcquisitionFunction):
    def __init__(self, target: Target) -> None:
        super().__init__(model=None)
        self._problem = target.problem

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        values = _Score.apply(X.squeeze(-2), self._problem)
        assert isinstance(values, torch.Tensor)
        return values


def optimize(target: Target, seed: int) -> FloatArray:
    """Return the point (d,) that `optimize_acqf` finds; for EI it climbs the logarithm."""
    domain = target.domain
    bounds = torch.as_tensor(np.stack([domain.lower, domain.upper]))
    torch.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of line searches that end at kinks
        best, _ = optimize_acqf(
            _Acquisition(target),
            bounds=bounds,
            q=1,
            num_restarts=RESTARTS,
            raw_samples=RAW_SAMPLES,
            options={"seed": seed},
        )
    return np.asarray(best.detach().numpy()[0])
