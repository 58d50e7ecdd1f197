"""Random PyTorch modules for the tests of importers."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

STEPS = (
    *("linear", "relu", "leaky", "prelu", "hardtanh", "relu6", "clamp", "clamp_min", "abs"),
    *("neg", "scale", "shift", "divide", "rsub", "maximum", "minimum", "max", "skip", "concat"),
    *("batch_norm", "dropout", "functional", "matmul", "addmm", "slice", "chunk", "stack"),
    *("reshape", "sequential", "mean"),
)


class RandomNet(nn.Module):
    """Perform the named steps, one after the other, with seeded weights.

    Parameters
    ----------
    steps : list of str
        From `STEPS`.
    seed : int
        Of the weights, and of all other choices.
    """

    def __init__(self, steps: list[str], seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        self.n_inputs = int(self.rng.integers(1, 5))
        self.steps: list[str] = []
        self.parts = nn.ModuleList()
        self.weights = nn.ParameterList()
        self.register_buffer("factors", torch.rand(64, generator=generator) + 0.5)
        width = self.n_inputs
        self.first = nn.Linear(width, 4)
        width = 4
        for name in steps:
            step = "neg" if name == "slice" and width == 1 else name
            part, width = self._part(step, width)
            self.steps.append(step)
            self.parts.append(part)
        self.last = nn.Linear(width, int(self.rng.integers(1, 4)))
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.6 + 0.05)
            for module in self.modules():
                if isinstance(module, nn.BatchNorm1d):
                    module.running_mean.copy_(torch.randn(module.num_features))
                    module.running_var.copy_(torch.rand(module.num_features) + 0.2)

    def _part(self, name: str, width: int) -> tuple[nn.Module, int]:
        """Return the module of a step, and the width after it."""
        new = int(self.rng.integers(1, 7))
        made = {
            "linear": lambda: (nn.Linear(width, new, bias=bool(new % 2)), new),
            "leaky": lambda: (nn.LeakyReLU(0.2), width),
            "prelu": lambda: (nn.PReLU(width if new % 2 else 1), width),
            "hardtanh": lambda: (nn.Hardtanh(-0.7, 0.4), width),
            "relu6": lambda: (nn.ReLU6(), width),
            "relu": lambda: (nn.ReLU(inplace=bool(new % 2)), width),
            "batch_norm": lambda: (nn.BatchNorm1d(width), width),
            "dropout": lambda: (nn.Dropout(0.3), width),
            "concat": lambda: (nn.Linear(self.n_inputs, new), width + new),
            "skip": lambda: (nn.Sequential(nn.Linear(width, width), nn.ReLU()), width),
            "max": lambda: (nn.Linear(width, width), width),
            "minimum": lambda: (nn.Linear(width, width), width),
            "sequential": lambda: (
                nn.Sequential(nn.Linear(width, new), nn.Sequential(nn.ReLU(), nn.Identity())),
                new,
            ),
            "functional": lambda: (nn.Linear(width, new), new),
            "matmul": lambda: (nn.Linear(new, width), new),
            "addmm": lambda: (nn.Linear(new, width), new),
            "slice": lambda: (nn.Identity(), width - 1),
            "chunk": lambda: (nn.Linear(width, 2 * new), new),
            "stack": lambda: (nn.ModuleList(nn.Linear(width, new) for _ in range(3)), new),
            "mean": lambda: (nn.Linear(width, 2), 2),
        }
        return made[name]() if name in made else (nn.Identity(), width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Perform the steps."""
        h = self.first(x)
        for name, part in zip(self.steps, self.parts, strict=True):
            h = self._perform(name, part, h, x)
        return self.last(h)

    def _perform(
        self, name: str, part: nn.Module, h: torch.Tensor, x: torch.Tensor
    ) -> torch.Tensor:
        factors = self.factors[0]
        match name:
            case "clamp":
                return h.clamp(-0.5, 0.8)
            case "clamp_min":
                return torch.clamp(h, min=0.1)
            case "abs":
                return torch.abs(h)
            case "neg":
                return -h
            case "scale":
                return 1.5 * h * factors
            case "shift":
                return torch.add(h, factors, alpha=2.0)
            case "divide":
                return h / factors
            case "rsub":
                return 1.0 - h
            case "maximum":
                return torch.maximum(h, -0.5 * h)
            case "max":
                return torch.max(h, part(h))
            case "minimum":
                return torch.minimum(part(h), h)
            case "skip":
                return h + part(h)
            case "concat":
                return torch.cat([h, torch.relu(part(x))], dim=-1)
            case "functional":
                return nn.functional.leaky_relu(nn.functional.linear(h, part.weight), 0.1)
            case "matmul":
                return h @ part.weight
            case "addmm":
                return torch.addmm(part.weight[0], h, part.weight, beta=0.5, alpha=2.0)
            case "slice":
                return h[:, 1:]
            case "chunk":
                first, second = part(h).chunk(2, dim=1)
                return torch.relu(first) - second
            case "stack":
                return torch.stack([torch.relu(member(h)) for member in part]).mean(0)
            case "reshape":
                return h.reshape(h.shape[0], -1, 1).flatten(1)
            case "mean":
                y = part(h)
                return torch.cat([y.mean(dim=1, keepdim=True), y.sum(-1).unsqueeze(1)], 1)
            case _:
                return part(h)
