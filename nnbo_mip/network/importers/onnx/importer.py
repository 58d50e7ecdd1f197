"""Import an ONNX file as a `Network` (extra ``onnx``).

The graph is carried out, node by node, on affine values. Files are taken as hostile: see
`nnbo_mip.network.importers.onnx.file` for what is refused before anything is allocated.
"""

from __future__ import annotations

import inspect
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import FileFormatError, InputError, UnsupportedError
from nnbo_mip.core.files import MAX_BYTES
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.importers.onnx.arithmetic import ARITHMETIC
from nnbo_mip.network.importers.onnx.file import (
    input_shape,
    onnx_package,
    precision,
    read_model,
    tensor_values,
)
from nnbo_mip.network.importers.onnx.shapes import SHAPES
from nnbo_mip.network.importers.onnx.values import Attributes, Value
from nnbo_mip.network.importers.probe import largest_difference, probe_points
from nnbo_mip.network.importers.tensors import MAX_ELEMENTS, Tensor, TensorBuilder

OPERATORS = dict(sorted((ARITHMETIC | SHAPES).items()))
NAMES_KEY = "nnbo_mip.output_names"
"""Metadata property with the JSON list of names of the outputs' columns."""


def from_onnx(path: str | Path, max_bytes: int = MAX_BYTES) -> Network:
    """Import an ONNX file.

    Parameters
    ----------
    path : path
        A model with one input: (batch, d), (batch, …) which is flattened, (1, d) or (d,).
        It may have several outputs.
    max_bytes : int
        Largest file that is read.

    Returns
    -------
    Network
        With every weight cast to float64, which is exact, and outputs named as the
        graph's (numbered, where one has several columns). ``float32_difference`` holds
        the largest difference to the model's own answers, computed by ONNX's reference
        evaluator in the model's precision on 256 seeded points in [-1, 1]^d.

    Raises
    ------
    UnsupportedError
        For an operator that is not piecewise linear or not known, naming the node.
    FileFormatError
        For a file that is truncated, contradicts itself or claims more than it holds.
    """
    model = read_model(path, max_bytes)
    name, shape = input_shape(model.graph)
    ops = _builder(name, shape)
    values = _initializers(model.graph)
    values[name] = ops.input
    for node in model.graph.node:
        _carry_out(ops, node, values)
    outputs = {value.name: _output(value.name, values) for value in model.graph.output}
    names = _stored_names(model, sum(rows.width for rows in outputs.values()))
    if names:
        network = ops.graph.finish(ops.graph.concatenate(list(outputs.values())), names)
    else:
        network = ops.graph.finish(outputs)
    difference = _difference(model, network, shape)
    return Network(network.n_inputs, network.layers, network.head, network.output_names, difference)


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


def _carry_out(ops: TensorBuilder, node: Any, values: dict[str, Value]) -> None:
    """Add the outputs of a node to `values`."""
    where = f"cannot import node {node.name or node.output[:1]!r} ({node.op_type})"
    if node.op_type not in OPERATORS or node.domain not in ("", "ai.onnx"):
        raise UnsupportedError(
            f"{where}: {node.op_type} of domain {node.domain or 'ai.onnx'} is not supported; "
            f"supported are {', '.join(OPERATORS)}."
        )
    missing = [name for name in node.input if name and name not in values]
    taken = [name for name in node.output if name in values]
    if missing or taken:
        raise FileFormatError(
            f"{where}: it must read values computed before and write new ones; "
            f"{[*missing, *taken][0]!r} is {'missing' if missing else 'written twice'} "
            "(a cycle, a lost initializer or an unsorted graph); export the model again."
        )
    try:
        attributes = Attributes(node)
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


def _difference(model: Any, network: Network, shape: list[int | None]) -> float | None:
    """Return the largest difference to the reference evaluator; None where it gives up."""
    onnx_package()
    from onnx.helper import tensor_dtype_to_np_dtype
    from onnx.reference import ReferenceEvaluator

    name, _ = input_shape(model.graph)
    kind = next(v.type.tensor_type.elem_type for v in model.graph.input if v.name == name)
    points = probe_points(network.n_inputs).astype(tensor_dtype_to_np_dtype(kind))
    batches = [points] if shape[0] is None else list(points)
    try:
        evaluator = ReferenceEvaluator(model)
        with np.errstate(all="ignore"):
            seen = [
                _columns(list(evaluator.run(None, {name: _shaped(batch, shape)})), batch.ndim > 1)
                for batch in batches
            ]
    except Exception:  # it raises anything on the types and operators that it lacks
        return None
    exact = points.astype(np.float64)
    return largest_difference(network, exact, np.concatenate(seen), precision(model))


def _shaped(batch: Any, shape: list[int | None]) -> Any:
    return batch.reshape([-1 if extent is None else extent for extent in shape])


def _columns(outputs: list[Any], batched: bool) -> FloatArray:
    """Return a model's outputs side by side: (n, m)."""
    parts = [np.asarray(output, dtype=np.float64) for output in outputs]
    return np.concatenate([part.reshape(len(part) if batched else 1, -1) for part in parts], axis=1)
