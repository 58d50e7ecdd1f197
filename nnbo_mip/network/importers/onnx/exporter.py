"""Write a `Network` as an ONNX file in float64 (extra ``onnx``).

ReLU layer l becomes one Gemm for each source it reads, chained through the addend, and a
Relu; the head likewise. The graph has one input ``x`` (batch, d) and one output
(batch, m), whose column names are stored as the metadata property
``nnbo_mip.output_names``. Weights are written as they are (sparse ones dense), so that
importing the file gives the same network.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.files import write_atomically
from nnbo_mip.network.graph.affine import Affine, dense
from nnbo_mip.network.graph.builder import drop_unread_layers
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.matrices import check_size
from nnbo_mip.network.importers.onnx.file import onnx_package
from nnbo_mip.network.importers.onnx.importer import NAMES_KEY

OPSET = 13
IR_VERSION = 7
MAX_FILE_BYTES = (1 << 31) - (1 << 20)
"""Protocol buffers end at 2 GiB."""


def to_onnx(network: Network, path: str | Path) -> None:
    """Write an ONNX file that computes the same function in float64.

    Parameters
    ----------
    network : Network
        Any network.
    path : path
        Written whole or not at all.
    """
    onnx = onnx_package()
    helper = onnx.helper
    writer = _Writer(onnx, network.n_inputs)
    small = drop_unread_layers(network)
    sources = ["x"]
    for position, layer in enumerate(small.layers, start=1):
        z = writer.affine(layer, sources, f"z{position}")
        sources.append(writer.relu(z, f"h{position}"))
    output = writer.affine(small.head, sources, "outputs")
    double = onnx.TensorProto.DOUBLE
    graph = helper.make_graph(
        writer.nodes,
        "nnbo_mip network",
        [helper.make_tensor_value_info("x", double, ["batch", network.n_inputs])],
        [helper.make_tensor_value_info(output, double, ["batch", network.n_outputs])],
        writer.initializers,
    )
    model = helper.make_model(
        graph,
        producer_name="nnbo_mip",
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    helper.set_model_props(model, {NAMES_KEY: json.dumps(list(network.output_names))})
    size = model.ByteSize()
    if size > MAX_FILE_BYTES:
        raise InputError(
            f"an ONNX file holds up to {MAX_FILE_BYTES} bytes; this network needs {size}; "
            "save it as .npz."
        )
    write_atomically(path, model.SerializeToString())


class _Writer:
    """Nodes and initializers of the graph under construction."""

    def __init__(self, onnx: Any, n_inputs: int) -> None:
        self._onnx = onnx
        self._n_inputs = n_inputs
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def affine(self, affine: Affine, sources: list[str], name: str) -> str:
        """Write ``bias + sum_k W_k h_k``; the result is called `name`."""
        addend = self._tensor(affine.bias, f"{name}_bias")
        # A constant map reads the input with zero weights, to know the size of the batch.
        terms = affine.terms or {0: np.zeros((affine.width, self._n_inputs))}
        for count, (source, matrix) in enumerate(terms.items(), start=1):
            check_size(*matrix.shape)
            weights = self._tensor(dense(matrix), f"{name}_from_{sources[source]}")
            result = name if count == len(terms) else f"{name}_part{count}"
            inputs = [sources[source], weights, addend]
            self.nodes.append(
                self._onnx.helper.make_node("Gemm", inputs, [result], result, transB=1)
            )
            addend = result
        return name

    def relu(self, value: str, name: str) -> str:
        """Write ``max(value, 0)``."""
        self.nodes.append(self._onnx.helper.make_node("Relu", [value], [name], name))
        return name

    def _tensor(self, values: FloatArray, name: str) -> str:
        tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)
        self.initializers.append(tensor)
        return name
