"""ONNX models for the tests of importers."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper


def model_of(
    nodes: Sequence[Any],
    constants: dict[str, Any] | None = None,
    *,
    shape: Sequence[Any] = ("batch", 3),
    outputs: Sequence[str] = ("y",),
    kind: int = TensorProto.DOUBLE,
    opset: int = 18,
) -> Any:
    """Make a model with the input ``x``; constants are arrays or TensorProtos."""
    initializers = [
        value
        if isinstance(value, TensorProto)
        else numpy_helper.from_array(np.asarray(value), name)
        for name, value in (constants or {}).items()
    ]
    graph = helper.make_graph(
        list(nodes),
        "test",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info(name, kind, None) for name in outputs],
        initializers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def node(kind: str, inputs: str, outputs: str = "y", **attributes: Any) -> Any:
    """Make a node; inputs and outputs are names with blanks in between, ``-`` for none."""
    names = ["" if name == "-" else name for name in inputs.split()]
    return helper.make_node(kind, names, outputs.split(), name=f"{kind}_of_{outputs}", **attributes)


def saved(model: Any, folder: Path) -> Path:
    """Write a model without any check."""
    path = folder / "net.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def exported(module: torch.nn.Module, n_inputs: int, folder: Path) -> Path:
    """Export a PyTorch module with a dynamic batch."""
    stream = io.BytesIO()
    dtype = next(module.parameters()).dtype
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter that needs no further package is old
        torch.onnx.export(
            module,
            (torch.zeros(2, n_inputs, dtype=dtype),),
            stream,
            dynamo=False,
            input_names=["x"],
            output_names=["y"],
            dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}},
        )
    return saved(onnx.load_model_from_string(stream.getvalue()), folder)


def ints(*values: int) -> Any:
    """Return an array of 64-bit integers, as shapes and axes are given."""
    return np.array(values, dtype=np.int64)


RNG = np.random.default_rng(8)
W = RNG.normal(size=(3, 4))
V = RNG.normal(size=(4, 4))
ROW = np.array([0.5, -1.0, 0.25, 2.0])
C: dict[str, Any] = {"W": W, "V": V, "row": ROW}
Z = node("MatMul", "x W", "z")
"""Most graphs begin with ``z = x W``."""
