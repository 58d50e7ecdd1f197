"""Import a PyTorch module as a `Network`.

The module is traced with `torch.fx`: its ``forward`` runs once on symbolic values, which
records the operations it performs, and each is then carried out on affine values. No
code is generated or unpickled, and the module is left as it was. What was built is compared
with what copies of the module answer, in float64 and in its own precision.

Importing this module imports torch; `Network.from_torch` imports it when it is called.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import fx, nn

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_whole
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.importers.probe import (
    attempt,
    largest_difference,
    not_compared,
    rounding_difference,
    unverified,
)
from nnbo_mip.network.importers.probe_points import probe_points
from nnbo_mip.network.importers.tensors import Tensor, TensorBuilder
from nnbo_mip.network.importers.torch.answers import (
    answers,
    answers_in_float64,
    own_type,
    precision_of,
)
from nnbo_mip.network.importers.torch.inputs import inferred_inputs
from nnbo_mip.network.importers.torch.interpreter import Interpreter

MODEL = "the PyTorch module"


def from_torch(
    module: nn.Module,
    n_inputs: int | None = None,
    *,
    input_shape: tuple[int, ...] | None = None,
    verify: bool = True,
) -> Network:
    """Import a PyTorch module.

    Parameters
    ----------
    module : torch.nn.Module
        Takes a batch (n, d) and returns a tensor with n rows, a tuple of them, or a dict
        of named ones. In eval mode, where it has batch norm or dropout layers.
    n_inputs : int, optional
        d; read off the first linear layer when left out.
    input_shape : tuple of int, optional
        Of one input where the module takes a batch (n, …) of images, such as (1, 28, 28). Its
        entries, in C order, are the network's inputs.
    verify : bool
        Whether to compare the network with the module, and to refuse it where they differ or
        cannot be compared; without, `Network.unverified` says so.

    Returns
    -------
    Network
        With every weight cast to float64, which is exact. ``float32_difference`` holds
        the largest difference between its outputs and those of the module, in the
        module's own precision, at the probe points.

    Raises
    ------
    UnsupportedError
        For an operation that is not piecewise linear or not known, naming it, and for a module
        that answers something else than the network, in float64 to 1e-9 of what is summed, or
        within rounding where it has a precision of its own.
    """
    _check_module(module)
    root = _first_argument_only(module)
    graph = _trace(root)
    shape = _shape_of_one(n_inputs, input_shape) or (inferred_inputs(graph, root),)
    ops = TensorBuilder(shape, batched=True)
    interpreter = Interpreter(root, graph, ops)
    result = interpreter.run()
    outputs = _named_outputs(result)
    network = ops.graph.finish(outputs)
    if not verify:
        return replace(network, unverified=unverified(MODEL))
    points = probe_points(network, interpreter.widest)
    difference = _verified_difference(module, network, points, shape)
    return replace(network, float32_difference=difference)


def _shape_of_one(
    n_inputs: int | None, input_shape: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """Return the shape of one input, or None where it is to be read off the module."""
    if input_shape is None:
        return None if n_inputs is None else (n_inputs,)
    sequence = isinstance(input_shape, tuple | list)
    shape = tuple(as_whole(n, "an extent of input_shape") for n in input_shape) if sequence else ()
    if min(shape, default=0) < 1:
        raise InputError(
            "input_shape must hold the extents of one input, without the batch; got "
            f"{input_shape!r}; pass something like (1, 28, 28)."
        )
    if n_inputs is not None and n_inputs != math.prod(shape):
        raise InputError(
            f"n_inputs={n_inputs} is not the number of entries of input_shape={shape}; "
            "leave it out."
        )
    return shape


def _check_module(module: nn.Module) -> None:
    if not isinstance(module, nn.Module):
        raise InputError(
            f"from_torch expects a torch.nn.Module; got {type(module).__name__}; "
            "use from_layers for plain weights."
        )
    for name, parameter in module.named_parameters():
        if parameter.is_meta or isinstance(parameter, nn.UninitializedParameter):
            raise InputError(
                f"every parameter must hold numbers; {name!r} is not initialized; "
                "run the module once or load its weights."
            )
        if not bool(torch.isfinite(parameter).all()):
            raise InputError(
                f"every weight must be finite; parameter {name!r} holds NaN or infinity; "
                "retrain or repair the module."
            )
    for name, part in module.named_modules():
        if part._forward_hooks or part._forward_pre_hooks:
            raise UnsupportedError(
                f"module {name or type(module).__name__!r} has forward hooks, which may change "
                "its function unseen; remove them (weight_norm and spectral_norm: use those of "
                "torch.nn.utils.parametrizations)."
            )


def _first_argument_only(module: nn.Module) -> nn.Module:
    """Wrap a module so that tracing leaves its optional arguments at their defaults.

    The wrapper also receives the constants that tracing stores on its root.
    """

    class FirstArgument(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, x: torch.Tensor) -> Any:
            return self.module(x)

    return FirstArgument()


def _trace(root: nn.Module) -> fx.Graph:
    try:
        return fx.Tracer().trace(root)
    except Exception as error:  # whatever the user's forward raises on symbolic values
        raise UnsupportedError(
            "the module could not be traced: its forward must perform the same operations for "
            f"every input, on one tensor; got {type(error).__name__}: {error}; "
            "rewrite data-dependent control flow."
        ) from error


def _named_outputs(result: Any) -> Affine | dict[str, Affine]:
    """Return one value, or a value for each name of a dict or field of a named tuple."""
    if isinstance(result, Mapping):
        return {str(key): _rows(value) for key, value in result.items()}
    if isinstance(result, tuple | list):
        names = getattr(result, "_fields", None) or [f"y{i}" for i in range(len(result))]
        return {name: _rows(value) for name, value in zip(names, result, strict=True)}
    return _rows(result)


def _rows(value: Any) -> Affine:
    if not isinstance(value, Tensor):
        raise UnsupportedError(
            "a module must return a tensor, a tuple of tensors or a dict of tensors that depend "
            f"on the input; got {type(value).__name__} among them; drop it."
        )
    if value.batch_axis != 0:
        raise UnsupportedError(
            "an output must have the batch as its first axis; got it on axis "
            f"{value.batch_axis} of {len(value.shape)}; transpose it."
        )
    return value.rows


def _verified_difference(
    module: nn.Module, network: Network, points: FloatArray, shape: tuple[int, ...]
) -> float | None:
    """Return the largest difference to the module's own answers, or refuse the network.

    None where PyTorch can run the module in float64, but not in its precision on this machine.
    """
    dtype = own_type(module)
    points = torch.from_numpy(points).to(dtype).to(torch.float64).numpy()
    points = points[np.isfinite(points).all(axis=1)]
    shaped = points.reshape(-1, *shape)
    own, own_error = attempt(lambda: answers(module, shaped, dtype))
    double, _ = attempt(lambda: answers_in_float64(module, shaped))
    if double is not None:
        seen, precision = double
        largest_difference(network, points, seen, precision, MODEL)
        return None if own is None else rounding_difference(network, points, own)
    if own is None:
        raise not_compared(MODEL, own_error)
    return largest_difference(network, points, own, precision_of(dtype), MODEL)
