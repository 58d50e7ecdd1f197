"""Imported convolutions, pooling and padding compute what ONNX says they compute."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.importers.onnx.importer import from_onnx
from tests.network.importers.torch.test_images import SHAPE, Residual
from tests.network.onnx_nets import ints, model_of, node, saved
from tests.network.strategies import assert_close

RNG = np.random.default_rng(4)
KERNEL = RNG.normal(size=(4, 2, 3, 2))
GROUPED = RNG.normal(size=(4, 1, 3, 3))
BACK = RNG.normal(size=(2, 3, 3, 3))
BIAS = RNG.normal(size=4)
C = {"k": KERNEL, "g": GROUPED, "t": BACK, "b": BIAS, "half": np.array(0.5)}


def _of(
    kind: str, inputs: str, opset: int = 20, constants: dict[str, Any] | None = None, **given: Any
) -> Any:
    return model_of(
        [node(kind, inputs, **given)], C | (constants or {}), shape=("n", *SHAPE), opset=opset
    )


MODELS: dict[str, Callable[[], Any]] = {
    "Conv": lambda: _of("Conv", "x k b", strides=[2, 1], pads=[1, 0, 2, 1], dilations=[1, 2]),
    "Conv, groups": lambda: _of("Conv", "x g", group=2, kernel_shape=[3, 3]),
    "Conv, valid": lambda: _of("Conv", "x k", auto_pad="VALID"),
    "Conv, same above": lambda: _of("Conv", "x k", auto_pad="SAME_UPPER", strides=[2, 2]),
    "Conv, same below": lambda: _of("Conv", "x k", auto_pad="SAME_LOWER", strides=[2, 1]),
    "ConvTranspose": lambda: _of(
        *("ConvTranspose", "x t"),
        strides=[2, 3],
        pads=[1, 0, 0, 2],
        output_padding=[1, 0],
    ),
    "MaxPool": lambda: _of("MaxPool", "x", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1]),
    "MaxPool, ceil": lambda: _of(
        "MaxPool", "x", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1, dilations=[1, 2]
    ),
    "AveragePool": lambda: _of(
        "AveragePool", "x", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1]
    ),
    "AveragePool, padding counted": lambda: _of(
        "AveragePool", "x", kernel_shape=[3, 2], pads=[1, 1, 1, 1], count_include_pad=1
    ),
    "GlobalAveragePool": lambda: _of("GlobalAveragePool", "x"),
    "GlobalMaxPool": lambda: _of("GlobalMaxPool", "x"),
    "Pad of opset 10": lambda: _of(
        "Pad", "x", 10, pads=[0, 0, 1, 2, 0, 0, 0, 1], value=-0.5, mode="constant"
    ),
    "Pad": lambda: _of("Pad", "x p half", 13, {"p": ints(0, 0, 1, 0, 0, 0, 0, 2)}),
    "Pad of two axes": lambda: _of(
        "Pad", "x p half axes", 18, {"p": ints(1, 0, 2, 3), "axes": ints(-1, 2)}
    ),
    "Pad, reflected": lambda: _of(
        "Pad", "x p", 18, {"p": ints(0, 0, 1, 2, 0, 0, 2, 1)}, mode="reflect"
    ),
    "Pad, edge": lambda: _of("Pad", "x p", 18, {"p": ints(0, 0, 1, 2, 0, 0, 2, 1)}, mode="edge"),
    "Pad, wrapped": lambda: _of("Pad", "x p", 19, {"p": ints(0, 0, 1, 0, 0, 0, 0, 3)}, mode="wrap"),
}


@pytest.mark.parametrize("name", MODELS)
def test_images_are_seen_as_onnx_sees_them(tmp_path: Path, name: str) -> None:
    model = MODELS[name]()
    network = from_onnx(saved(model, tmp_path))
    points = RNG.normal(0.2, 1.4, (30, *SHAPE))
    (expected,) = ReferenceEvaluator(model).run(None, {"x": points})
    assert_close(network(points.reshape(30, -1)), expected.reshape(30, -1))
    assert network.float32_difference is not None
    assert network.float32_difference < 1e-12


@pytest.mark.parametrize("name", MODELS)
def test_images_are_seen_as_the_runtime_sees_them(tmp_path: Path, name: str) -> None:
    runtime = pytest.importorskip("onnxruntime")
    model = MODELS[name]()
    for part in (*model.graph.input, *model.graph.output):
        part.type.tensor_type.elem_type = TensorProto.FLOAT
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.DOUBLE:
            narrow = onnx.numpy_helper.to_array(tensor).astype(np.float32)
            tensor.CopyFrom(onnx.numpy_helper.from_array(narrow, tensor.name))
    network = from_onnx(saved(model, tmp_path))
    session = runtime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    points = RNG.normal(0.2, 1.4, (30, *SHAPE)).astype(np.float32)
    (expected,) = session.run(None, {"x": points})
    np.testing.assert_allclose(
        network(points.reshape(30, -1).astype(np.float64)), expected.reshape(30, -1), atol=1e-4
    )


def test_a_negative_pad_takes_away(tmp_path: Path) -> None:
    # The reference evaluator does not carry out negative pads, hence verify=False.
    model = _of("Pad", "x p", 13, {"p": ints(0, 0, -1, 0, 0, 0, 2, -2)})
    network = from_onnx(saved(model, tmp_path), verify=False)
    points = RNG.normal(size=(5, *SHAPE))
    expected = np.pad(points, [(0, 0), (0, 0), (0, 2), (0, 0)])[:, :, 1:, :-2]
    np.testing.assert_array_equal(network(points.reshape(5, -1)), expected.reshape(5, -1))


@pytest.mark.parametrize("batch", ["any", "one"])
def test_a_residual_network_comes_through_a_file(tmp_path: Path, batch: str) -> None:
    torch.manual_seed(2)
    module = Residual().eval().double()
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            (torch.zeros(1, *SHAPE, dtype=torch.float64),),
            stream,
            dynamo=False,
            input_names=["x"],
            output_names=["y"],
            dynamic_axes={"x": {0: "n"}, "y": {0: "n"}} if batch == "any" else None,
        )
    path = tmp_path / "net.onnx"
    path.write_bytes(stream.getvalue())
    network = from_onnx(path)
    points = RNG.normal(size=(20, *SHAPE))
    with torch.no_grad():
        expected = module(torch.from_numpy(points)).numpy()
    assert_close(network(points.reshape(20, -1)), expected)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "indices": (
        lambda: model_of([node("MaxPool", "x", "y i", kernel_shape=[2, 2])], shape=("n", *SHAPE)),
        "indices of a maximum",
    ),
    "another kernel": (lambda: _of("Conv", "x k", kernel_shape=[2, 2]), "kernel_shape"),
    "a kernel too large": (
        lambda: _of("MaxPool", "x", kernel_shape=[9, 2]),
        "does not fit",
    ),
    "a stride of zero": (lambda: _of("Conv", "x k", strides=[0, 1]), "at least 1"),
    "a window of padding": (
        lambda: _of("MaxPool", "x", kernel_shape=[1, 1], pads=[1, 0, 0, 0]),
        "lies in the padding",
    ),
    "an output shape": (lambda: _of("ConvTranspose", "x t", output_shape=[9, 9]), "given by pads"),
    "very much padding": (
        lambda: _of("Pad", "x p", 13, {"p": ints(0, 0, 2**30, 0, 0, 0, 0, 0)}),
        "entries a point",
    ),
    "very many channels": (
        lambda: _of("Conv", "x k", constants={"k": np.ones((1 << 16, 2, 1, 1))}),
        "entries a point",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_refused(tmp_path: Path, name: str) -> None:
    make, sentence = WRONG[name]
    with pytest.raises(UnsupportedError, match=sentence):
        from_onnx(saved(make(), tmp_path))
