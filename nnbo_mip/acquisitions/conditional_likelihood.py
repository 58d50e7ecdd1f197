r"""The likelihood of observations under a process that takes a value y* at a point x.

With correlations R of the n observed points (kernel of variance 1, and a little on the diagonal),
r those between them and x, C = R - r r^T, m = 1 - r and b = y - r y*,

    conditional   log p(y | f(x) = y*) = -(n/2) log s2 - (1/2) log |C| + const,
                  s2 = (b - m mu)^T C^-1 (b - m mu) / n,    mu = (m^T C^-1 b) / (m^T C^-1 m),

mu and s2 being the mean and the variance of the process that have the largest likelihood. With the
(n + 1) values z = (y, y*) at the points and x, their correlations S and 1 = (1, …, 1),

    joint         log p(y, y*) = -((n + 1)/2) log s2 - (1/2) log |S| + const,
                  s2 = (z - mu)^T S^-1 (z - mu) / (n + 1),  mu = (1^T S^-1 z) / (1^T S^-1 1).

Both are climbed over x and the logarithms of the length-scales together; PyTorch differentiates.

References
----------
Jones (2001), the conditional likelihood of one-stage criteria [Jones2001].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import FloatArray

if TYPE_CHECKING:
    import torch

Log = Callable[["torch.Tensor", "torch.Tensor"], "torch.Tensor"]
"""From x (d,) and logarithms of length-scales (d,) to a log likelihood."""

NUGGET = 1e-6
"""On the diagonal of correlations; near data C is singular without it."""


def conditional(X: FloatArray, y: FloatArray, target: float) -> Log:
    """Return log p(y | f(x) = target) as a function of x and the length-scales.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
    target : float
        y*.
    """
    import torch

    points, values = torch.from_numpy(X), torch.from_numpy(y)

    def log(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        R = correlation(points, points, lengths)
        r = correlation(points, x[None, :], lengths)[:, 0]
        C = R - r[:, None] * r + NUGGET * torch.eye(len(values), dtype=torch.float64)
        return _concentrated(C, 1.0 - r, values - r * target)

    return log


def joint(X: FloatArray, y: FloatArray, target: float) -> Log:
    """Return log p(y, target at x) as a function of x and the length-scales; see `conditional`."""
    import torch

    points = torch.from_numpy(X)
    values = torch.from_numpy(np.append(y, target))

    def log(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        together = torch.cat([points, x[None, :]])
        S = correlation(together, together, lengths)
        S = S + NUGGET * torch.eye(len(values), dtype=torch.float64)
        return _concentrated(S, torch.ones_like(values), values)

    return log


def correlation(A: torch.Tensor, B: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return Matern correlations (n, m) of smoothness 5/2; `lengths` are logarithms (d,)."""
    import torch

    off = (A[:, None, :] - B[None, :, :]) / lengths.exp()
    squares = off.square().sum(dim=2)
    # The root has no slope at 0, the correlation has: that of a tiny distance instead.
    z = torch.sqrt(5.0 * squares + 1e-20)
    values: torch.Tensor = (1.0 + z + z.square() / 3.0) * torch.exp(-z)
    return values


def _concentrated(C: torch.Tensor, m: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the log likelihood of b ~ N(m mu, s2 C) at the best mu and s2; -inf if C is none."""
    import torch

    factor, failed = torch.linalg.cholesky_ex(C)
    if int(failed):
        return torch.full((), -torch.inf, dtype=torch.float64)
    white = torch.linalg.solve_triangular(factor, torch.stack([m, b], dim=1), upper=False)
    mu = (white[:, 0] @ white[:, 1]) / (white[:, 0] @ white[:, 0]).clamp_min(1e-300)
    rest = (white[:, 1] - mu * white[:, 0]).square().mean().clamp_min(1e-300)
    value: torch.Tensor = -0.5 * len(b) * rest.log() - factor.diagonal().log().sum()
    return value
