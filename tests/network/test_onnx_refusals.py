"""ONNX files that cannot or must not be imported are refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from nnbo_mip.core.errors import FileFormatError, InputError, NnboError, UnsupportedError
from nnbo_mip.network.importers.onnx.importer import from_onnx
from tests.network.importers.onnx.test_importer import MODELS
from tests.network.onnx_nets import ROW, C, W, Z, ints, model_of, node, saved


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
    values, index = onnx.numpy_helper.from_array(ROW, "s"), onnx.numpy_helper.from_array(ints(0))
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, index, [9]))
    return model


def _broadcast_bomb() -> Any:
    constants = {"a": np.ones(5000), "b": np.ones((5000, 1)), "i": ints(0)}
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
        lambda: model_of([Z, node("Split", "z s", "y", axis=1)], {**C, "s": ints(2**40)}),
        UnsupportedError,
        "do not add up to 4",
    ),
    "a cast to integers": (
        lambda: model_of([Z, node("Cast", "z", to=TensorProto.INT64)], C),
        UnsupportedError,
        "a cast to INT64",
    ),
    "a mixture of points": (
        lambda: model_of([Z, node("Reshape", "z s")], {**C, "s": ints(1, -1)}),
        UnsupportedError,
        "mixes the points",
    ),
    "a sum over the batch": (
        lambda: model_of([Z, node("ReduceSum", "z a")], {**C, "a": ints(0)}),
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
