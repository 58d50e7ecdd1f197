r"""A Gaussian process of BoTorch as our belief, number by number.

What is read, of an exact `SingleTaskGP` of one output in float64:

    kernel        RBF, or Matérn of nu 0.5, 1.5 or 2.5, with one length-scale or one an input,
                  within a ScaleKernel or without one
    mean          zero or constant
    noise         learned (GaussianLikelihood) or known (FixedNoiseGaussianLikelihood)
    inputs        as they are, Normalize, InputStandardize, or several of these in a chain
    outcomes      as they are, or Standardize

Types are compared exactly: a subclass may compute something else. What was read is compared with
the model at probe points (`comparing`), and everything else is refused by its name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms.input import ChainedInputTransform, InputStandardize, Normalize
from botorch.models.transforms.outcome import Standardize
from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from gpytorch.means import ConstantMean, ZeroMean

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.integrations.botorch.comparing import check_moments, probes
from nnbo_mip.surrogates.base.observations import Standardization
from nnbo_mip.surrogates.gp.belief import GpBelief
from nnbo_mip.surrogates.gp.fitting import Hyperparameters
from nnbo_mip.surrogates.gp.gp import conditioned
from nnbo_mip.surrogates.gp.kernels import Kernel

NUS = (0.5, 1.5, 2.5)


def as_belief(model: Any) -> GpBelief:
    """Return a fitted `SingleTaskGP` as a belief in the same coordinates and units.

    Parameters
    ----------
    model : SingleTaskGP
        In float64, with what the module lists. A `ModelListGP` of one such model will do.

    Returns
    -------
    GpBelief
        Of the function, without the noise; points are those that the model takes, so that
        ``nm.maximize(belief, "ei", Domain(lower, upper), y=y)`` goes on with it.
    """
    belief = read(model)
    points = inputs_of(belief)
    check_moments(belief, model, None, probes(points.min(axis=0), points.max(axis=0), points))
    return belief


def read(model: Any) -> GpBelief:
    """Return the belief before it is compared with the model."""
    if type(model) is ModelListGP and len(model.models) == 1:
        model = model.models[0]
    if type(model) is not SingleTaskGP:
        raise refused("model", "a SingleTaskGP", model)
    if model.num_outputs != 1 or len(model.batch_shape):
        raise UnsupportedError(
            "a model must have one output and no batches to be read; got "
            f"{model.num_outputs} outputs and the batch shape {tuple(model.batch_shape)}; make one "
            "model each."
        )
    model.eval()  # as every call of its posterior does: the inputs are transformed from here on
    dtype = model.train_targets.dtype
    if dtype != torch.float64:
        raise UnsupportedError(
            f"a model must be in torch.float64 to be read without loss; got {dtype}; make it of "
            "train_X.double() and train_Y.double()."
        )
    points = array(model.train_inputs[0])
    center, scale = _input_units(getattr(model, "input_transform", None), points.shape[1])
    y_center, y_scale = _outcome_units(getattr(model, "outcome_transform", None))
    level = _level(model.mean_module)
    diagonal = _diagonal(model.likelihood, len(points))
    belief = conditioned(
        Hyperparameters(_kernel(model.covar_module, points.shape[1]), 0.0, {}, ard=True),
        points,
        array(model.train_targets) - level,
        Standardization(center, scale, y_center + y_scale * level, y_scale),
        diagonal,
    )
    return replace(belief, noise=float(np.sqrt(diagonal.mean())) * y_scale)


def inputs_of(belief: GpBelief) -> FloatArray:
    """Return the observed points (n, d) in the coordinates that the model takes."""
    return np.asarray(belief.units.x_center + belief.units.x_scale * belief.points)


def array(tensor: torch.Tensor) -> FloatArray:
    """Return a tensor as an array of float64."""
    return np.ascontiguousarray(tensor.detach().cpu().double().numpy())


def number(tensor: torch.Tensor) -> float:
    """Return the number of a tensor that holds one, whatever its shape."""
    return float(tensor.detach().reshape(()).item())


def refused(what: str, expected: str, got: object) -> UnsupportedError:
    """Return the error that names a part of a model that is not read."""
    return UnsupportedError(
        f"the {what} must be {expected} to be maximized with a proof; got a {type(got).__name__}; "
        "use one of those, or botorch.optim.optimize_acqf."
    )


def _kernel(module: Any, d: int) -> Kernel:
    """Return the kernel in the model's own coordinates."""
    amplitude, shape = 1.0, module
    if type(module) is ScaleKernel:
        amplitude, shape = number(module.outputscale), module.base_kernel
    if type(shape) is not RBFKernel and type(shape) is not MaternKernel:
        raise refused("kernel", "an RBFKernel or a MaternKernel, scaled or not", shape)
    if shape.active_dims is not None or module.active_dims is not None:
        raise UnsupportedError(
            f"the kernel must read all inputs to be read; got a {type(shape).__name__} with "
            "active_dims; make a model of these inputs alone."
        )
    nu = float(getattr(shape, "nu", 2.5))
    if nu not in NUS:
        raise UnsupportedError(
            f"the nu of a MaternKernel must be one of {NUS}; got {nu}; choose one of these."
        )
    lengths = np.broadcast_to(array(shape.lengthscale).reshape(-1), d).copy()
    form = "rbf" if type(shape) is RBFKernel else "matern"
    return Kernel(form, lengths, amplitude, nu)


def _level(module: Any) -> float:
    """Return the constant mean, in standardized units."""
    if type(module) is ZeroMean:
        return 0.0
    if type(module) is ConstantMean:
        return number(module.constant)
    raise refused("mean", "a ConstantMean or a ZeroMean", module)


def _diagonal(likelihood: Any, n: int) -> FloatArray:
    """Return the variance (n,) of the noise of each value, in standardized units."""
    if type(likelihood) not in (GaussianLikelihood, FixedNoiseGaussianLikelihood):
        raise refused(
            "likelihood", "a GaussianLikelihood or a FixedNoiseGaussianLikelihood", likelihood
        )
    noise = array(likelihood.noise).reshape(-1)
    if type(likelihood) is FixedNoiseGaussianLikelihood:
        noise = noise + array(torch.as_tensor(likelihood.second_noise)).reshape(-1)
    return np.broadcast_to(noise, n).copy()


def _input_units(transform: Any, d: int) -> tuple[FloatArray, FloatArray]:
    """Return center and scale (d,) of u = (x - center) / scale."""
    if transform is None:
        return np.zeros(d), np.ones(d)
    if type(transform) is ChainedInputTransform:
        center, scale = np.zeros(d), np.ones(d)
        for one in transform.values():
            own_center, own_scale = _input_units(one, d)
            center, scale = center + scale * own_center, scale * own_scale
        return center, scale
    if type(transform) not in (Normalize, InputStandardize) or transform.reverse:
        raise refused(
            "input transform", "a Normalize or InputStandardize that is not reversed", transform
        )
    if not (transform.transform_on_train and transform.transform_on_eval):
        raise UnsupportedError(
            "an input transform must be applied in training and in evaluation to be read; got a "
            f"{type(transform).__name__} that is not; leave these options out."
        )
    center, scale = np.zeros(d), np.ones(d)
    columns = array(transform.indices).astype(int) if hasattr(transform, "indices") else slice(None)
    center[columns] = array(transform.offset).reshape(-1)
    scale[columns] = array(transform.coefficient).reshape(-1)
    return center, scale


def _outcome_units(transform: Any) -> tuple[float, float]:
    """Return center and scale of y."""
    if transform is None:
        return 0.0, 1.0
    if type(transform) is not Standardize:
        raise refused("outcome transform", "Standardize", transform)
    return number(transform.means), number(transform.stdvs)
