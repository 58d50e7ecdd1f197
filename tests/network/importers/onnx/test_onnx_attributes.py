"""Attributes of ONNX operators: none that changes the function is passed over.

Every attribute that a handler passes over is in a table with the reason, and is tried with
several values against the model's own answers and those of onnxruntime.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, defs, numpy_helper

from nnbo_mip.core.errors import NnboError, UnsupportedError
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.importers.onnx import arithmetic as onnx_arithmetic
from nnbo_mip.network.importers.onnx import images as onnx_images
from nnbo_mip.network.importers.onnx import shapes as onnx_shapes
from nnbo_mip.network.importers.onnx.importer import OPERATORS, from_onnx
from tests.network.onnx_nets import ROW, C, W, Z, ints, model_of, node, saved

POINTS = np.random.default_rng(5).normal(0.2, 1.0, (40, 3)).astype(np.float32)
SINGLE = {key: np.asarray(value, dtype=np.float32) for key, value in C.items()}
STATISTICS = {**SINGLE, "v": np.abs(ROW).astype(np.float32)}


def _single(nodes: list[Any], constants: dict[str, Any], opset: int) -> Any:
    return model_of(nodes, constants, kind=TensorProto.FLOAT, opset=opset)


def _batch_norm(opset: int, **given: Any) -> Any:
    return _single([Z, node("BatchNormalization", "z row row row v", **given)], STATISTICS, opset)


def _dropout(opset: int, **given: Any) -> Any:
    return _single([Z, node("Dropout", "z", "d", **given), node("Relu", "d")], SINGLE, opset)


def _max_pool(opset: int, **given: Any) -> Any:
    nodes = [
        node("Reshape", "x image", "picture"),
        *(node("MaxPool", "picture", "m", kernel_shape=[1, 2], **given), node("Flatten", "m")),
    ]
    return _single(nodes, {"image": ints(-1, 1, 1, 3)}, opset)


def _cast_constant(kind: int, opset: int, **given: Any) -> Any:
    nodes = [
        node("Cast", "row", "narrow", to=kind, **given),
        node("Cast", "narrow", "wide", to=TensorProto.FLOAT),
        *(Z, node("Add", "z wide")),
    ]
    return _single(nodes, SINGLE, opset)


class Passed(NamedTuple):
    """An attribute that a handler passes over."""

    why: str
    make: Callable[..., Any]
    """Returns a model with the attribute, or without."""
    opsets: tuple[int, ...]
    values: tuple[Any, ...]


PASSED_OVER: dict[tuple[str, str], Passed] = {
    ("BatchNormalization", "momentum"): Passed(
        "the running statistics that it updates are outputs of training, which is refused",
        _batch_norm,
        (7, 9, 14, 15),
        (0.0, 0.5, 0.9, 1.0),
    ),
    ("Dropout", "ratio"): Passed(
        "since opset 7 nothing is dropped, unless the training mode is an input, which is refused",
        _dropout,
        (7, 10),
        (0.0, 0.5, 0.99),
    ),
    ("Dropout", "seed"): Passed(
        "it starts the draws of training, which is refused", _dropout, (12, 13), (0, 7)
    ),
    ("MaxPool", "storage_order"): Passed(
        "it orders the indices of the largest entries, which are refused",
        _max_pool,
        (10, 12),
        (0, 1),
    ),
    ("Cast", "saturate"): Passed(
        "it decides what becomes of numbers out of the range of a float8, which are refused",
        lambda opset, **given: _cast_constant(TensorProto.FLOAT8E4M3FN, opset, **given),
        (19, 21),
        (0, 1),
    ),
    ("Cast", "round_mode"): Passed(
        "it is for FLOAT8E8M0, which is refused",
        lambda opset, **given: _cast_constant(TensorProto.FLOAT16, opset, **given),
        (24,),
        ("up", "down", "nearest"),
    ),
}

CASES = [
    pytest.param(operator, name, opset, value, id=f"{operator}-{name}-{opset}-{value}")
    for (operator, name), row in PASSED_OVER.items()
    for opset in row.opsets
    for value in row.values
]


@pytest.mark.parametrize(("operator", "name", "opset", "value"), CASES)
def test_an_attribute_that_is_passed_over_changes_nothing(
    tmp_path: Path, operator: str, name: str, opset: int, value: Any
) -> None:
    make = PASSED_OVER[operator, name].make
    model = make(opset, **{name: value})
    network = from_onnx(saved(model, tmp_path))  # compared with the reference evaluator
    assert network.float32_difference is not None
    assert network.fingerprint == from_onnx(saved(make(opset), tmp_path)).fingerprint
    if value in ("down", "nearest"):
        with pytest.raises(Exception, match="only used for cast to float8e8m0"):
            _assert_like_the_runtime(model, network)
    else:
        _assert_like_the_runtime(model, network)


def _assert_like_the_runtime(model: Any, network: Network) -> None:
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (expected,) = session.run(None, {"x": POINTS})
    np.testing.assert_allclose(network(POINTS), expected, rtol=1e-4, atol=1e-4)


def test_the_table_holds_every_attribute_that_is_passed_over() -> None:
    passed = set()
    handlers = {function.__name__: name for name, function in OPERATORS.items()}
    for module in (onnx_arithmetic, onnx_images, onnx_shapes):
        for function in ast.parse(inspect.getsource(module)).body:
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "ignore":
                    names = [ast.literal_eval(argument) for argument in call.args]
                    passed |= {(handlers[function.name], name) for name in names}
    assert passed == set(PASSED_OVER)


REFUSED_EVERYWHERE = {"consumed_inputs", "is_test", "sparse_value", "value_string", "value_strings"}
"""Of versions of ONNX that are not imported, or of constants that are no numbers."""

WINDOWS = frozenset({"auto_pad", "dilations", "kernel_shape", "pads", "strides"})

READ = {
    "AveragePool": WINDOWS | {"ceil_mode", "count_include_pad"},
    "Conv": WINDOWS | {"group"},
    "ConvTranspose": WINDOWS | {"group", "output_padding", "output_shape"},
    "MaxPool": WINDOWS | {"ceil_mode"},
    "Pad": {"mode", "pads", "value"},
    **dict.fromkeys(("Add", "Sub", "Mul", "Div"), frozenset[str]()),  # broadcast, axis: refused
    "BatchNormalization": {"epsilon", "spatial", "training_mode"},
    "Cast": {"to"},
    "Clip": {"min", "max"},
    "Concat": {"axis"},
    "Constant": {"value", "value_float", "value_floats", "value_int", "value_ints"},
    "Flatten": {"axis"},
    "Gather": {"axis"},
    "Gemm": {"alpha", "beta", "broadcast", "transA", "transB"},
    "LeakyRelu": {"alpha"},
    **dict.fromkeys(
        ("ReduceMean", "ReduceSum"), frozenset({"axes", "keepdims", "noop_with_empty_axes"})
    ),
    "Reshape": {"allowzero"},
    "Shape": {"start", "end"},
    "Slice": {"axes", "ends", "starts"},
    "Split": {"axis", "num_outputs", "split"},
    **dict.fromkeys(("Squeeze", "Unsqueeze"), frozenset({"axes"})),
    "Transpose": {"perm"},
}


def test_every_attribute_that_onnx_knows_is_read_passed_over_or_refused() -> None:
    known = {
        (schema.name, name)
        for schema in defs.get_all_schemas_with_history()
        if schema.domain == "" and schema.name in OPERATORS
        for name in schema.attributes
        if name not in REFUSED_EVERYWHERE
    }
    refused = {
        (kind, name) for kind in ("Add", "Sub", "Mul", "Div") for name in ("axis", "broadcast")
    }
    refused |= {("Reshape", "shape"), ("Pad", "paddings")}
    read = {(kind, name) for kind, names in READ.items() for name in names}
    assert known == read | refused | set(PASSED_OVER)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "statistics of entries": (
        lambda: model_of(
            [node("BatchNormalization", "x s s s s", spatial=0)],
            {"s": np.array([[0.5, 1.0, 2.0]], dtype=np.float32)},
            shape=("n", 1, 3),
            kind=TensorProto.FLOAT,
            opset=7,
        ),
        r"statistics for each entry of a channel \(spatial=0\)",
    ),
    "statistics of entries in opset 8": (lambda: _batch_norm(8, spatial=0), "spatial=0"),
    "a batch norm of opset 6, in training by default": (
        lambda: _batch_norm(6),
        "in training mode by default before opset 7",
    ),
    "a batch norm that tells its statistics": (
        lambda: _single([Z, node("BatchNormalization", "z row row row v", "y m s")], STATISTICS, 9),
        "in training mode; export",
    ),
    "a dropout of opset 6, in training by default": (
        lambda: _dropout(6),
        "in training mode by default before opset 7",
    ),
    "slopes of opset 6": (
        lambda: _single([Z, node("PRelu", "z row")], SINGLE, 6),
        "other axes before opset 7",
    ),
    "an addend that must not be broadcast": (
        lambda: _single([node("Gemm", "x W row", broadcast=0)], SINGLE, 6),
        r"an addend of shape \(4,\) is not broadcast",
    ),
    "another number of parts": (
        lambda: _single([Z, node("Split", "z", "y b", axis=1, num_outputs=4)], SINGLE, 18),
        "num_outputs must be its number of outputs, 2",
    ),
    "broadcast as it once was": (
        lambda: _single([Z, node("Add", "z row", broadcast=1)], SINGLE, 6),
        r"attributes \['broadcast'\]",
    ),
    "a cast of values to float8": (
        lambda: _single([Z, node("Cast", "z", to=TensorProto.FLOAT8E5M2)], SINGLE, 19),
        "a cast to FLOAT8E5M2 is not piecewise linear",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_an_attribute_would_change_is_refused(tmp_path: Path, name: str) -> None:
    make, sentence = WRONG[name]
    with pytest.raises(UnsupportedError, match=sentence):
        from_onnx(saved(make(), tmp_path))


# -- constants in narrower types ------------------------------------------------------


def _through(values: Any, *kinds: int, opset: int = 19) -> Any:
    """Add constants that are cast through types to ``z``."""
    nodes, last = [], "c"
    for step, kind in enumerate((*kinds, TensorProto.FLOAT)):
        nodes.append(node("Cast", last, f"c{step}", to=kind))
        last = f"c{step}"
    return _single([*nodes, Z, node("Add", f"z {last}")], {**SINGLE, "c": values}, opset)


NARROW = {
    "FLOAT16": lambda c: c.astype(np.float16),
    "BFLOAT16": lambda c: c.astype(ml_dtypes.bfloat16),
    "FLOAT8E4M3FN": lambda c: c.astype(ml_dtypes.float8_e4m3fn),
    "FLOAT8E5M2": lambda c: c.astype(ml_dtypes.float8_e5m2),
    "INT64": lambda c: c.astype(np.int64),
    "INT8": lambda c: c.astype(np.int8),
    "BOOL": lambda c: c.astype(bool),
}


@pytest.mark.parametrize("kind", NARROW)
def test_constants_round_as_the_graph_rounds_them(tmp_path: Path, kind: str) -> None:
    constants = np.array([1.0001, -3.3, 0.07, 100.7], dtype=np.float32)
    model = _through(constants, TensorProto.DataType.Value(kind))
    network = from_onnx(saved(model, tmp_path))
    np.testing.assert_array_equal(network.head.bias, NARROW[kind](constants).astype(np.float64))
    _assert_like_the_runtime(model, network)


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        *(("FLOAT16", 1e6), ("FLOAT16", -65520.0), ("FLOAT8E4M3FN", 1e3), ("FLOAT8E5M2", 1e5)),
        *(("INT8", 128.0), ("UINT8", -1.0), ("INT64", 1e19), ("INT32", np.inf)),
    ],
)
def test_a_constant_out_of_the_range_of_its_type_is_refused(
    tmp_path: Path, kind: str, number: float
) -> None:
    constants = np.array([1.0, number, 2.0, 3.0], dtype=np.float32)
    model = _through(constants, TensorProto.DataType.Value(kind))
    with pytest.raises(UnsupportedError, match=f"a constant leaves the range of {kind}, to which"):
        from_onnx(saved(model, tmp_path))


@pytest.mark.parametrize(
    ("operator", "first", "second"),
    [("Add", 2048.0, 1.0), ("Sub", 2049.0, 0.5), ("Mul", 1e3, 1e3), ("Div", 1.0, 3.0)],
)
def test_constants_that_round_in_half_precision_are_refused(
    tmp_path: Path, operator: str, first: float, second: float
) -> None:
    # onnxruntime computes 2048 + 1 in float32, the reference evaluator in float16.
    cast = node("Cast", "c", "d", to=TensorProto.FLOAT)
    nodes = [node(operator, "a b", "c"), cast, node("Mul", "x d")]
    half = {"a": np.array([first], np.float16), "b": np.array([second], np.float16)}
    with pytest.raises(UnsupportedError, match="float16 rounds, in one way or another"):
        from_onnx(saved(_single(nodes, half, 14), tmp_path))
    exact = {"a": np.array([2.0], np.float16), "b": np.array([4.0], np.float16)}
    model = _single(nodes, exact, 14)
    _assert_like_the_runtime(model, from_onnx(saved(model, tmp_path)))


def test_integers_are_divided_towards_zero(tmp_path: Path) -> None:
    constants = {"a": ints(-7, 7, -8), "b": ints(2, -2, 2)}
    cast = node("Cast", "c", "d", to=TensorProto.FLOAT)
    model = _single([node("Div", "a b", "c"), cast, node("Mul", "x d")], constants, 14)
    network = from_onnx(saved(model, tmp_path))
    assert np.diagonal(network.head.dense(0)).tolist() == [-3.0, -3.0, -4.0]
    _assert_like_the_runtime(model, network)


# -- constants with a batch of their own ----------------------------------------------


@pytest.mark.parametrize("operator", ["Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"])
@pytest.mark.parametrize("shape", [(2, 3), (2, 1), (5, 3), (5, 1)])
def test_a_constant_with_a_value_for_each_point_is_refused(
    tmp_path: Path, operator: str, shape: tuple[int, int]
) -> None:
    model = _single([node(operator, "x c")], {"c": np.ones(shape, np.float32)}, 16)
    with pytest.raises(UnsupportedError):
        from_onnx(saved(model, tmp_path), verify=False)  # not left to the comparison


def test_an_addend_of_gemm_with_a_value_for_each_point_is_refused(tmp_path: Path) -> None:
    model = _single([node("Gemm", "x W c")], {**SINGLE, "c": np.ones((2, 4), np.float32)}, 13)
    with pytest.raises(UnsupportedError, match="a value for each point of a batch"):
        from_onnx(saved(model, tmp_path), verify=False)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3), (1, 1)])
def test_a_constant_for_all_points_is_taken(tmp_path: Path, shape: tuple[int, ...]) -> None:
    model = _single([node("Add", "x c"), node("Relu", "y", "z")], {}, 16)
    model.graph.initializer.append(numpy_helper.from_array(np.full(shape, 0.5, np.float32), "c"))
    assert (from_onnx(saved(model, tmp_path))(POINTS) == POINTS.astype(float) + 0.5).all()


# -- the comparison -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["FLOAT", "FLOAT16", "BFLOAT16"])
def test_models_are_compared_in_float64(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    number = TensorProto.DataType.Value(kind)
    weights = W.astype(onnx.helper.tensor_dtype_to_np_dtype(number))
    model = model_of([Z, node("Abs", "z")], {"W": weights}, kind=number)
    path = saved(model, tmp_path)
    assert from_onnx(path).float32_difference is not None
    # A millionth is less than what the model's own numbers show, but not in float64.
    monkeypatch.setitem(
        OPERATORS,
        "Abs",
        lambda ops, _, x: ops.map(x, lambda rows: ops.graph.leaky_relu(rows, -1.000001)),
    )
    with pytest.raises(UnsupportedError, match="more than rounding explains"):
        from_onnx(path)


def test_a_model_that_casts_down_is_also_compared_as_it_is(tmp_path: Path) -> None:
    nodes = [
        Z,
        node("Cast", "z", "h", to=TensorProto.FLOAT16),
        node("Cast", "h", to=TensorProto.FLOAT),
    ]
    assert 1e-5 < from_onnx(saved(_single(nodes, SINGLE, 19), tmp_path)).float32_difference < 1e-2
    huge = {**SINGLE, "W": np.full((3, 4), 3e4, np.float32)}
    with pytest.raises(NnboError, match=r"rounding explains|overflows"):
        from_onnx(saved(_single(nodes, huge, 19), tmp_path))
