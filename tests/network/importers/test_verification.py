"""No importer returns a network that it did not compare with the model, unless it is told to."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx.reference
import pytest
import torch
from sklearn.compose import ColumnTransformer
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from nnbo_mip import Certificate, certify
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network
from tests.network.onnx_nets import exported

Importer = Callable[[bool], Network]


def _module() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(
        *(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 6), nn.LeakyReLU(0.2), nn.Linear(6, 2))
    )


def _estimator() -> Any:
    rng = np.random.default_rng(2)
    X = rng.normal([300.0, -2.0, 0.01], [100.0, 0.5, 0.003], (40, 3))
    Y = np.stack([np.abs(X[:, 0] - 280.0), X[:, 1]], axis=1)
    columns = ColumnTransformer(
        [("a", StandardScaler(), [2, 0]), ("b", "passthrough", [1])],
        transformer_weights={"a": 3.0, "b": -2.0},
    )
    model = MLPRegressor(hidden_layer_sizes=(6, 6), max_iter=20, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(columns, model).fit(X, Y)


@pytest.fixture(params=["torch", "onnx", "sklearn"])
def importer(request: pytest.FixtureRequest, tmp_path: Path) -> Importer:
    if request.param == "torch":
        module = _module()
        return lambda verify: Network.from_torch(module, verify=verify)
    if request.param == "onnx":
        path = exported(_module(), 3, tmp_path)
        return lambda verify: Network.from_onnx(path, verify=verify)
    estimator = _estimator()
    return lambda verify: Network.from_sklearn(estimator, verify=verify)


def _last_layer(network: Network, change: Callable[[Affine], Affine]) -> Network:
    return replace(network, layers=(*network.layers[:-1], change(network.layers[-1])))


def _without_bias(affine: Affine) -> Affine:
    return Affine(np.zeros(affine.width), affine.terms)


def _a_little_off(affine: Affine) -> Affine:
    return Affine(affine.bias, {k: w * (1.0 + 1e-7) for k, w in affine.terms.items()})


SABOTAGE: dict[str, Callable[[Network], Network]] = {
    "weights a ten-millionth off": lambda n: replace(n, head=_a_little_off(n.head)),
    "weights of a layer off": lambda n: _last_layer(n, _a_little_off),
    "a layer without bias": lambda n: _last_layer(n, _without_bias),
    "no ReLU at the end": lambda n: replace(n, head=_read_before_relu(n)),
    "outputs in another order": lambda n: replace(n, head=n.head.rows([1, 0])),
    "inputs in another order": lambda n: replace(
        n, layers=(_permuted(n.layers[0]), *map(_permuted, n.layers[1:])), head=_permuted(n.head)
    ),
    "a constant": lambda n: replace(n, layers=(), head=Affine(n.head.bias, {})),
}


def _read_before_relu(network: Network) -> Affine:
    last = network.layers[-1]
    weights = network.head.dense(len(network.layers))
    return Affine(weights @ last.bias, {k: weights @ last.dense(k) for k in last.terms})


def _permuted(affine: Affine) -> Affine:
    terms = {k: affine.dense(k)[:, ::-1] if k == 0 else w for k, w in affine.terms.items()}
    return Affine(affine.bias, terms)


@pytest.mark.parametrize("fault", SABOTAGE)
def test_an_importer_that_errs_is_caught(
    importer: Importer, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    importer(True)
    finish = GraphBuilder.finish

    def sabotaged(self: GraphBuilder, *args: Any) -> Network:
        return SABOTAGE[fault](finish(self, *args))

    monkeypatch.setattr(GraphBuilder, "finish", sabotaged)
    with pytest.raises(UnsupportedError, match="more than rounding explains"):
        importer(True)
    assert importer(False).unverified


def _fail(*_args: Any, **_kwargs: Any) -> Any:
    raise RuntimeError("no kernel for this here")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every framework fail at a forward pass; tracing and reading weights work."""
    monkeypatch.setattr(onnx.reference.ReferenceEvaluator, "run", _fail)
    monkeypatch.setattr("sklearn.pipeline.Pipeline.predict", _fail)
    monkeypatch.setattr("nnbo_mip.network.importers.torch.answers._columns", _fail)


@pytest.mark.usefixtures("broken")
def test_a_comparison_that_cannot_be_made_is_a_refusal(importer: Importer) -> None:
    with pytest.raises(UnsupportedError, match="no kernel for this here") as caught:
        importer(True)
    assert "verify=False (--no-verify)" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("broken")
def test_what_was_never_compared_says_so(importer: Importer, tmp_path: Path) -> None:
    network = importer(False)
    sentence = network.unverified
    assert sentence.startswith("the network was never compared with the ")
    assert network.float32_difference is None
    box = [(-1.0, 1.0)] * 3
    result = certify(network, box, output=network.output_names[0])
    for derived in (
        network.negated(),
        network.objective(network.output_names[0]),
        network.simplify(-np.ones(3), np.ones(3)),
    ):
        assert derived.unverified == sentence
    for ending in ("npz", "json"):
        network.save(tmp_path / f"net.{ending}")
        assert Network.load(tmp_path / f"net.{ending}").unverified == sentence
    result.certificate.save(tmp_path / "certificate.json")
    certificate = Certificate.load(tmp_path / "certificate.json")
    assert certificate == result.certificate
    for told in (result, certificate, certificate.check(network)):
        assert sentence in str(told)


def test_what_was_compared_says_nothing(importer: Importer) -> None:
    network = importer(True)
    assert network.unverified == ""
    assert network.float32_difference is not None
    result = certify(network, [(-1.0, 1.0)] * 3, output=network.output_names[0])
    assert "compared" not in f"{result}{result.certificate}"
    assert "unverified" not in result.certificate.to_json()
    assert importer(False).fingerprint == network.fingerprint


class Counts(nn.Module):
    """A module whose forward pass changes a buffer that it does not read."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.utils.parametrizations.weight_norm(nn.Linear(3, 4))
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1.0)
        return self.linear(x)


def test_the_users_module_is_never_run() -> None:
    module = Counts()
    Network.from_torch(module)
    assert module.calls.item() <= 1.0  # tracing carries the statement out on what it may not see
    assert "parametrizations" in dict(module.linear.named_children())
    assert module.linear.weight.dtype == torch.float32


class InSingle(nn.Module):
    """A module that only runs in float32."""

    def __init__(self, slope: float) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = nn.Linear(3, 8), nn.Linear(8, 1)
        self.slope = slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = nn.functional.linear(x.float(), self.first.weight.float(), self.first.bias.float())
        h = nn.functional.leaky_relu(z, self.slope)
        return nn.functional.linear(h, self.last.weight.float(), self.last.bias.float())


def test_a_module_of_one_precision_is_compared_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0.0 < Network.from_torch(InSingle(0.25), 3).float32_difference < 1e-5
    scale = GraphBuilder.scale
    monkeypatch.setattr(GraphBuilder, "scale", lambda b, v, f: scale(b, v, np.multiply(f, 1.001)))
    with pytest.raises(UnsupportedError, match="more than rounding explains"):
        Network.from_torch(InSingle(0.25), 3)


class OnlyFloat32(nn.Module):
    """A module that fails in float64, as fused kernels do."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(3, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if isinstance(x, torch.Tensor) and x.dtype == torch.float64:
            raise NotImplementedError("no such kernel")
        return self.linear(x).relu()


def test_a_module_that_fails_in_float64_is_compared_in_its_own_precision() -> None:
    assert 0.0 < Network.from_torch(OnlyFloat32()).float32_difference < 1e-5
    with pytest.raises(UnsupportedError, match="no such kernel"):
        Network.from_torch(OnlyFloat32().double())


class Rounds(nn.Module):
    """A module that leaves half of the digits it computes with."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(3, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).half().float()


def test_a_cast_to_fewer_digits_than_the_module_has_is_noticed() -> None:
    with pytest.raises(UnsupportedError, match="more than rounding explains"):
        Network.from_torch(Rounds())
