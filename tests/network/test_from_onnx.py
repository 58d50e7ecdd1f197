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

from nnbo_mip.errors import FileFormatError, InputError, NnboError, UnsupportedError
from nnbo_mip.network.affine import FloatArray
from nnbo_mip.network.from_onnx import from_onnx
from nnbo_mip.network.graph import Network
from tests.network.onnx_nets import exported, model_of, node, saved
from tests.network.strategies import assert_close, seeds
from tests.network.torch_nets import STEPS, RandomNet

RNG = np.random.default_rng(8)
W = RNG.normal(size=(3, 4))
V = RNG.normal(size=(4, 4))
ROW = np.array([0.5, -1.0, 0.25, 2.0])
POINTS = RNG.normal(0.4, 1.7, (60, 3))
Z = node("MatMul", "x W", "z")
C: dict[str, Any] = {"W": W, "V": V, "row": ROW}


def _ints(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


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
    "Reshape": lambda: model_of([Z, node("Reshape", "z s")], {**C, "s": _ints(-1, 4)}),
    "Reshape with a copied extent": lambda: model_of(
        [Z, node("Reshape", "z s", "r"), node("Flatten", "r")], {**C, "s": _ints(0, 2, 2)}
    ),
    "Transpose": lambda: model_of(
        [
            Z,
            node("Reshape", "z s", "r"),
            node("Transpose", "r", "t", perm=[0, 2, 1]),
            node("Flatten", "t"),
        ],
        {**C, "s": _ints(-1, 2, 2)},
    ),
    "a transposed constant": lambda: model_of(
        [node("Transpose", "U", "W", perm=[1, 0]), node("MatMul", "x W")], {"U": W.T.copy()}
    ),
    "Squeeze and Unsqueeze": lambda: model_of(
        [Z, node("Unsqueeze", "z a", "u"), node("Squeeze", "u a")], {**C, "a": _ints(1)}
    ),
    "Slice": lambda: model_of(
        [Z, node("Slice", "z first last axes step")],
        {**C, "first": _ints(-1), "last": _ints(-100), "axes": _ints(1), "step": _ints(-2)},
    ),
    "Split": lambda: model_of(
        [Z, node("Split", "z s", "a b", axis=1), node("Concat", "b a", axis=1)],
        {**C, "s": _ints(1, 3)},
    ),
    "Split evenly": lambda: model_of(
        [Z, node("Split", "z", "a b", axis=1, num_outputs=2), node("Sub", "a b")], C
    ),
    "Gather": lambda: model_of([Z, node("Gather", "z i", axis=1)], {**C, "i": _ints(3, 0, 3)}),
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
    "ReduceMean": lambda: model_of([Z, node("ReduceMean", "z a")], {**C, "a": _ints(1)}),
    "ReduceSum": lambda: model_of([Z, node("ReduceSum", "z a", keepdims=0)], {**C, "a": _ints(-1)}),
    "a shape computed in the graph": lambda: model_of(
        [
            Z,
            node("Shape", "z", "s"),
            node("Gather", "s zero", "n", axis=0),
            node("Concat", "n minus", "t", axis=0),
            node("Reshape", "z t", "r"),
            node("Relu", "r"),
        ],
        {**C, "zero": _ints(0), "minus": _ints(-1)},
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
        {**C, "a": _ints(0)},
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


# -- refusals -------------------------------------------------------------------------


def _claiming(dims: list[int]) -> Any:
    tensor = onnx.numpy_helper.from_array(W, "W")
    del tensor.dims[:]
    tensor.dims.extend(dims)
    return model_of([Z, node("Relu", "z")], {"W": tensor})


def _external() -> Any:
    tensor = onnx.numpy_helper.from_array(W, "W")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../secret")
    return model_of([Z, node("Relu", "z")], {"W": tensor})


def _doubling(times: int) -> Any:
    nodes = [node("Concat", f"t{k} t{k}", f"t{k + 1}", axis=1) for k in range(times)]
    return model_of([node("Identity", "x", "t0"), *nodes], outputs=(f"t{times}",))


def _twice() -> Any:
    model = model_of([Z, node("Relu", "z")], C)
    model.graph.initializer.append(onnx.numpy_helper.from_array(W, "W"))
    return model


def _sparse() -> Any:
    model = model_of([Z, node("Relu", "z")], C)
    values, index = onnx.numpy_helper.from_array(ROW, "s"), onnx.numpy_helper.from_array(_ints(0))
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, index, [9]))
    return model


def _broadcast_bomb() -> Any:
    constants = {"a": np.ones(5000), "b": np.ones((5000, 1)), "i": _ints(0)}
    nodes = [node("Gather", "x i", "s", axis=0), node("Add", "s a", "t"), node("Add", "t b")]
    return model_of(nodes, constants, shape=(3,))


REFUSED: dict[str, tuple[Callable[[], Any], type[NnboError], str]] = {
    "an unknown operator": (
        lambda: model_of([Z, node("Tanh", "z")], C),
        UnsupportedError,
        r"Tanh_of_y.*Tanh of domain ai.onnx is not supported; supported are Abs, Add",
    ),
    "another domain": (
        lambda: model_of([Z, node("Relu", "z", domain="com.evil")], C),
        UnsupportedError,
        "Relu of domain com.evil",
    ),
    "control flow": (
        lambda: model_of(
            [helper.make_node("Loop", [], ["y"], "loop", body=helper.make_graph([], "g", [], []))]
        ),
        UnsupportedError,
        "Loop of domain",
    ),
    "an unknown attribute": (
        lambda: model_of([Z, node("Relu", "z", strange=1)], C),
        UnsupportedError,
        r"attributes \['strange'\]",
    ),
    "a product": (
        lambda: model_of([Z, node("Mul", "z z")], C),
        UnsupportedError,
        "must be a constant",
    ),
    "a quotient": (
        lambda: model_of([Z, node("Div", "row z")], C),
        UnsupportedError,
        "a divisor must be a constant",
    ),
    "a divisor of zero": (
        lambda: model_of([Z, node("Div", "z zero")], {**C, "zero": np.zeros(4)}),
        InputError,
        "divisor must not be zero",
    ),
    "training batch norm": (
        lambda: model_of([Z, node("BatchNormalization", "z row row row row", training_mode=1)], C),
        UnsupportedError,
        "export the model in eval mode",
    ),
    "training dropout": (
        lambda: model_of([Z, node("Dropout", "z - on")], {**C, "on": np.array(True)}),
        UnsupportedError,
        "export the model in eval mode",
    ),
    "a negative variance": (
        lambda: model_of([Z, node("BatchNormalization", "z row row row row")], C),
        InputError,
        "NaN or infinity",
    ),
    "a split past the end": (
        lambda: model_of([Z, node("Split", "z s", "y", axis=1)], {**C, "s": _ints(2**40)}),
        UnsupportedError,
        "do not add up to 4",
    ),
    "a cast to integers": (
        lambda: model_of([Z, node("Cast", "z", to=TensorProto.INT64)], C),
        UnsupportedError,
        "a cast to INT64",
    ),
    "a mixture of points": (
        lambda: model_of([Z, node("Reshape", "z s")], {**C, "s": _ints(1, -1)}),
        UnsupportedError,
        "mixes the points",
    ),
    "a sum over the batch": (
        lambda: model_of([Z, node("ReduceSum", "z a")], {**C, "a": _ints(0)}),
        UnsupportedError,
        "mixes its points",
    ),
    "weights of the wrong shape": (
        lambda: model_of([node("MatMul", "x V")], C),
        UnsupportedError,
        "the weights read 4 entries; got 3",
    ),
    "too few inputs": (lambda: model_of([node("Gemm", "x")], C), UnsupportedError, "missing a"),
    "a cycle": (
        lambda: model_of([node("Add", "x b", "a"), node("Add", "a x", "b"), node("Relu", "b")]),
        FileFormatError,
        "'b' is missing",
    ),
    "a missing initializer": (
        lambda: model_of([Z, node("Relu", "z")]),
        FileFormatError,
        "'W' is missing",
    ),
    "a value written twice": (
        lambda: model_of([Z, node("Relu", "z", "z")], C),
        FileFormatError,
        "'z' is written twice",
    ),
    "an initializer given twice": (_twice, FileFormatError, "'W' twice"),
    "an output that nothing computes": (
        lambda: model_of([Z], C),
        FileFormatError,
        "output 'y' must depend on the input",
    ),
    "an output that is a constant": (
        lambda: model_of([node("Identity", "row")], C),
        FileFormatError,
        "output 'y' must depend on the input",
    ),
    "two inputs": (
        lambda: (
            m := model_of([Z, node("Relu", "z")], C),
            m.graph.input.append(helper.make_tensor_value_info("x2", TensorProto.DOUBLE, (1, 2))),
        )[0],
        UnsupportedError,
        "one input; got 2",
    ),
    "an input of unknown width": (
        lambda: model_of([Z, node("Relu", "z")], C, shape=("n", "d")),
        UnsupportedError,
        "with d a number",
    ),
    "an input of fixed batch": (
        lambda: model_of([Z, node("Relu", "z")], C, shape=(32, 3)),
        UnsupportedError,
        "a batch of 32",
    ),
    "an input of integers": (
        lambda: model_of([Z, node("Relu", "z")], C, kind=TensorProto.INT64),
        UnsupportedError,
        "a tensor of floats",
    ),
    "2^31 inputs": (
        lambda: model_of([node("Relu", "x")], shape=("n", 2**31)),
        FileFormatError,
        "may have .* entries; got 2147483648",
    ),
    "2^31 weights": (lambda: _claiming([3, 2**31]), FileFormatError, "claims shape"),
    "2^62 weights": (lambda: _claiming([2**31, 2**31]), FileFormatError, "claims shape"),
    "a missing weight": (lambda: _claiming([3, 5]), FileFormatError, "claims shape"),
    "negative extents": (lambda: _claiming([-3, -4]), FileFormatError, "claims shape"),
    "external data": (_external, UnsupportedError, "outside the file"),
    "text as weights": (
        lambda: model_of(
            [Z, node("Relu", "z")], {"W": helper.make_tensor("W", TensorProto.STRING, [1], [b"a"])}
        ),
        UnsupportedError,
        "element type STRING",
    ),
    "sparse initializers": (_sparse, UnsupportedError, "store them dense"),
    "a tensor that doubles thirty times": (lambda: _doubling(30), UnsupportedError, "may have"),
    "a broadcast bomb": (_broadcast_bomb, UnsupportedError, "may have"),
    "NaN": (
        lambda: model_of([Z, node("Relu", "z")], {"W": np.full((3, 4), np.nan)}),
        InputError,
        "'W' holds NaN",
    ),
    "infinity": (
        lambda: model_of([Z, node("Relu", "z")], {"W": np.full((3, 4), np.inf)}),
        InputError,
        "NaN or infinity",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_imported_is_refused(tmp_path: Path, name: str) -> None:
    make, kind, sentence = REFUSED[name]
    with pytest.raises(kind, match=sentence):
        from_onnx(saved(make(), tmp_path))


@pytest.mark.parametrize("content", [b"", b"\x08\x08", b"PK\x03\x04 no model", b"\xff" * 50])
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="must be an ONNX model"):
        from_onnx(path)


def test_a_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    path = saved(MODELS["Relu"](), tmp_path)
    with pytest.raises(FileFormatError, match="at most 100 bytes"):
        from_onnx(path, max_bytes=100)


@given(st.data())
def test_damaged_models_give_a_sentence_or_a_network(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(MODELS)))
    path = saved(MODELS[name](), tmp_path_factory.mktemp("damaged"))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        network = from_onnx(path)
    except NnboError:
        return
    assert network(np.ones((1, network.n_inputs))).shape == (1, network.n_outputs)
