"""Read ONNX files from strangers: sizes first, values after.

Nothing outside the file is opened (weights stored as external data are refused), and no
tensor is allocated before its shape is known to account for the bytes that are there.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import Array
from nnbo_mip.core.errors import FileFormatError, InputError, MissingExtraError, UnsupportedError
from nnbo_mip.core.files import IF_TRUSTED, read_limited
from nnbo_mip.network.importers.probe import DOUBLE, Precision

FLOATS = {
    "DOUBLE": DOUBLE,
    "FLOAT": Precision(2.0**-23, float(np.finfo(np.float32).max)),
    "FLOAT16": Precision(2.0**-10, 65504.0),
    "BFLOAT16": Precision(2.0**-7, 255.0 * 2.0**120),
    "FLOAT8E4M3FN": Precision(2.0**-3, 448.0),
    "FLOAT8E4M3FNUZ": Precision(2.0**-3, 240.0),
    "FLOAT8E5M2": Precision(2.0**-2, 57344.0),
    "FLOAT8E5M2FNUZ": Precision(2.0**-2, 57344.0),
}
"""Floating types that are read."""

INTEGERS = ("BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64")
OWN_FIELDS = {
    "DOUBLE": "double_data",
    "FLOAT": "float_data",
    "INT64": "int64_data",
} | dict.fromkeys(("UINT32", "UINT64"), "uint64_data")
"""Where a type's values are when not in ``raw_data``; others are in ``int32_data``."""


def onnx_package() -> Any:
    """Return the onnx package, or say which extra brings it."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError(
            "ONNX files need the package onnx, which is not installed; "
            'pip install "nnbo_mip[onnx]".'
        ) from error
    return onnx


def read_model(path: str | Path, max_bytes: int) -> Any:
    """Parse a model without loading anything from other files.

    Parameters
    ----------
    path : path
        An ONNX file.
    max_bytes : int
        Largest file that is read.

    Returns
    -------
    onnx.ModelProto
    """
    onnx = onnx_package()
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        model = onnx.load_model_from_string(
            read_limited(path, max_bytes, "the network", IF_TRUSTED)
        )
    except DecodeError as error:
        raise FileFormatError(
            f"{path} must be an ONNX model; got a damaged or truncated file ({error}); "
            "export it again."
        ) from error
    if not model.HasField("graph") or not model.graph.output:
        raise FileFormatError(
            f"{path} must be an ONNX model with a graph and an output; got none; export it again."
        )
    return model


def type_name(number: int) -> str:
    """Return the name of an ONNX element type, such as ``FLOAT``."""
    types = onnx_package().TensorProto.DataType
    return str(types.Name(number)) if number in types.values() else f"type {number}"


def tensor_values(tensor: Any, name: str) -> Array:
    """Return the values of a TensorProto, in its own type: constants round as the graph does.

    Parameters
    ----------
    tensor : onnx.TensorProto
        An initializer or the value of a constant.
    name : str
        For messages.
    """
    onnx = onnx_package()
    kind = type_name(tensor.data_type)
    if kind not in FLOATS and kind not in INTEGERS:
        raise UnsupportedError(
            f"tensor {name!r} has element type {kind}; supported are "
            f"{', '.join((*FLOATS, *INTEGERS))}; cast it before exporting."
        )
    if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
        raise UnsupportedError(
            f"tensor {name!r} is stored outside the file, which is not read; "
            "save the model with save_as_external_data=False."
        )
    width = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)).itemsize
    count = math.prod(tensor.dims)
    present = len(tensor.raw_data) / width
    if not tensor.raw_data:
        present = len(getattr(tensor, OWN_FIELDS.get(kind, "int32_data")))
    if count != present or any(extent < 0 for extent in tensor.dims):
        raise FileFormatError(
            f"tensor {name!r} claims shape {tuple(tensor.dims)}, so {count} values; the file "
            f"holds {present:g}; it is damaged or hostile."
        )
    values = onnx.numpy_helper.to_array(tensor)
    if kind in INTEGERS:
        return np.asarray(values)
    if np.isnan(np.asarray(values, dtype=np.float64)).any():
        raise InputError(
            f"every weight must be a number; tensor {name!r} holds NaN; retrain or repair the "
            "network."
        )
    return np.asarray(values)


def input_shape(graph: Any) -> tuple[str, list[int | None]]:
    """Return the name and shape of a graph's only input; None for a symbolic extent."""
    constants = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in constants]
    if len(inputs) != 1:
        raise UnsupportedError(
            f"a network has one input; got {len(inputs)} "
            f"({', '.join(value.name for value in inputs[:6])}); concatenate them."
        )
    kind = inputs[0].type.tensor_type
    if type_name(kind.elem_type) not in FLOATS:
        raise UnsupportedError(
            f"the input must be a tensor of floats; got {type_name(kind.elem_type)}; "
            "cast it before exporting."
        )
    if any(extent.dim_value < 0 for extent in kind.shape.dim):
        raise FileFormatError("the extents of the input must not be negative; export it again.")
    return inputs[0].name, [extent.dim_value or None for extent in kind.shape.dim]


def opset_version(model: Any) -> int:
    """Return the version of the operators of the default domain, 1 where none is given."""
    versions = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")]
    return max(versions, default=1)


def precision(model: Any) -> Precision:
    """Return the coarsest floating type a model computes in."""
    graph = model.graph
    numbers = {tensor.data_type for tensor in graph.initializer}
    numbers |= {value.type.tensor_type.elem_type for value in graph.input}
    numbers |= {a.i for node in graph.node if node.op_type == "Cast" for a in node.attribute}
    numbers |= {a.t.data_type for node in graph.node for a in node.attribute if a.HasField("t")}
    kinds = [FLOATS[name] for name in map(type_name, numbers) if name in FLOATS]
    return max(kinds, key=lambda kind: kind.epsilon)
