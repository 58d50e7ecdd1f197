"""What each leaf module of `torch.nn` does to symbolic tensors.

This module imports torch and is imported only by `nnbo_mip.network.importers.torch.importer`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from nnbo_mip.network.importers.tensors import Tensor, TensorBuilder
from nnbo_mip.network.importers.torch.arithmetic import ARITHMETIC
from nnbo_mip.network.importers.torch.images import IMAGE_MODULES


def _linear(ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _call("linear", ops, input, module.weight, module.bias)


def _relu(ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _call("relu", ops, input)


def _leaky_relu(ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _call("leaky_relu", ops, input, module.negative_slope)


def _prelu(ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _call("prelu", ops, input, module.weight)


def _hardtanh(ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _call("hardtanh", ops, input, module.min_val, module.max_val)


def _batch_norm(ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _call(
        "batch_norm",
        ops,
        input,
        module.running_mean,
        module.running_var,
        module.weight,
        module.bias,
        training=module.training,
        eps=module.eps,
    )


def _dropout(ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _call("dropout", ops, input, module.p, training=module.training)


def _flatten(ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return ops.flatten(input, module.start_dim, module.end_dim)


def _identity(ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return input


def _call(name: str, *args: Any, **kwargs: Any) -> Tensor:
    result: Tensor = ARITHMETIC[name](*args, **kwargs)
    return result


MODULES: dict[type[nn.Module], Callable[[TensorBuilder, Any, Tensor], Tensor]] = {
    **IMAGE_MODULES,
    nn.BatchNorm1d: _batch_norm,
    nn.BatchNorm2d: _batch_norm,
    nn.BatchNorm3d: _batch_norm,
    nn.Dropout: _dropout,
    nn.Dropout1d: _dropout,
    nn.Dropout2d: _dropout,
    nn.Dropout3d: _dropout,
    nn.Flatten: _flatten,
    nn.Hardtanh: _hardtanh,
    nn.Identity: _identity,
    nn.LeakyReLU: _leaky_relu,
    nn.Linear: _linear,
    nn.PReLU: _prelu,
    nn.ReLU: _relu,
    nn.ReLU6: _hardtanh,
}
"""Handlers by the exact class: a subclass may compute something else."""
