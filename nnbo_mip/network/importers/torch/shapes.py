"""PyTorch's slices, reshapes and joins of symbolic tensors.

The parameters of a handler are named as PyTorch names them, so that keywords bind. This
module imports torch and is imported only by `nnbo_mip.network.importers.torch.importer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.importers.tensors import Tensor, TensorBuilder


def _concatenate(
    ops: TensorBuilder, tensors: Sequence[Tensor], dim: int = 0, axis: int | None = None
) -> Tensor:
    return ops.concatenate(list(tensors), dim if axis is None else axis)


def _hstack(ops: TensorBuilder, tensors: Sequence[Tensor]) -> Tensor:
    return ops.concatenate(list(tensors), 1 if len(tensors[0].shape) > 1 else 0)


def _stack(ops: TensorBuilder, tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    return ops.stack(list(tensors), dim)


def _split(
    ops: TensorBuilder, tensor: Tensor, split_size_or_sections: Any, dim: int = 0
) -> list[Tensor]:
    extent = tensor.shape[dim]
    if isinstance(split_size_or_sections, int):
        cuts = [*range(0, extent, split_size_or_sections), extent]
    else:
        cuts = [0, *np.cumsum(list(split_size_or_sections)).tolist()]
    return [_narrow(ops, tensor, dim, a, b - a) for a, b in pairwise(cuts)]


def _chunk(ops: TensorBuilder, input: Tensor, chunks: int, dim: int = 0) -> list[Tensor]:
    return _split(ops, input, -(-input.shape[dim] // chunks), dim)


def _unbind(ops: TensorBuilder, input: Tensor, dim: int = 0) -> list[Tensor]:
    return [_select(ops, input, dim, i) for i in range(input.shape[dim])]


def _narrow(ops: TensorBuilder, input: Tensor, dim: int, start: int, length: int) -> Tensor:
    key = [slice(None)] * len(input.shape)
    key[dim] = slice(start, start + length)
    return ops.index(input, tuple(key))


def _select(ops: TensorBuilder, input: Tensor, dim: int, index: int) -> Tensor:
    return ops.move(lambda entries: entries.take(index, axis=dim), input)


def _index_select(ops: TensorBuilder, input: Tensor, dim: int, index: torch.Tensor) -> Tensor:
    return ops.move(lambda entries: entries.take(index.numpy(), axis=dim), input)


def _getitem(ops: TensorBuilder, input: Any, key: Any) -> Any:
    if not isinstance(input, Tensor):
        return input[key]
    keys = key if isinstance(key, tuple) else (key,)
    return ops.index(input, tuple(_index(part) for part in keys))


def _index(part: Any) -> Any:
    if isinstance(part, torch.Tensor):
        return part.numpy()
    return list(part) if isinstance(part, list | tuple) else part


def _flatten(ops: TensorBuilder, input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    return ops.flatten(input, start_dim, end_dim)


def _reshape(ops: TensorBuilder, input: Tensor, *shape: Any) -> Tensor:
    return ops.reshape(input, _sizes(shape))


def _expand(ops: TensorBuilder, input: Tensor, *size: Any) -> Tensor:
    sizes = _sizes(size)
    old = (1,) * (len(sizes) - len(input.shape)) + input.shape
    return ops.broadcast(input, tuple(o if n == -1 else n for n, o in zip(sizes, old, strict=True)))


def _squeeze(ops: TensorBuilder, input: Tensor, dim: Any = None) -> Tensor:
    return ops.squeeze(input, [dim] if isinstance(dim, int) else dim)


def _unsqueeze(ops: TensorBuilder, input: Tensor, dim: int) -> Tensor:
    return ops.unsqueeze(input, [dim])


def _permute(ops: TensorBuilder, input: Tensor, *dims: Any) -> Tensor:
    return ops.transpose(input, _sizes(dims))


def _transpose(ops: TensorBuilder, input: Tensor, dim0: int, dim1: int) -> Tensor:
    return ops.move(lambda entries: entries.swapaxes(dim0, dim1), input)


def _transpose_matrix(ops: TensorBuilder, input: Tensor) -> Tensor:
    return ops.transpose(input, None)


def _sizes(parts: tuple[Any, ...]) -> list[int]:
    sizes = parts[0] if len(parts) == 1 and not isinstance(parts[0], int) else parts
    if not all(isinstance(size, int) for size in sizes):
        raise UnsupportedError(f"extents must be integers; got {sizes}")
    return list(sizes)


def _get_attribute(ops: TensorBuilder, input: Tensor, name: str) -> Any:
    attributes: dict[str, Callable[[], Any]] = {
        "shape": lambda: input.shape,
        "ndim": lambda: len(input.shape),
        "T": lambda: ops.transpose(input, None),
        "dtype": lambda: torch.float64,
        "device": lambda: torch.device("cpu"),
    }
    if name not in attributes:
        raise UnsupportedError(f"the attribute {name!r} of a tensor is not supported")
    return attributes[name]()


def _size(ops: TensorBuilder, input: Tensor, dim: int | None = None) -> Any:
    return input.shape if dim is None else input.shape[dim]


def _rank(ops: TensorBuilder, input: Tensor) -> int:
    return len(input.shape)


SHAPES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("cat", "concat", "concatenate"), _concatenate),
    "chunk": _chunk,
    "dim": _rank,
    "expand": _expand,
    "flatten": _flatten,
    "getattr": _get_attribute,
    "getitem": _getitem,
    "hstack": _hstack,
    "index_select": _index_select,
    "narrow": _narrow,
    "permute": _permute,
    **dict.fromkeys(("reshape", "view"), _reshape),
    "select": _select,
    "size": _size,
    "split": _split,
    "squeeze": _squeeze,
    "stack": _stack,
    "t": _transpose_matrix,
    "transpose": _transpose,
    "unbind": _unbind,
    "unsqueeze": _unsqueeze,
}
"""Handlers by the name of the function or method."""
