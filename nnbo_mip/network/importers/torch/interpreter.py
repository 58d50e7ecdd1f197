"""Carry out a graph that `torch.fx` traced on symbolic tensors.

This module imports torch and is imported only by `nnbo_mip.network.importers.torch.importer`.
"""

from __future__ import annotations

import builtins
import inspect
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import fx, nn
from torch.nn.utils.parametrize import is_parametrized

from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.network.importers.probe import leave_off
from nnbo_mip.network.importers.tensors import Tensor, TensorBuilder
from nnbo_mip.network.importers.torch.arithmetic import ARITHMETIC
from nnbo_mip.network.importers.torch.images import IMAGES
from nnbo_mip.network.importers.torch.modules import MODULES
from nnbo_mip.network.importers.torch.shapes import SHAPES

FUNCTIONS = ARITHMETIC | SHAPES | IMAGES
NAMESPACES = (torch, nn.functional, operator, builtins, torch._C._nn)
IN_PLACE_OPERATORS = frozenset({"iadd", "imul", "isub", "itruediv"})
DROPOUTS = nn.Dropout | nn.Dropout1d | nn.Dropout2d | nn.Dropout3d
ALIASES = (frozenset(SHAPES) - {"dim", "size"}) | {
    *("bfloat16", "contiguous", "detach", "double", "float", "half", "pad", "to", "unflatten"),
    *("dropout", "dropout1d", "dropout2d", "dropout3d"),
}
"""Operations whose result may share memory with their argument."""

SUPPORTED = (
    "supported are the modules "
    + ", ".join(sorted(kind.__name__ for kind in MODULES))
    + ", Sequential and modules made of them, and the functions and methods "
    + ", ".join(sorted(FUNCTIONS))
)


class Interpreter:
    """Carry out a traced graph on symbolic tensors."""

    def __init__(self, root: nn.Module, graph: fx.Graph, ops: TensorBuilder) -> None:
        self._root = root
        self._graph = graph
        self._ops = ops
        self._values: dict[fx.Node, Any] = {}
        self.widest = 1
        """The most entries that a value has a point."""

    def run(self) -> Any:
        """Return what the module returns: a tensor, or a tuple or dict of tensors."""
        for node in self._graph.nodes:
            try:
                # Overflow is found where it ends: no weight of a network may be infinite or NaN.
                with np.errstate(all="ignore"):
                    self._values[node] = self._value(node)
                for leaf in _flat(self._values[node]):
                    if isinstance(leaf, Tensor):
                        self.widest = max(self.widest, leaf.rows.width)
            except (ValueError, IndexError, TypeError, RuntimeError) as error:
                where = f"cannot import node {node.name!r} ({self._operation(node)}): {error}"
                if isinstance(error, InputError):
                    raise InputError(where) from error
                raise UnsupportedError(f"{where}.") from error
        return self._values[node]

    def _value(self, node: fx.Node) -> Any:
        if node.op == "placeholder":
            return self._ops.input
        if node.op == "get_attr":
            return _constant(operator.attrgetter(str(node.target))(self._root))
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), self._values.__getitem__)
        if node.op == "output":
            return args[0]
        if node.op == "call_module":
            return self._call_module(node, args, kwargs)
        if not any(isinstance(value, Tensor) for value in _flat((args, kwargs))):
            return _evaluate(node, args, kwargs)
        return self._call_function(node, args, kwargs)

    def _call_module(self, node: fx.Node, args: Any, kwargs: Any) -> Tensor:
        module = self._root.get_submodule(str(node.target))
        kind = type(module).__mro__[1] if is_parametrized(module) else type(module)
        if kind not in MODULES:
            raise _unsupported(kind.__name__)
        arguments = [*args, *kwargs.values()]
        if len(arguments) != 1 or not isinstance(arguments[0], Tensor):
            raise UnsupportedError("it must get one tensor that depends on the input")
        if getattr(module, "inplace", False):
            self._check_in_place(node)
        return MODULES[kind](self._ops, module, arguments[0])

    def _call_function(self, node: fx.Node, args: Any, kwargs: Any) -> Any:
        name = operation_name(node)
        if name not in FUNCTIONS or (node.op == "call_function" and not _is_known(node.target)):
            raise _unsupported(name or str(node.target))
        handler = FUNCTIONS[name]
        if "self" in kwargs:
            kwargs = {"input" if key == "self" else key: v for key, v in kwargs.items()}
        try:
            bound = inspect.signature(handler).bind(self._ops, *args, **kwargs)
        except TypeError as error:
            raise UnsupportedError(
                f"called with arguments that are not supported: {error}"
            ) from error
        if _is_in_place(node) or bound.arguments.get("inplace") is True:
            self._check_in_place(node)
        return handler(*bound.args, **bound.kwargs)

    def _check_in_place(self, node: fx.Node) -> None:
        """Refuse to overwrite what is read later, directly or through a view."""
        source = node.all_input_nodes[0]
        while self._is_alias(source):
            source = source.all_input_nodes[0]
        nodes = list(self._graph.nodes)
        earlier = nodes[: nodes.index(node)]
        aliases = {source}
        for other in earlier:
            if self._is_alias(other) and other.all_input_nodes[0] in aliases:
                aliases.add(other)
        readers = {reader for alias in aliases for reader in alias.users} - {node}
        if not readers.issubset(earlier):
            raise UnsupportedError(
                f"it changes {source.name!r} in place, which is read again later; use inplace=False"
            )

    def _is_alias(self, node: fx.Node) -> bool:
        """Whether the result of a node may share memory with its first argument."""
        if node.op == "call_module":
            module = self._root.get_submodule(str(node.target))
            in_place = getattr(module, "inplace", False)
            return in_place or isinstance(
                module, nn.Identity | nn.Flatten | nn.Unflatten | DROPOUTS
            )
        if node.op not in ("call_function", "call_method") or not node.all_input_nodes:
            return False
        if operation_name(node) == "getattr":
            return node.args[1] == "T"
        in_place = _is_in_place(node) or node.kwargs.get("inplace") is True
        return in_place or operation_name(node) in ALIASES

    def _operation(self, node: fx.Node) -> str:
        """Say what a node does, for messages."""
        if node.op == "call_module":
            path = str(node.target).removeprefix("module").lstrip(".")
            kind = type(self._root.get_submodule(str(node.target))).__name__
            return f"module {kind} at {path!r}" if path else f"module {kind}"
        if node.op == "call_method":
            return f"method {node.target}"
        return f"function {operation_name(node)}" if node.op == "call_function" else node.op


def operation_name(node: fx.Node) -> str:
    """Return the name of a function or method without the underscore of in-place variants."""
    target = node.target
    name = target if isinstance(target, str) else str(getattr(target, "__name__", ""))
    return name.rstrip("_")


def _is_in_place(node: fx.Node) -> bool:
    target = node.target
    name = target if isinstance(target, str) else str(getattr(target, "__name__", ""))
    return name.endswith("_") or name in IN_PLACE_OPERATORS


def _is_known(target: Any) -> bool:
    """Whether a function is PyTorch's or Python's own, not a user's of the same name."""
    name = getattr(target, "__name__", "")
    return any(getattr(space, name, None) is target for space in NAMESPACES)


def _constant(value: Any) -> Any:
    """Return a parameter or buffer in float64, integers unchanged."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.detach().to(device="cpu", dtype=torch.float64, copy=True)
    return value


def _unsupported(name: str) -> UnsupportedError:
    said = leave_off(name)
    return UnsupportedError(f"{name} is not supported; {said or SUPPORTED}")


def _evaluate(node: fx.Node, args: Any, kwargs: Any) -> Any:
    """Carry out an operation on constants, such as ``torch.exp(self.log_scale)``."""
    with torch.no_grad():
        if node.op == "call_method":
            return getattr(args[0], str(node.target))(*args[1:], **kwargs)
        if not callable(node.target) or not _is_known(node.target):
            raise UnsupportedError(f"{operation_name(node)} is not supported; {SUPPORTED}")
        return node.target(*args, **kwargs)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [leaf for part in value.values() for leaf in _flat(part)]
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in _flat(part)]
    return [value]
