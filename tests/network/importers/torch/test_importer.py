"""Imported modules compute what the modules compute."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.network.graph.graph import Network
from tests.network.strategies import assert_close, seeds
from tests.network.torch_nets import STEPS, RandomNet


def _answers(module: nn.Module, points: FloatArray) -> FloatArray:
    """Run a copy of the module in float64; outputs side by side."""
    with torch.no_grad():
        result = copy.deepcopy(module).double()(torch.from_numpy(points))
    parts = result.values() if isinstance(result, dict) else result
    parts = [parts] if isinstance(parts, torch.Tensor) else parts
    return np.concatenate([part.reshape(len(points), -1).numpy() for part in parts], axis=1)


def _points(n_inputs: int, seed: int = 3) -> FloatArray:
    return np.random.default_rng(seed).normal(0.4, 1.7, (100, n_inputs))


def _assert_same(network: Network, module: nn.Module, seed: int = 3) -> None:
    points = _points(network.n_inputs, seed)
    expected = _answers(module, points)
    assert_close(network(points), expected, magnitude=max(1.0, float(np.abs(expected).max())))


class Function(nn.Module):
    """A module whose forward is a given function of itself and x."""

    def __init__(self, function: Callable[[Any, torch.Tensor], Any]) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(5)
        self.function = function
        self.linear = nn.Linear(3, 4)
        self.matrix = nn.Parameter(torch.randn(4, 4, generator=generator))
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.register_buffer("row", torch.randn(4, generator=generator))
        self.register_buffer("order", torch.tensor([2, 0, 3]))
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator))

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


@given(seeds, st.lists(st.sampled_from(STEPS), max_size=7))
def test_random_architectures(seed: int, steps: list[str]) -> None:
    module = RandomNet(steps, seed).eval()
    network = Network.from_torch(module)
    assert network.n_inputs == module.n_inputs
    _assert_same(network, module, seed)


FUNCTIONS: dict[str, Callable[[Any, torch.Tensor], Any]] = {
    "functional linear": lambda m, x: F.linear(m.linear(x), m.matrix, bias=m.row),
    "named arguments": lambda m, x: torch.relu(input=m.linear(input=x)),
    "hardtanh": lambda m, x: F.hardtanh(m.linear(x), min_val=-0.3, max_val=2.0),
    "relu6": lambda m, x: F.relu6(3.0 * m.linear(x)),
    "prelu": lambda m, x: F.prelu(m.linear(x), m.row),
    "clip by tensors": lambda m, x: torch.clip(m.linear(x), max=m.row),
    "clamp_max": lambda m, x: m.linear(x).clamp_max(0.3),
    "constant arithmetic": lambda m, x: m.linear(x) * torch.exp(m.row) / (m.row**2 + 1.0),
    "parameter arithmetic": lambda m, x: m.linear(x) @ (m.matrix - m.matrix.t()),
    "matrix times vector": lambda m, x: m.linear(x) @ m.row,
    "matmul": lambda m, x: torch.matmul(m.linear(x), m.matrix.T),
    "normalization": lambda m, x: m.inner((m.linear(x) - m.row) / m.row.abs().clamp_min(0.1)),
    "operators": lambda m, x: -(2.0 - m.linear(x)) + abs(m.linear(x)) - m.row,
    "sub with alpha": lambda m, x: torch.sub(m.linear(x), m.linear(x).relu(), alpha=3),
    "rsub": lambda m, x: torch.rsub(m.linear(x), 1.5),
    "subtract": lambda m, x: torch.subtract(m.row, m.linear(x)),
    "min of two": lambda m, x: torch.min(m.linear(x), other=m.inner(m.linear(x))),
    "max method": lambda m, x: m.linear(x).max(-m.linear(x)),
    "maximum with a buffer": lambda m, x: torch.maximum(m.row, m.linear(x)),
    "stack and mean": lambda m, x: torch.stack([m.linear(x), m.inner(m.linear(x))], -1).mean(-1),
    "sum over an axis": lambda m, x: m.linear(x).relu().sum(dim=1, keepdim=True),
    "mean over entries": lambda m, x: m.linear(x).reshape(-1, 2, 2).mean((1, 2)),
    "ensemble": lambda m, x: torch.stack([m.linear(x).relu() * k for k in (1, 2, 3)]).sum(0),
    "slices": lambda m, x: m.linear(x)[:, 1::2] + m.linear(x)[..., :2],
    "one column": lambda m, x: m.linear(x)[:, -1],
    "a new axis": lambda m, x: m.linear(x)[:, None, :].squeeze(1),
    "index by a buffer": lambda m, x: m.linear(x)[:, m.order],
    "index_select": lambda m, x: torch.index_select(m.linear(x), 1, m.order),
    "narrow and select": lambda m, x: (
        m.linear(x).narrow(1, 1, 2) + m.linear(x).select(1, 0)[:, None]
    ),
    "split": lambda m, x: torch.cat(m.linear(x).split([1, 3], dim=1)[::-1], dim=1),
    "split evenly": lambda m, x: torch.cat(torch.split(m.linear(x), 3, 1)[::-1], 1),
    "chunk": lambda m, x: (lambda c: torch.hstack([c[1], c[0]]))(m.linear(x).chunk(3, -1)),
    "unbind": lambda m, x: m.linear(x).unbind(1)[2],
    "view": lambda m, x: m.linear(x).view(x.size(0), 2, -1).transpose(1, 2).flatten(1),
    "permute": lambda m, x: m.linear(x).reshape(-1, 2, 2).permute(0, 2, 1).reshape(-1, 4).relu(),
    "across and back": lambda m, x: m.linear(x).t().relu().T,
    "expand": lambda m, x: m.linear(x)[:, :1].expand(-1, 3),
    "broadcast of a column": lambda m, x: m.linear(x)[:, :1] + m.linear(x)[:, 1:],
    "linear on the last of three axes": lambda m, x: m.inner(
        torch.stack([m.linear(x), m.linear(-x)], 1)
    ),
    "casts": lambda m, x: m.linear(x).double().to(x.dtype).contiguous().clone().detach(),
    "dropout": lambda m, x: F.dropout(m.linear(x), 0.5, training=m.training),
    "batch norm": lambda m, x: F.batch_norm(m.linear(x), m.row, m.row.abs(), m.row, m.row),
    "shared module": lambda m, x: m.inner(m.inner(m.linear(x))),
    "in place": lambda m, x: F.relu(m.linear(x), inplace=True) + x[:, :1],
    "in place after other readers": lambda m, x: (lambda h: h.abs() + h.relu_())(m.linear(x)),
    "in place on a view": lambda m, x: m.linear(x).view(-1, 4).relu_().mul_(2.0),
    "constant tensor": lambda m, x: m.linear(x) + torch.tensor([1.0, 2.0, 3.0, 4.0]),
    "shape arithmetic": lambda m, x: m.linear(x) * m.linear(x).shape[1] ** 0.5,
    "no relu": lambda m, x: m.linear(x) + 1.0,
    "only a skip": lambda m, x: m.linear(x).relu() * 0.0 + x[:, :1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function(name: str) -> None:
    # In float64, because tracing carries out operations on buffers in the module's precision.
    module = Function(FUNCTIONS[name]).eval().double()
    _assert_same(Network.from_torch(module), module)


class Pair(nn.Module):
    """A mean and a bounded width, as a dict, and options that stay at their defaults."""

    def __init__(self) -> None:
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 5), nn.ReLU())
        self.side = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 5), nn.ReLU())
        self.mean, self.width = nn.Linear(5, 1), nn.Linear(10, 1)

    def forward(self, x: torch.Tensor, scale: float = 2.0, flip: bool = False) -> dict[str, Any]:
        main, side = self.main(x), self.side(x)
        raw = self.width(torch.cat([main, side], dim=1))
        mean = self.mean(main).squeeze(-1)
        return {"mean": -mean if flip else mean, "std": scale * raw.clamp(0.1, 0.9)}


def test_a_dict_names_the_outputs_and_two_nets_stay_two_chains() -> None:
    module = Pair()
    network = Network.from_torch(module)
    assert network.output_names == ("mean", "std")
    assert [layer.width for layer in network.layers] == [5, 5, 5, 5, 2]
    assert [sorted(layer.terms) for layer in network.layers] == [[0], [1], [0], [3], [2, 4]]
    _assert_same(network, module)


def test_a_tuple_numbers_the_outputs() -> None:
    network = Network.from_torch(Function(lambda m, x: (m.linear(x)[:, 0], m.linear(x).relu())))
    assert network.output_names == ("y0", "y10", "y11", "y12", "y13")


def test_members_of_an_ensemble_stay_separate_layers() -> None:
    members = [nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 3)) for _ in range(4)]
    module = Function(lambda m, x: torch.relu(torch.cat([f(x) for f in m.members], 1)))
    module.members = nn.ModuleList(members)
    network = Network.from_torch(module, 2)
    assert [layer.width for layer in network.layers] == [6, 6, 6, 6, 3, 3, 3, 3]
    _assert_same(network, module)


def test_two_outputs_of_one_name_are_told_apart_or_refused() -> None:
    module = Function(lambda m, x: {"a": m.linear(x)[:, :2], "a0": x[:, 0]})
    with pytest.raises(InputError, match="different names"):
        Network.from_torch(module)


def test_weights_are_cast_exactly_and_the_difference_is_reported() -> None:
    torch.manual_seed(1)
    module = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    network = Network.from_torch(module)
    np.testing.assert_array_equal(network.layers[0].dense(0), module[0].weight.detach().numpy())
    assert 0.0 < network.float32_difference < 1e-5
    assert Network.from_torch(module.double()).float32_difference < 1e-14


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_weights_are_kept(dtype: torch.dtype) -> None:
    torch.manual_seed(2)
    module = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2)).to(dtype)
    network = Network.from_torch(module.eval())
    assert network.unverified == ""  # it was compared in float64
    np.testing.assert_array_equal(network.head.dense(1), module[3].weight.detach().double().numpy())
    _assert_same(network, module)
    assert network.float32_difference is None or 1e-6 < network.float32_difference < 0.1


def test_the_module_is_left_as_it_was() -> None:
    module = Function(FUNCTIONS["constant tensor"])
    before = (sorted(vars(module)), copy.deepcopy(module.state_dict()), module.training)
    Network.from_torch(module)
    assert sorted(vars(module)) == before[0]
    assert module.training is before[2]
    for key, value in module.state_dict().items():
        assert torch.equal(value, before[1][key])


def test_parametrized_layers_are_supported() -> None:
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 4))
    module = nn.Sequential(layer, nn.ReLU(), nn.Linear(4, 1)).double()
    _assert_same(Network.from_torch(module), module)


def test_images_are_taken_flat() -> None:
    module = nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, 2))
    assert Network.from_torch(module).n_inputs == 12


def test_the_number_of_inputs_may_be_given() -> None:
    module = Function(lambda m, x: torch.relu(x[:, 1:] - 0.5))
    with pytest.raises(InputError, match="pass n_inputs"):
        Network.from_torch(module)
    _assert_same(Network.from_torch(module, 3), module)
    with pytest.raises(UnsupportedError, match="the weights read 3 entries; got 5"):
        Network.from_torch(Function(lambda m, x: m.linear(x)), 5)


class Reads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) if x.sum() > 0 else x


class Twisted(nn.Linear):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return torch.tanh(super().forward(input))


def relu(x: torch.Tensor) -> torch.Tensor:
    return x**2


torch.fx.wrap("relu")


def _hooked() -> nn.Module:
    module = nn.Sequential(nn.Linear(3, 2))
    module[0].register_forward_hook(lambda m, args, output: output + 1.0)
    return module


def _not_a_number() -> nn.Module:
    module = nn.Sequential(nn.Linear(3, 2))
    with torch.no_grad():
        module[0].weight[1, 2] = torch.nan
    return module


def _of(function: Callable[[Any, torch.Tensor], Any]) -> Callable[[], nn.Module]:
    return lambda: Function(function)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "tanh": (lambda: nn.Sequential(nn.Linear(3, 2), nn.Tanh()), r"Tanh at '1'.*supported are"),
    "softmax": (
        _of(lambda m, x: m.linear(x).softmax(1)),
        "method softmax.*leave it off: which class leads",
    ),
    "a subclass": (lambda: nn.Sequential(Twisted(3, 2)), "tanh is not supported"),
    "a user's function of a known name": (_of(lambda m, x: relu(m.linear(x))), "relu is not supp"),
    "a square": (_of(lambda m, x: m.linear(x) ** 2), "pow is not supported"),
    "a product": (_of(lambda m, x: m.linear(x) * m.linear(x)), "not piecewise linear"),
    "a quotient": (_of(lambda m, x: 1.0 / m.linear(x)), "not piecewise linear"),
    "a sum over the batch": (_of(lambda m, x: m.linear(x).sum(0)), "mixes its points"),
    "a difference across the batch": (
        _of(lambda m, x: m.linear(x)[1:] - m.linear(x)[:-1]),
        "mixes the points",
    ),
    "a concatenation along the batch": (
        _of(lambda m, x: torch.cat([m.linear(x), m.linear(-x)])),
        "mixes the points",
    ),
    "a batch against entries": (
        _of(lambda m, x: m.linear(x)[:, 0] + m.linear(x)[:, :1]),
        "broadcast the batch",
    ),
    "an output with the batch last": (_of(lambda m, x: m.linear(x).T), "first axis"),
    "an output that is a constant": (
        _of(lambda m, x: {"a": m.linear(x), "b": m.row}),
        "depend on the input",
    ),
    "control flow": (Reads, "could not be traced"),
    "training batch norm": (
        lambda: nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)),
        r"module\.eval\(\)",
    ),
    "batch norm without statistics": (
        lambda: nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2, track_running_stats=False)).eval(),
        "track_running_stats",
    ),
    "training dropout": (
        lambda: nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.1)),
        r"module\.eval\(\)",
    ),
    "dropout that is always on": (
        lambda: Function(lambda m, x: F.dropout(m.linear(x), 0.1)).eval(),
        r"training=self\.training",
    ),
    "in place on what is read later": (
        _of(lambda m, x: (lambda h: F.relu(h, inplace=True) + h)(m.linear(x))),
        "inplace=False",
    ),
    "in place through a view": (
        _of(lambda m, x: (lambda h: h.view(-1, 4).relu_() + h)(m.linear(x))),
        "inplace=False",
    ),
    "in place as a statement": (
        _of(lambda m, x: (lambda h: (h.relu_(), h[:, :2])[1])(m.linear(x))),
        "inplace=False",
    ),
    "hooks": (_hooked, "forward hooks"),
    "NaN": (_not_a_number, "parameter '0.weight' holds NaN"),
    "a divisor of zero": (_of(lambda m, x: m.linear(x) / 0.0), "divisor must not be zero"),
    "a layer without weights yet": (lambda: nn.Sequential(nn.LazyLinear(3)), "not initialized"),
    "an unknown argument": (
        _of(lambda m, x: torch.div(m.linear(x), 2.0, rounding_mode="floor")),
        "without rounding",
    ),
    "a maximum over an axis": (_of(lambda m, x: torch.max(m.linear(x), 1)), "of two tensors"),
    "a cast to integers": (_of(lambda m, x: m.linear(x).to(torch.int64)), "cast to torch.int64"),
    "a constant with a value for each of two points": (
        _of(lambda m, x: m.linear(x) + torch.ones(2, 4)),
        "a value for each point of a batch",
    ),
    "a constant with one value for each of two points": (
        _of(lambda m, x: m.linear(x) * torch.full((2, 1), 2.0)),
        "a value for each point of a batch",
    ),
    "limits for each of two points": (
        _of(lambda m, x: m.linear(x).clamp(max=torch.ones(2, 4))),
        "a value for each point of a batch",
    ),
    "no module": (lambda: np.ones(3), "expects a torch.nn.Module"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_imported_is_refused(name: str) -> None:
    make, sentence = REFUSED[name]
    with pytest.raises((UnsupportedError, InputError), match=sentence):
        Network.from_torch(make())


class Overwrites(nn.Module):
    """Change a tensor through another name, which tracing does not record."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.linear(x)
        other = h
        other += 1.0
        return h


def test_what_tracing_does_not_show_is_noticed() -> None:
    with pytest.raises(UnsupportedError, match="more than rounding explains"):
        Network.from_torch(Overwrites())
