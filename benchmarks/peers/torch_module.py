"""The trained module that a user of the torch front ends already has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.certify.sequential import Layers

if TYPE_CHECKING:
    import torch


def sequential_module(layers: Layers) -> torch.nn.Sequential:
    """Return the layers as a float64 ``torch.nn.Sequential`` of Linear and ReLU."""
    import torch

    torch.set_num_threads(1)
    modules: list[torch.nn.Module] = []
    for weight, bias in layers:
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(weight))
            linear.bias.copy_(torch.from_numpy(bias))
        modules += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*modules[:-1])
