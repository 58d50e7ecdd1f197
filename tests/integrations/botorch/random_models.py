"""Gaussian processes of BoTorch with random hyper-parameters, not fitted."""

from __future__ import annotations

from typing import Any

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.models.transforms.input import ChainedInputTransform, InputStandardize
from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel
from gpytorch.means import ConstantMean, ZeroMean

BOX = torch.tensor([[-3.0, 0.0, 10.0, -1.0], [5.0, 2.0, 40.0, 1.0]]).double()

INPUTS: dict[str, Any] = {
    "none": lambda d: None,
    "normalize": Normalize,
    "normalize to bounds": lambda d: Normalize(d, bounds=BOX[:, :d]),
    "normalize some": lambda d: Normalize(d, indices=[d - 1], center=0.0),
    "standardize": InputStandardize,
    "chain": lambda d: ChainedInputTransform(a=Normalize(d), b=InputStandardize(d)),
}
"""What is made of the inputs."""


def sample(n: int, d: int, seed: int) -> torch.Tensor:
    """Return points (n, d) of the box."""
    drawn = torch.rand(n, d, generator=torch.Generator().manual_seed(seed)).double()
    return BOX[0, :d] + drawn * (BOX[1, :d] - BOX[0, :d])


def box(d: int) -> torch.Tensor:
    """Return the bounds (2, d)."""
    return BOX[:, :d].clone()


def random_model(seed: int, d: int | None = None) -> SingleTaskGP:
    """Return a model whose every part hangs on the seed."""
    draw = torch.Generator().manual_seed(1000 + seed)

    def within(low: float, high: float, *shape: int) -> torch.Tensor:
        return low + (high - low) * torch.rand(*shape, generator=draw).double()

    d = 1 + seed % 4 if d is None else d
    n = 4 + 3 * (seed % 6)
    X = sample(n, d, seed)
    unit = (X - BOX[0, :d]) / (BOX[1, :d] - BOX[0, :d])
    Y = 7.0 + 4.0 * (torch.sin(5.0 * unit).sum(dim=1, keepdim=True) + within(-0.1, 0.1, n, 1))
    name = list(INPUTS)[seed % len(INPUTS)]
    widths = 1.0 if "normalize" in name or name in ("standardize", "chain") else BOX[1, :d]
    ard = d if seed % 2 else None
    nus = (None, 0.5, 1.5, 2.5)
    nu = nus[seed % 4]
    kernel: Any = RBFKernel(ard) if nu is None else MaternKernel(nu, ard_num_dims=ard)
    lengths = within(0.3, 1.5, d) * widths
    kernel.lengthscale = lengths if ard else lengths.max()
    if seed % 3:
        kernel = ScaleKernel(kernel)
        kernel.outputscale = within(0.3, 4.0, 1)[0]
    known = within(0.01, 0.3, n, 1) if seed % 5 < 2 else None
    model = SingleTaskGP(
        X,
        Y,
        known,
        covar_module=kernel.double(),
        mean_module=ZeroMean() if seed % 7 == 3 else ConstantMean(),
        outcome_transform=None if seed % 4 == 1 else Standardize(1),
        input_transform=INPUTS[name](d),
    )
    if known is None:
        model.likelihood.noise = within(1e-3, 0.2, 1)[0]
    if seed % 7 != 3:
        model.mean_module.constant = within(-1.0, 1.0, 1)[0]
    return model.eval()
