"""How many inputs a traced PyTorch module reads."""

from __future__ import annotations

import operator

import torch
from torch import fx, nn

from nnbo_mip.core.errors import InputError
from nnbo_mip.network.importers.torch.interpreter import operation_name

WIDTH_KEEPING = frozenset(
    {
        *("abs", "clamp", "clip", "hardtanh", "leaky_relu", "neg", "relu", "relu6"),
        *("add", "div", "maximum", "minimum", "mul", "sub", "truediv"),
        *("clone", "contiguous", "detach", "double", "dropout", "flatten", "float", "to"),
    }
)
WIDTH_KEEPING_MODULES = (
    nn.Dropout,
    nn.Flatten,
    nn.Hardtanh,
    nn.Identity,
    nn.LeakyReLU,
    nn.PReLU,
    nn.ReLU,
)


def inferred_inputs(graph: fx.Graph, root: nn.Module) -> int:
    """Return the width that the first linear or batch-norm layer expects.

    Only layers that read the input, or entrywise functions of it, are looked at.
    """
    same_width = {node for node in graph.nodes if node.op == "placeholder"}
    for node in graph.nodes:
        if not same_width.intersection(node.all_input_nodes):
            continue
        expected = _expected_width(node, root)
        if expected is not None:
            return expected
        if _keeps_width(node, root):
            same_width.add(node)
    raise InputError(
        "the number of inputs cannot be read off the module, because no linear layer reads them; "
        "expected an integer, got n_inputs=None; pass n_inputs, or input_shape=(channels, height, "
        "width) for images."
    )


def _expected_width(node: fx.Node, root: nn.Module) -> int | None:
    if node.op == "call_module":
        module = root.get_submodule(str(node.target))
        if isinstance(module, nn.Linear):
            return module.in_features
        return module.num_features if isinstance(module, nn.BatchNorm1d) else None
    axes = {"linear": -1, "matmul": 0, "mm": 0, "addmm": 0}
    axis = axes.get(operation_name(node))
    if axis is None:
        return None
    for other in node.all_input_nodes:
        if other.op == "get_attr":
            constant = operator.attrgetter(str(other.target))(root)
            if isinstance(constant, torch.Tensor) and constant.ndim == 2:
                return int(constant.shape[axis])
    return None


def _keeps_width(node: fx.Node, root: nn.Module) -> bool:
    if node.op == "call_module":
        return isinstance(root.get_submodule(str(node.target)), WIDTH_KEEPING_MODULES)
    return operation_name(node) in WIDTH_KEEPING
