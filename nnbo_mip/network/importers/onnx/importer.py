"""Import an ONNX file as a `Network` (extra ``onnx``).

The graph is carried out, node by node, on affine values. Files are taken as hostile: see
`nnbo_mip.network.importers.onnx.file` for what is refused before anything is allocated.
"""

from __future__ import annotations

import inspect
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nnbo_mip.core.errors import FileFormatError, InputError, UnsupportedError
from nnbo_mip.core.files import MAX_BYTES
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.importers.onnx.answers import answers, in_float64, narrows, rounded
from nnbo_mip.network.importers.onnx.arithmetic import ARITHMETIC
from nnbo_mip.network.importers.onnx.budget import Budget
from nnbo_mip.network.importers.onnx.file import (
    input_shape,
    opset_version,
    precision,
    read_model,
    tensor_values,
)
from nnbo_mip.network.importers.onnx.images import IMAGES
from nnbo_mip.network.importers.onnx.shapes import SHAPES
from nnbo_mip.network.importers.onnx.values import Attributes, Value
from nnbo_mip.network.importers.probe import (
    DOUBLE,
    attempt,
    largest_difference,
    leave_off,
    not_compared,
    rounding_difference,
    unverified,
)
from nnbo_mip.network.importers.probe_points import probe_points
from nnbo_mip.network.importers.tensors import MAX_ELEMENTS, Tensor, TensorBuilder

OPERATORS = dict(sorted((ARITHMETIC | SHAPES | IMAGES).items()))
NAMES_KEY = "nnbo_mip.output_names"
"""Metadata property with the JSON list of names of the outputs' columns."""


MODEL = "the ONNX model"


def from_onnx(path: str | Path, max_bytes: int = MAX_BYTES, *, verify: bool = True) -> Network:
    """Import an ONNX file.

    Parameters
    ----------
    path : path
        A model with one input: (batch, d), (batch, …) which is flattened, (1, d) or (d,).
        It may have several outputs.
    max_bytes : int
        Largest file that is read.
    verify : bool
        Whether to compare the network with the model, and to refuse it where they differ or
        cannot be compared; without, `Network.unverified` says so.

    Returns
    -------
    Network
        With every weight cast to float64, which is exact, and outputs named as the
        graph's (numbered, where one has several columns). ``float32_difference`` holds
        the largest difference to the model's own answers, computed by ONNX's reference
        evaluator in the model's precision, at the probe points.

    Raises
    ------
    UnsupportedError
        For an operator that is not piecewise linear or not known, naming the node, and for a
        model that answers something else than the network.
    FileFormatError
        For a file that is truncated, contradicts itself or claims more than it holds.
    """
    try:
        return _imported(read_model(path, max_bytes), verify)
    except MemoryError as error:
        raise UnsupportedError(
            f"importing {path} needs more memory than this process may have ({error}); the network "
            "is too large to be certified here."
        ) from error


def _imported(model: Any, verify: bool) -> Network:
    """Return the network of a model, compared with it where that is asked for."""
    name, shape = input_shape(model.graph)
    ops = _builder(name, shape)
    values = _initializers(model.graph)
    values[name] = ops.input
    budget = Budget(values.values(), ops.graph.layers)
    kept = {value.name for value in model.graph.output} | set(values)
    last = {key: k for k, node in enumerate(model.graph.node) for key in node.input}
    written = set(values)
    for k, node in enumerate(model.graph.node):
        _check_names(node, values, written)
        budget.spend(_carry_out(ops, node, values, opset_version(model)), node)
        written.update(node.output)
        for key in {key for key in node.input if key and last[key] == k} - kept:
            budget.release(values.pop(key))
    outputs = {value.name: _output(value.name, values) for value in model.graph.output}
    names = _stored_names(model, sum(rows.width for rows in outputs.values()))
    if names:
        network = ops.graph.finish(ops.graph.concatenate(list(outputs.values())), names)
    else:
        network = ops.graph.finish(outputs)
    if not verify:
        return replace(network, unverified=unverified(MODEL))
    difference = _verified_difference(model, network, budget.widest)
    return replace(network, float32_difference=difference)


def _builder(name: str, shape: list[int | None]) -> TensorBuilder:
    batched = bool(shape) and shape[0] is None
    features = [extent for extent in shape[1 if batched else 0 :] if extent is not None]
    if not features or len(features) + batched != len(shape):
        raise UnsupportedError(
            f"the input {name!r} must have shape (batch, d), with d a number; got "
            f"{tuple('?' if extent is None else extent for extent in shape)}; "
            "export the model with a fixed number of inputs."
        )
    if not batched and len(features) > 1 and features[0] != 1:
        raise UnsupportedError(
            f"the input {name!r} must hold any number of points or one; got a batch of "
            f"{features[0]}; export the model with a dynamic first axis."
        )
    if math.prod(features) > MAX_ELEMENTS:
        raise FileFormatError(
            f"the input {name!r} may have {MAX_ELEMENTS} entries; got {math.prod(features)}; "
            "the file is damaged or hostile."
        )
    return TensorBuilder(tuple(features), batched)


def _initializers(graph: Any) -> dict[str, Value]:
    if graph.sparse_initializer:
        raise UnsupportedError("sparse initializers are not supported; store them dense.")
    values: dict[str, Value] = {}
    for tensor in graph.initializer:
        if tensor.name in values:
            raise FileFormatError(
                f"initializers must have different names; got {tensor.name!r} twice; "
                "export the model again."
            )
        values[tensor.name] = tensor_values(tensor, tensor.name)
    return values


def _check_names(node: Any, values: dict[str, Value], written: set[str]) -> None:
    """Refuse a node that reads what there is not, or writes what there was."""
    missing = [name for name in node.input if name and name not in values]
    taken = [name for name in node.output if name and name in written]
    if missing or taken:
        raise FileFormatError(
            f"cannot import node {node.name or node.output[:1]!r} ({node.op_type}): it must read "
            f"values computed before and write new ones; {[*missing, *taken][0]!r} is "
            f"{'missing' if missing else 'written twice'} (a cycle, a lost initializer or an "
            "unsorted graph); export the model again."
        )


def _carry_out(ops: TensorBuilder, node: Any, values: dict[str, Value], opset: int) -> list[Value]:
    """Add the outputs of a node to `values`, and return them."""
    where = f"cannot import node {node.name or node.output[:1]!r} ({node.op_type})"
    if node.op_type not in OPERATORS or node.domain not in ("", "ai.onnx"):
        raise UnsupportedError(
            f"{where}: {node.op_type} of domain {node.domain or 'ai.onnx'} is not supported; "
            f"{leave_off(node.op_type) or 'supported are ' + ', '.join(OPERATORS)}."
        )
    try:
        attributes = Attributes(node, opset)
        handler = OPERATORS[node.op_type]
        arguments = [values[name] if name else None for name in node.input]
        inspect.signature(handler).bind(ops, attributes, *arguments)
        # Overflow is found where it ends: no weight of a network may be infinite or NaN.
        with np.errstate(all="ignore"):
            result = handler(ops, attributes, *arguments)
        if attributes.unread:
            raise UnsupportedError(f"its attributes {attributes.unread} are not supported")
    except FileFormatError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise InputError(f"{where}: {error}") from error
        raise UnsupportedError(f"{where}: {error}.") from error
    results = result if isinstance(result, list) else [result]
    values.update((key, value) for key, value in zip(node.output, results, strict=False) if key)
    return results


def _output(name: str, values: dict[str, Value]) -> Affine:
    value = values.get(name)
    if not isinstance(value, Tensor):
        raise FileFormatError(
            f"output {name!r} must depend on the input; no node computes it from there; "
            "export the model again."
        )
    if value.batch_axis not in (None, 0):
        raise UnsupportedError(
            f"output {name!r} must have the batch as its first axis; got it on axis "
            f"{value.batch_axis}; transpose it."
        )
    return value.rows


def _stored_names(model: Any, count: int) -> list[str]:
    """Return the names that `to_onnx` stored, or none."""
    for entry in model.metadata_props:
        if entry.key == NAMES_KEY:
            try:
                names = json.loads(entry.value)
            except (ValueError, RecursionError):
                return []
            if isinstance(names, list) and len(names) == count:
                return [str(name) for name in names]
    return []


def _verified_difference(model: Any, network: Network, widest: int) -> float | None:
    """Return the largest difference to the model's own answers, or refuse the network.

    None where the reference evaluator carries out the model in float64 only. `widest` is the
    largest number of entries that a value of the model has a point.
    """
    points = rounded(probe_points(network, widest), model)
    own, own_error = attempt(lambda: answers(model, points))
    double = None
    if precision(model) != DOUBLE:
        double, _ = attempt(lambda: answers(in_float64(model), points))
    if double is not None:
        largest_difference(network, points, double, DOUBLE, MODEL)
    # A model that casts to fewer digits than it gets is also what these digits leave of it.
    if own is not None and (double is None or narrows(model)):
        return largest_difference(network, points, own, precision(model), MODEL)
    if double is None:
        raise not_compared(MODEL, own_error)
    return None if own is None else rounding_difference(network, points, own)
