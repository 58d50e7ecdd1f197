"""What an ONNX model answers at points, by ONNX's reference evaluator, in float64 where it can.

The twin of a model in float64 has its constants as the model computes them, in their own
types, and carries out in float64 what depends on the input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.network.importers.onnx.file import (
    FLOATS,
    input_shape,
    onnx_package,
    opset_version,
    type_name,
)

BATCH_NORM_TEST_MODE = range(7, 14)
"""Opsets in which a batch norm of one output is that of inference, momentum or not."""


def answers(model: Any, points: FloatArray) -> FloatArray:
    """Return the outputs (n, m) of a model in its own precision.

    Parameters
    ----------
    model : onnx.ModelProto
    points : (n, d) array
        Cast to the type of the input.
    """
    name, shape = input_shape(model.graph)
    rows = points.astype(_input_dtype(model))
    batches = [rows] if shape[0] is None else list(rows)
    evaluator = _evaluator(model)
    with np.errstate(all="ignore"):
        seen = [
            _columns(evaluator.run(None, {name: _shaped(batch, shape)}), batch.ndim > 1)
            for batch in batches
        ]
    return np.concatenate(seen)


def rounded(points: FloatArray, model: Any) -> FloatArray:
    """Return the points that are finite in the type of a model's input, rounded to it."""
    with np.errstate(over="ignore"):
        kept = points.astype(_input_dtype(model)).astype(np.float64)
    return kept[np.isfinite(kept).all(axis=1)]


def _input_dtype(model: Any) -> Any:
    name, _ = input_shape(model.graph)
    return onnx_package().helper.tensor_dtype_to_np_dtype(_input(model.graph, name).elem_type)


def in_float64(model: Any) -> Any:
    """Return the twin of a model that computes in float64 what depends on its input."""
    onnx = onnx_package()
    name, _ = input_shape(model.graph)
    double = onnx.TensorProto.DOUBLE
    variable, constant = _divided(model.graph, name)
    twin = onnx.ModelProto()
    twin.CopyFrom(model)
    del twin.graph.node[:], twin.graph.initializer[:], twin.graph.value_info[:], twin.graph.input[:]
    for node in variable:
        copied = twin.graph.node.add()
        copied.CopyFrom(node)
        for attribute in copied.attribute:
            if node.op_type == "Cast" and attribute.name == "to" and _is_float(attribute.i):
                attribute.i = double
    values = _constants(model, constant)
    read = {key for node in variable for key in node.input} & set(values)
    for key in sorted(read):
        value = np.asarray(values[key])
        # Bits, integers and truth values stay what they are.
        number = value if value.dtype.kind in "biu" else value.astype(np.float64)
        twin.graph.initializer.append(onnx.numpy_helper.from_array(number, key))
    entry = next(value for value in model.graph.input if value.name == name)
    twin.graph.input.add().CopyFrom(entry)
    for value in (*twin.graph.input, *twin.graph.output):
        value.type.tensor_type.elem_type = double
    return twin


def narrows(model: Any) -> bool:
    """Whether a model casts what depends on its input to a type with fewer digits."""
    name, _ = input_shape(model.graph)
    epsilon = FLOATS[type_name(_input(model.graph, name).elem_type)].epsilon
    return any(
        node.op_type == "Cast" and FLOATS[type_name(attribute.i)].epsilon > epsilon
        for node in _divided(model.graph, name)[0]
        for attribute in node.attribute
        if attribute.name == "to" and _is_float(attribute.i)
    )


def _input(graph: Any, name: str) -> Any:
    return next(value for value in graph.input if value.name == name).type.tensor_type


def _is_float(number: int) -> bool:
    return type_name(number) in FLOATS


def _divided(graph: Any, name: str) -> tuple[list[Any], list[Any]]:
    """Return the nodes that depend on the input, and the others."""
    known = {name}
    variable: list[Any] = []
    constant: list[Any] = []
    for node in graph.node:
        depends = not known.isdisjoint(node.input)
        (variable if depends else constant).append(node)
        known.update(node.output if depends else ())
    return variable, constant


def _constants(model: Any, nodes: list[Any]) -> dict[str, Array]:
    """Return the initializers and what nodes compute from them, in their own types."""
    onnx = onnx_package()
    values = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    names = [name for node in nodes for name in node.output if name]
    if not names:
        return values
    computed = onnx.ModelProto()
    computed.CopyFrom(model)
    del computed.graph.node[:], computed.graph.input[:], computed.graph.output[:]
    computed.graph.node.extend(nodes)
    computed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    with np.errstate(all="ignore"):
        results = _evaluator(computed).run(None, {})
    return values | dict(zip(names, results, strict=True))


def _evaluator(model: Any) -> Any:
    """Return ONNX's evaluator, which takes old batch norms for ones in training."""
    onnx_package()
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun

    class BatchNormalization(OpRun):
        """Batch norm with the statistics that are stored."""

        def _run(  # type: ignore[no-untyped-def]
            self, x, scale, bias, mean, variance, epsilon=1e-5, **_others
        ):
            shape = (-1, *([1] * (x.ndim - 2)))
            centred = x - mean.reshape(shape)
            deviation = np.sqrt(variance + epsilon).reshape(shape)
            return ((scale.reshape(shape) * centred / deviation + bias.reshape(shape)),)

    old = opset_version(model) in BATCH_NORM_TEST_MODE
    return ReferenceEvaluator(model, new_ops=[BatchNormalization] if old else None)


def _shaped(batch: Any, shape: list[int | None]) -> Any:
    return batch.reshape([-1 if extent is None else extent for extent in shape])


def _columns(outputs: list[Any], batched: bool) -> FloatArray:
    """Return a model's outputs side by side: (n, m)."""
    parts = [np.asarray(output, dtype=np.float64) for output in outputs]
    return np.concatenate([part.reshape(len(part) if batched else 1, -1) for part in parts], axis=1)
