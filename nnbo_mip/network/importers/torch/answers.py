"""What a PyTorch module answers at points, in float64 where it can.

The module itself is never run: a copy is, as a forward pass may change its state. This module
imports torch and is imported only by `nnbo_mip.network.importers.torch.importer`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils.parametrize import is_parametrized
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.importers.probe import Precision


class _Narrowing(TorchDispatchMode):
    """Note the coarsest floating type that values of a finer one were cast to."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.coarsest = torch.float64

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        finest = min(_spacings((args, kwargs)), default=math.inf)
        for value in _floats(result):
            if torch.finfo(value.dtype).eps > max(finest, torch.finfo(self.coarsest).eps):
                self.coarsest = value.dtype
        return result


def answers_in_float64(module: nn.Module, points: FloatArray) -> tuple[FloatArray, Precision]:
    """Return the outputs (n, m) of a copy in float64, and the precision they are good to.

    It is that of float64, unless the module casts what it computed to its own type.
    """
    twin = copy.deepcopy(module)
    for part in [part for part in twin.modules() if is_parametrized(part)]:
        _keep_weights(part)
    observed = _Narrowing()
    with observed:
        seen = _columns(twin.double(), torch.from_numpy(points))
    good_to = (observed.coarsest, own_type(module))
    return seen, precision_of(min(good_to, key=lambda dtype: torch.finfo(dtype).eps))


def answers(module: nn.Module, points: FloatArray, dtype: torch.dtype) -> FloatArray:
    """Return the outputs (n, m) of a copy of the module in its own precision."""
    return _columns(copy.deepcopy(module), torch.from_numpy(points).to(dtype))


def precision_of(dtype: torch.dtype) -> Precision:
    """Return spacing and largest number of a floating type."""
    kind = torch.finfo(dtype)
    return Precision(kind.eps, kind.max)


def own_type(module: nn.Module) -> torch.dtype:
    """Return the type of a module's parameters, or the default one where it has none."""
    tensor = next((p for p in module.parameters() if p.is_floating_point()), None)
    return torch.get_default_dtype() if tensor is None else tensor.dtype


def _keep_weights(part: Any) -> None:
    """Make plain tensors of parametrized weights, as they are in the module's own type.

    PyTorch's own function would change the class, which a copy shares with its original.
    """
    weights = {name: getattr(part, name).detach() for name in part.parametrizations}
    part.__class__ = type(part).__mro__[1]
    del part.parametrizations
    for name, weight in weights.items():
        part.register_buffer(name, weight)


def _columns(module: nn.Module, points: torch.Tensor) -> FloatArray:
    tensor = next((p for p in module.parameters()), None)
    with torch.no_grad():
        result = module(points if tensor is None else points.to(tensor.device))
    parts = list(result.values()) if isinstance(result, Mapping) else result
    parts = [parts] if isinstance(parts, torch.Tensor) else list(parts)
    columns = [part.to("cpu", torch.float64).reshape(len(part), -1).numpy() for part in parts]
    return np.concatenate(columns, axis=1)


def _floats(value: Any) -> list[torch.Tensor]:
    leaves = tree_leaves(value)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]


def _spacings(value: Any) -> list[float]:
    return [torch.finfo(tensor.dtype).eps for tensor in _floats(value)]
