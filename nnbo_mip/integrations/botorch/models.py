"""`as_botorch`: a belief as a model of BoTorch, for its acquisitions and its optimizers.

The posterior is the normal distribution with the belief's mean and std. Points of one batch hang
together as `joint` has it, and are independent where a belief does not say how.

References
----------
Balandat et al. (2020), BoTorch [Balandat2020].
"""

from __future__ import annotations

from typing import Any

import gpytorch
import numpy as np
import torch
from botorch.models.model import Model
from botorch.posteriors import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from torch.autograd.function import once_differentiable

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.integrations.botorch.joint import Joint, joint_of
from nnbo_mip.integrations.botorch.reading import array
from nnbo_mip.surrogates.base.abstract import Belief, Capability, check_belief

SHRINKING = 1.0 - 1e-8
"""Factor of covariances, so that a matrix of members that are few has a Cholesky factor."""


def as_botorch(belief: Belief) -> BeliefModel:
    """Return a belief as a model of BoTorch.

    Parameters
    ----------
    belief : Belief
        With a mean and a std.

    Returns
    -------
    BeliefModel
        Points are those of the belief, model coordinates for what a space was encoded to. It has
        gradients where ``Capability.GRADIENT`` is among ``belief.capabilities``; asking for
        those of a random forest raises `UnsupportedError`.
    """
    check_belief(belief)
    missing = {Capability.MEAN, Capability.STD} - belief.capabilities
    if missing:
        raise UnsupportedError(
            f"a belief must have a mean and a std to be a model of BoTorch; a {belief.family} "
            f"belief lacks {' and '.join(sorted(missing))}; choose another surrogate."
        )
    return BeliefModel(belief)


class BeliefModel(Model):
    """A model of one output, without batches, that cannot be conditioned on more observations.

    Parameters
    ----------
    belief : Belief
    """

    def __init__(self, belief: Belief) -> None:
        super().__init__()
        self.belief = belief
        self._joint = joint_of(belief)

    @property
    def num_outputs(self) -> int:
        """One."""
        return 1

    @property
    def batch_shape(self) -> torch.Size:
        """Of one model: empty."""
        return torch.Size()

    @property
    def is_joint(self) -> bool:
        """Whether points of one batch hang together; they are independent where not."""
        return self._joint is not None

    def posterior(
        self,
        X: torch.Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | torch.Tensor = False,
        posterior_transform: Any = None,
    ) -> Any:
        """Return the posterior of points.

        Parameters
        ----------
        X : (..., q, d) tensor
        output_indices : list of int, optional
            ``[0]``.
        observation_noise : bool
            Whether the noise that the belief has learned is added.
        posterior_transform : PosteriorTransform, optional
        """
        if output_indices not in (None, [0]) or isinstance(observation_noise, torch.Tensor):
            raise UnsupportedError(
                "a posterior must be of output 0, with its own noise or none; got "
                f"output_indices={output_indices!r} and a {type(observation_noise).__name__}; "
                "leave them out."
            )
        shape = X.shape[:-1]
        flat = X.reshape(-1, X.shape[-1])
        mean, std = _Moments.apply(flat, self.belief)
        least = gpytorch.settings.min_variance.value(X.dtype)
        variance = std.square().clamp_min(least)  # GPyTorch would warn
        if observation_noise:
            noise = torch.as_tensor(self.belief.noise_std(array(flat))).to(X)
            variance = variance + noise.square()
        covariance = torch.diag_embed(variance.reshape(shape))
        if self._joint is not None and shape[-1] > 1:
            covariance = covariance + SHRINKING * _Between.apply(X, self._joint)
        told = GPyTorchPosterior(MultivariateNormal(mean.reshape(shape), covariance))
        return told if posterior_transform is None else posterior_transform(told)


class _Moments(torch.autograd.Function):
    """Mean and std (n,) of points (n, d)."""

    @staticmethod
    def forward(ctx: Any, X: torch.Tensor, belief: Belief) -> tuple[torch.Tensor, torch.Tensor]:
        """Evaluate the belief, with slopes where they will be asked for and there are some."""
        points = array(X)
        ctx.family, ctx.slopes = belief.family, None
        if ctx.needs_input_grad[0] and Capability.GRADIENT in belief.capabilities:
            local = belief.differentiate(points)
            mean, std = local.mean, local.std
            ctx.slopes = [
                torch.as_tensor(one).to(X) for one in (local.mean_gradient, local.std_gradient)
            ]
        else:
            mean, std = belief.predict(points, return_std=True)
        return torch.as_tensor(mean).to(X), torch.as_tensor(std).to(X)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_mean: torch.Tensor, by_std: torch.Tensor) -> Any:
        """Return the slopes (n, d) by the points."""
        if ctx.slopes is None:
            raise UnsupportedError(
                "a belief must have gradients for an optimizer that climbs; a "
                f"{ctx.family} belief has none; use optimize_acqf_discrete, or options="
                '{"with_grad": False} of optimize_acqf.'
            )
        of_mean, of_std = ctx.slopes
        return by_mean[:, None] * of_mean + by_std[:, None] * of_std, None


class _Between(torch.autograd.Function):
    """Covariances (..., q, q) of different points of each batch (..., q, d), 0 on the diagonal."""

    @staticmethod
    def forward(ctx: Any, X: torch.Tensor, joint: Joint) -> torch.Tensor:
        """Evaluate them, one batch after another."""
        ctx.joint, ctx.place = joint, X
        q, d = X.shape[-2:]
        found = [_off_diagonal(joint.covariance(x)) for x in array(X).reshape(-1, q, d)]
        return torch.as_tensor(np.array(found)).to(X).reshape(*X.shape[:-1], q)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: torch.Tensor) -> Any:
        """Return the slopes (..., q, d) by the points."""
        X = ctx.place
        q, d = X.shape[-2:]
        each = zip(array(X).reshape(-1, q, d), array(slopes).reshape(-1, q, q), strict=True)
        pulled = [ctx.joint.pull(x, _off_diagonal(g + g.T)) for x, g in each]
        return torch.as_tensor(np.array(pulled)).to(X).reshape(X.shape), None


def _off_diagonal(matrix: Any) -> Any:
    """Return a square matrix with zeros on its diagonal."""
    return matrix * (1.0 - np.eye(len(matrix)))
