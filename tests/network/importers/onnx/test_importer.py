"""Imported ONNX models compute what ONNX says they compute."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.importers.onnx.importer import from_onnx
from tests.network.onnx_nets import ROW, C, V, W, Z, exported, ints, model_of, node, saved
from tests.network.strategies import assert_close, seeds
from tests.network.torch_nets import STEPS, RandomNet

RNG = np.random.default_rng(11)
POINTS = RNG.normal(0.4, 1.7, (60, 3))


def _assert_like_the_reference(model: Any, folder: Path, points: FloatArray = POINTS) -> Network:
    network = from_onnx(saved(model, folder))
    answers = ReferenceEvaluator(model).run(None, {"x": points})
    expected = np.concatenate([a.reshape(len(points), -1) for a in answers], axis=1)
    assert_close(network(points), expected)
    assert network.float32_difference is not None
    assert network.float32_difference < 1e-12
    return network


MODELS: dict[str, Callable[[], Any]] = {
    "Gemm": lambda: model_of([node("Gemm", "x W row", alpha=0.5, beta=-2.0)], C),
    "Gemm with a transposed matrix": lambda: model_of(
        [node("Gemm", "x W", transB=1)], {"W": W.T.copy()}
    ),
    "Gemm with a symbolic addend": lambda: model_of([Z, node("Gemm", "x W z", beta=0.5)], C),
    "MatMul and Add": lambda: model_of([Z, node("Add", "row z")], C),
    "MatMul with a vector": lambda: model_of([node("MatMul", "x v")], {"v": W[:, 0]}),
    "Sub": lambda: model_of([Z, node("Sub", "row z")], C),
    "Sub of two": lambda: model_of([Z, node("Relu", "z", "r"), node("Sub", "r z")], C),
    "Mul": lambda: model_of([Z, node("Mul", "row z")], C),
    "Div": lambda: model_of([Z, node("Div", "z row")], C),
    "Neg": lambda: model_of([Z, node("Neg", "z")], C),
    "Relu": lambda: model_of([Z, node("Relu", "z")], C),
    "LeakyRelu": lambda: model_of([Z, node("LeakyRelu", "z", alpha=0.25)], C),
    "LeakyRelu by default": lambda: model_of([Z, node("LeakyRelu", "z")], C),
    "PRelu": lambda: model_of([Z, node("PRelu", "z row")], C),
    "Clip": lambda: model_of(
        [Z, node("Clip", "z low high")], {**C, "low": np.array(-0.3), "high": np.array(0.8)}
    ),
    "Clip above only": lambda: model_of(
        [Z, node("Clip", "z - high")], {**C, "high": np.array(0.5)}
    ),
    "Clip below only": lambda: model_of([Z, node("Clip", "z low")], {**C, "low": np.array(0.2)}),
    "Abs": lambda: model_of([Z, node("Abs", "z")], C),
    "Max": lambda: model_of([Z, node("Neg", "z", "m"), node("Max", "z m row")], C),
    "Min": lambda: model_of([Z, node("Min", "row z")], C),
    "Sum": lambda: model_of([Z, node("Relu", "z", "r"), node("Sum", "z r row")], C),
    "Concat": lambda: model_of([Z, node("Relu", "z", "r"), node("Concat", "r x", axis=1)], C),
    "Concat from the end": lambda: model_of([Z, node("Concat", "z x", axis=-1)], C),
    "Identity and Dropout": lambda: model_of(
        [Z, node("Identity", "z", "i"), node("Dropout", "i")], C
    ),
    "Flatten": lambda: model_of([Z, node("Flatten", "z", "f", axis=1), node("Relu", "f")], C),
    "Reshape": lambda: model_of([Z, node("Reshape", "z s")], {**C, "s": ints(-1, 4)}),
    "Reshape with a copied extent": lambda: model_of(
        [Z, node("Reshape", "z s", "r"), node("Flatten", "r")], {**C, "s": ints(0, 2, 2)}
    ),
    "Transpose": lambda: model_of(
        [
            Z,
            node("Reshape", "z s", "r"),
            node("Transpose", "r", "t", perm=[0, 2, 1]),
            node("Flatten", "t"),
        ],
        {**C, "s": ints(-1, 2, 2)},
    ),
    "a transposed constant": lambda: model_of(
        [node("Transpose", "U", "W", perm=[1, 0]), node("MatMul", "x W")], {"U": W.T.copy()}
    ),
    "Squeeze and Unsqueeze": lambda: model_of(
        [Z, node("Unsqueeze", "z a", "u"), node("Squeeze", "u a")], {**C, "a": ints(1)}
    ),
    "Slice": lambda: model_of(
        [Z, node("Slice", "z first last axes step")],
        {**C, "first": ints(-1), "last": ints(-100), "axes": ints(1), "step": ints(-2)},
    ),
    "Split": lambda: model_of(
        [Z, node("Split", "z s", "a b", axis=1), node("Concat", "b a", axis=1)],
        {**C, "s": ints(1, 3)},
    ),
    "Split evenly": lambda: model_of(
        [Z, node("Split", "z", "a b", axis=1, num_outputs=2), node("Sub", "a b")], C
    ),
    "Gather": lambda: model_of([Z, node("Gather", "z i", axis=1)], {**C, "i": ints(3, 0, 3)}),
    "Gather of one": lambda: model_of(
        [Z, node("Gather", "z i", axis=1)], {**C, "i": np.array(-1, dtype=np.int64)}
    ),
    "BatchNormalization": lambda: model_of(
        [Z, node("BatchNormalization", "z row b m v", epsilon=0.01)],
        {**C, "b": ROW[::-1].copy(), "m": 2.0 * ROW, "v": np.abs(ROW)},
    ),
    "Constant": lambda: model_of(
        [
            node("Constant", "", "c", value=onnx.numpy_helper.from_array(W)),
            node("Constant", "", "d", value_float=1.5),
            node("Cast", "d", "e", to=TensorProto.DOUBLE),
            node("MatMul", "x c", "z"),
            node("Mul", "z e"),
        ]
    ),
    "Cast": lambda: model_of(
        [Z, node("Cast", "z", "f", to=TensorProto.DOUBLE), node("Abs", "f")], C
    ),
    "ReduceMean": lambda: model_of([Z, node("ReduceMean", "z a")], {**C, "a": ints(1)}),
    "ReduceSum": lambda: model_of([Z, node("ReduceSum", "z a", keepdims=0)], {**C, "a": ints(-1)}),
    "a shape computed in the graph": lambda: model_of(
        [
            Z,
            node("Shape", "z", "s"),
            node("Gather", "s zero", "n", axis=0),
            node("Concat", "n minus", "t", axis=0),
            node("Reshape", "z t", "r"),
            node("Relu", "r"),
        ],
        {**C, "zero": ints(0), "minus": ints(-1)},
    ),
    "the member axis of an ensemble": lambda: model_of(
        [
            Z,
            node("Unsqueeze", "z a", "u"),
            node("Neg", "u", "n"),
            node("Relu", "n", "r"),
            node("Concat", "u r", "c", axis=0),
            node("ReduceMean", "c a", keepdims=0),
        ],
        {**C, "a": ints(0)},
    ),
}

OLD_MODELS: dict[str, Callable[[], Any]] = {
    "Clip by attributes": lambda: model_of([Z, node("Clip", "z", min=-0.3, max=0.8)], C, opset=6),
    "Squeeze and Unsqueeze by attributes": lambda: model_of(
        [Z, node("Unsqueeze", "z", "u", axes=[1]), node("Squeeze", "u", axes=[1])], C, opset=11
    ),
    "Slice by attributes": lambda: model_of(
        [Z, node("Slice", "z", starts=[1], ends=[9], axes=[1])], C, opset=9
    ),
    "Split by attributes": lambda: model_of(
        [Z, node("Split", "z", "a b", axis=1, split=[1, 3]), node("Neg", "b")], C, opset=11
    ),
    "ReduceMean by attributes": lambda: model_of(
        [Z, node("ReduceMean", "z", axes=[1], keepdims=0)], C, opset=13
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_an_operator(tmp_path: Path, name: str) -> None:
    _assert_like_the_reference(MODELS[name](), tmp_path)


@pytest.mark.parametrize("name", OLD_MODELS)
def test_an_operator_as_it_was_once_written(tmp_path: Path, name: str) -> None:
    _assert_like_the_reference(OLD_MODELS[name](), tmp_path)


@settings(max_examples=25)
@given(seeds, st.lists(st.sampled_from(STEPS), max_size=6))
def test_exports_of_random_torch_modules(
    tmp_path_factory: pytest.TempPathFactory, seed: int, steps: list[str]
) -> None:
    module = RandomNet(steps, seed).eval()
    path = exported(
        copy.deepcopy(module).double(), module.n_inputs, tmp_path_factory.mktemp("nets")
    )
    points = np.random.default_rng(seed).normal(0.4, 1.7, (50, module.n_inputs))
    network = Network.from_onnx(path)
    (expected,) = ReferenceEvaluator(str(path)).run(None, {"x": points})
    scale = max(1.0, float(np.abs(expected).max()))
    assert_close(network(points), expected, magnitude=scale)
    # Slopes and limits are attributes, which ONNX keeps in float32.
    with torch.no_grad():
        traced = module.double()(torch.from_numpy(points)).numpy()
    np.testing.assert_allclose(network(points), traced, rtol=0.0, atol=1e-4 * scale)


@pytest.mark.parametrize("shape", [("batch", 3), (None, 3), (1, 3), (3,)])
def test_shapes_of_the_input(tmp_path: Path, shape: tuple[Any, ...]) -> None:
    model = model_of([Z, node("Relu", "z", "r"), node("MatMul", "r V")], C, shape=shape)
    network = from_onnx(saved(model, tmp_path))
    assert_close(network(POINTS), np.maximum(POINTS @ W, 0.0) @ V)
    assert network.float32_difference < 1e-13


def test_an_image_is_flattened(tmp_path: Path) -> None:
    weights = RNG.normal(size=(12, 2))
    model = model_of(
        [node("Flatten", "x", "f"), node("MatMul", "f W")], {"W": weights}, shape=("n", 3, 2, 2)
    )
    points = RNG.normal(0.3, 1.0, (20, 12))
    assert_close(from_onnx(saved(model, tmp_path))(points), points @ weights)


def test_a_matrix_times_a_vector(tmp_path: Path) -> None:
    model = model_of([node("MatMul", "U x")], {"U": W.T.copy()}, shape=(3,))
    assert_close(from_onnx(saved(model, tmp_path))(POINTS), POINTS @ W)


def test_several_outputs_keep_their_names(tmp_path: Path) -> None:
    nodes = [Z, node("Relu", "z", "wide"), node("MatMul", "x v", "narrow")]
    model = model_of(nodes, {**C, "v": W[:, :1].copy()}, outputs=("wide", "narrow"))
    network = _assert_like_the_reference(model, tmp_path)
    assert network.output_names == ("wide0", "wide1", "wide2", "wide3", "narrow")


def test_initializers_that_are_also_listed_as_inputs(tmp_path: Path) -> None:
    model = model_of([Z, node("Relu", "z")], C)
    model.graph.input.append(helper.make_tensor_value_info("W", TensorProto.DOUBLE, (3, 4)))
    _assert_like_the_reference(model, tmp_path)


def test_a_limit_at_the_largest_float_is_no_limit(tmp_path: Path) -> None:
    largest = np.array(np.finfo(np.float32).max)
    model = model_of([Z, node("Clip", "z low high")], {**C, "low": np.array(0.0), "high": largest})
    assert from_onnx(saved(model, tmp_path)).n_relus == 4


@pytest.mark.parametrize("kind", ["FLOAT", "FLOAT16", "BFLOAT16"])
def test_weights_of_every_float_type_are_cast_exactly(tmp_path: Path, kind: str) -> None:
    number = TensorProto.DataType.Value(kind)
    dtype = helper.tensor_dtype_to_np_dtype(number)
    weights = W.astype(dtype)
    constants = {
        "W": onnx.numpy_helper.from_array(weights, "W"),
        "b": helper.make_tensor("b", number, [4], ROW.astype(dtype)),  # not in raw_data
    }
    nodes = [Z, node("Add", "z b", "s"), node("Relu", "s")]
    network = from_onnx(saved(model_of(nodes, constants, kind=number), tmp_path))
    np.testing.assert_array_equal(network.layers[0].dense(0), weights.astype(np.float64).T)
    np.testing.assert_array_equal(network.layers[0].bias, ROW)
    assert network.float32_difference is None or 0.0 < network.float32_difference < 0.2
