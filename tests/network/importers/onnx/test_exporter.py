"""Exported networks are the same functions, for us and for ONNX runtimes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from onnx.reference import ReferenceEvaluator

from nnbo_mip.core.errors import MissingExtraError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from tests.network.strategies import assert_close, networks, random_network

POINTS = np.random.default_rng(4).normal(0.3, 2.0, (40, 4))


@given(network=networks)
def test_a_round_trip_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, network: Network
) -> None:
    path = tmp_path_factory.mktemp("nets") / "net.onnx"
    network.to_onnx(path)
    onnx.checker.check_model(path, full_check=True)
    back = Network.from_onnx(path)
    assert back.output_names == network.output_names
    points = POINTS[:, : network.n_inputs]
    expected = network(points)
    np.testing.assert_allclose(back(points), expected, rtol=1e-12, atol=1e-12)
    (answer,) = ReferenceEvaluator(str(path)).run(None, {"x": points})
    assert_close(answer, expected)


def test_weights_come_back_bit_for_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    shapes = [(5, 3), (4, 5), (2, 4)]
    network = Network.from_layers(
        [(rng.normal(size=shape), rng.normal(size=shape[0])) for shape in shapes], ("mean µ", "std")
    )
    network.to_onnx(tmp_path / "net.onnx")
    assert Network.from_onnx(tmp_path / "net.onnx").fingerprint == network.fingerprint


def test_a_constant_function_is_exported(tmp_path: Path) -> None:
    network = Network(3, (), Affine(np.array([1.5, -2.0]), {}))
    network.to_onnx(tmp_path / "net.onnx")
    np.testing.assert_array_equal(
        Network.from_onnx(tmp_path / "net.onnx")(POINTS[:, :3])[7], [1.5, -2]
    )


@settings(max_examples=20)
@given(network=networks)
def test_onnxruntime_agrees(tmp_path_factory: pytest.TempPathFactory, network: Network) -> None:
    runtime = pytest.importorskip("onnxruntime")
    path = tmp_path_factory.mktemp("nets") / "net.onnx"
    network.to_onnx(path)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    points = POINTS[:, : network.n_inputs]
    (answer,) = session.run(None, {"x": points})
    assert_close(answer, network(points))


def test_without_the_package_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"nnbo_mip\[onnx\]"):
        random_network(3).to_onnx(tmp_path / "net.onnx")
    with pytest.raises(MissingExtraError, match=r"nnbo_mip\[onnx\]"):
        Network.from_onnx(tmp_path / "net.onnx")
