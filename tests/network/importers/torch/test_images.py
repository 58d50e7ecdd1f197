"""Imported convolutions, pooling and padding compute what PyTorch computes."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.network.graph.graph import Network
from tests.network.strategies import assert_close

SHAPE = (2, 7, 6)

MODULES: dict[str, Callable[[], nn.Module]] = {
    "Conv2d": lambda: nn.Conv2d(2, 4, 3, stride=2, padding=1, groups=2, dilation=2),
    "Conv2d, depthwise": lambda: nn.Conv2d(2, 6, (2, 3), stride=(1, 2), groups=2, bias=False),
    "Conv2d, same": lambda: nn.Conv2d(2, 3, (3, 5), padding="same"),
    "Conv2d, valid": lambda: nn.Conv2d(2, 3, 3, padding="valid"),
    "Conv2d, reflect": lambda: nn.Conv2d(2, 3, 3, padding=(2, 1), padding_mode="reflect"),
    "Conv2d, replicate": lambda: nn.Conv2d(2, 3, 3, padding=2, padding_mode="replicate"),
    "Conv2d, circular": lambda: nn.Conv2d(2, 3, 3, padding=1, padding_mode="circular"),
    "ConvTranspose2d": lambda: nn.ConvTranspose2d(2, 3, 3, 2, padding=1, output_padding=1),
    "ConvTranspose2d, groups": lambda: nn.ConvTranspose2d(2, 4, 3, 3, dilation=2, groups=2),
    "ConvTranspose2d, dilation": lambda: nn.ConvTranspose2d(
        2, 2, 3, stride=2, dilation=4, output_padding=3
    ),
    "MaxPool2d": lambda: nn.MaxPool2d(3, 2, 1),
    "MaxPool2d, ceil": lambda: nn.MaxPool2d(2, (3, 2), (0, 1), ceil_mode=True),
    "MaxPool2d, dilation": lambda: nn.MaxPool2d(2, 1, dilation=2),
    "AvgPool2d": lambda: nn.AvgPool2d(3, 2, 1),
    "AvgPool2d, ceil": lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True),
    "AvgPool2d, ceil, no padding counted": lambda: nn.AvgPool2d(
        3, 2, 1, ceil_mode=True, count_include_pad=False
    ),
    "AvgPool2d, divisor": lambda: nn.AvgPool2d(2, divisor_override=3),
    "AdaptiveAvgPool2d": lambda: nn.AdaptiveAvgPool2d((3, 4)),
    "AdaptiveMaxPool2d": lambda: nn.AdaptiveMaxPool2d((None, 4)),
    "ZeroPad2d": lambda: nn.ZeroPad2d((1, 0, 2, 3)),
    "ConstantPad2d": lambda: nn.ConstantPad2d((1, -1, 0, 2), 0.5),
    "ReflectionPad2d": lambda: nn.ReflectionPad2d((1, 2, 0, 1)),
    "ReplicationPad2d": lambda: nn.ReplicationPad2d(1),
    "CircularPad2d": lambda: nn.CircularPad2d(2),
    "BatchNorm2d": lambda: nn.BatchNorm2d(2),
    "Dropout2d": lambda: nn.Dropout2d(0.5),
    "in rows": lambda: nn.Sequential(
        *(nn.Flatten(2), nn.Conv1d(2, 3, 5, 2), nn.ReLU(), nn.MaxPool1d(3, padding=1)),
        *(nn.AvgPool1d(2), nn.ReflectionPad1d(1), nn.AdaptiveAvgPool1d(2)),
    ),
    "in volumes": lambda: nn.Sequential(
        *(nn.Unflatten(1, (1, 2)), nn.Conv3d(1, 2, (1, 2, 2)), nn.BatchNorm3d(2), nn.ReLU()),
        *(nn.MaxPool3d((1, 2, 2)), nn.ConvTranspose3d(2, 1, 2), nn.AvgPool3d((2, 1, 1))),
    ),
}


def _functions(x: torch.Tensor) -> torch.Tensor:
    x = F.conv2d(x, torch.ones(2, 2, 2, 2), padding=1)
    x = F.avg_pool2d(x, 2, stride=1)
    x = F.pad(F.adaptive_avg_pool2d(x, 4), (1, 1), value=2.0)
    x = F.max_pool2d(x, 2, stride=1)
    x = F.conv_transpose2d(F.adaptive_max_pool2d(x, 2), torch.ones(2, 1, 2, 2), stride=2)
    return torch.flatten(x, 1).unflatten(1, (2, -1))


class Functional(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _functions(x)


class Residual(nn.Module):
    """Two convolutions round which the values go as well."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, 3, 3, padding=1)
        self.second = nn.Conv2d(3, 3, 3, padding=1)
        self.norm = nn.BatchNorm2d(3)
        self.last = nn.Linear(3 * 3 * 3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before = F.relu(self.first(x))
        after = F.relu(self.norm(self.second(before)) + before, inplace=True)
        return self.last(torch.flatten(F.max_pool2d(after, 2), 1))


MODULES |= {"functions": Functional, "residual": Residual}


def _seeded(make: Callable[[], nn.Module]) -> nn.Module:
    torch.manual_seed(6)
    module = make()
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d | nn.BatchNorm3d):
            part.running_mean = torch.randn(part.num_features)
            part.running_var = torch.rand(part.num_features) + 0.2
    return module.eval()


def _expected(module: nn.Module, points: np.ndarray) -> np.ndarray:
    with torch.no_grad(), _double():
        result = copy.deepcopy(module).double()(torch.from_numpy(points))
    return result.numpy().reshape(len(points), -1)


class _double:
    """Constants that a forward makes are float64 within."""

    def __enter__(self) -> None:
        torch.set_default_dtype(torch.float64)

    def __exit__(self, *_: object) -> None:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", MODULES)
def test_images_are_seen_as_pytorch_sees_them(name: str) -> None:
    module = _seeded(MODULES[name])
    with _double():
        module.double()
        network = Network.from_torch(module, input_shape=SHAPE)
    assert network.n_inputs == 84
    points = np.random.default_rng(2).normal(0.2, 1.5, (60, *SHAPE))
    assert_close(network(points.reshape(60, -1)), _expected(module, points))
    assert network.float32_difference is not None


def test_a_maximum_over_columns_and_rows_takes_fewer_relus_than_one_over_entries() -> None:
    network = Network.from_torch(nn.MaxPool2d(3, 1), input_shape=(1, 9, 9))
    # Two ReLUs for each of 9 x 7 rows of three, and two for each of 7 x 7 squares.
    assert sum(layer.width for layer in network.layers) <= 2 * 9 * 7 + 2 * 7 * 7


def test_the_certificate_of_a_small_image_network_is_confirmed() -> None:
    torch.manual_seed(3)
    module = nn.Sequential(
        *(nn.Unflatten(1, (1, 3, 3)), nn.Conv2d(1, 2, 2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(2, 1)),
    )
    network = Network.from_torch(module, 9)
    space = nm.Space([nm.Real(f"x{i}", -1.0, 1.0) for i in range(9)])
    result = nm.certify(network, space)
    assert result.status == "optimal"
    assert result.certificate.check(network, space) == "confirmed"
    random = network(np.random.default_rng(0).uniform(-1.0, 1.0, (20_000, 9)))
    assert random.max() <= result.bound


def test_a_convolution_of_a_small_picture_stays_sparse() -> None:
    module = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3))
    network = Network.from_torch(module, input_shape=(3, 32, 32))
    held = sum(w.nnz for affine in (*network.layers, network.head) for w in affine.terms.values())
    assert held <= 16 * 32 * 32 * 27 + 16 * 30 * 30 * 144


@pytest.mark.parametrize(
    ("module", "shape", "message"),
    [
        (nn.Conv2d(3, 3, 3), SHAPE, "do not read 2 channels"),
        (nn.Conv2d(2, 3, 9), SHAPE, "does not fit"),
        (nn.Conv2d(2, 3, 3), (2, 49), "images of shape"),
        (nn.MaxPool2d(2, return_indices=True), SHAPE, "indices"),
        (nn.AdaptiveAvgPool2d(0), SHAPE, "output of 1 at least"),
        (nn.Conv2d(2, 4000, 3), (2, 200, 200), "entries"),
        (nn.Upsample(scale_factor=2), SHAPE, "Upsample is not supported"),
    ],
)
def test_what_does_not_fit_is_refused(
    module: nn.Module, shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(UnsupportedError, match=message):
        Network.from_torch(module, input_shape=shape)


@pytest.mark.parametrize("shape", [(), (2, 0), "28", (1.5, 2), 5])
def test_an_input_shape_that_is_none_is_refused(shape: object) -> None:
    with pytest.raises(InputError, match="input_shape"):
        Network.from_torch(nn.Conv2d(2, 3, 3), input_shape=shape)  # type: ignore[arg-type]


def test_a_number_of_inputs_that_contradicts_the_shape_is_refused() -> None:
    with pytest.raises(InputError, match="n_inputs=9 is not the number of entries"):
        Network.from_torch(nn.Conv2d(2, 3, 3), 9, input_shape=SHAPE)


def test_a_convolution_that_is_first_asks_for_the_shape() -> None:
    with pytest.raises(InputError, match="input_shape="):
        Network.from_torch(nn.Conv2d(2, 3, 3))
