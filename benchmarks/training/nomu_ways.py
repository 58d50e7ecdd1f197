"""Two other ways to write NOMU's training, with the loss and the options of the package's own.

One is what anybody would write with modules of torch: two passes an epoch, Adam as it comes.
The other has no automatic differentiation: the backward pass and Adam by hand, in NumPy,
all weights in one vector. Both return the loss of the last epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.ensembles.training import Schedule
from nnbo_mip.surrogates.nomu.nomu import Nomu

Floats: TypeAlias = npt.NDArray[np.float32]

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


def by_modules(options: Nomu, X: FloatArray, v: FloatArray) -> float:
    """Train modules of torch on standardized values (n,)."""
    import torch

    torch.manual_seed(options.seed)
    d = X.shape[1]

    def hidden_layers() -> torch.nn.Sequential:
        steps: list[torch.nn.Module] = []
        for n_in, n_out in pairwise((d, *options.hidden)):
            steps += [torch.nn.Linear(n_in, n_out), torch.nn.ReLU()]
        return torch.nn.Sequential(*steps)

    main, side = hidden_layers(), hidden_layers()
    mean, raw = torch.nn.Linear(options.hidden[-1], 1), torch.nn.Linear(2 * options.hidden[-1], 1)
    parameters = [p for module in (main, side, mean, raw) for p in module.parameters()]
    optimizer = torch.optim.Adam(
        parameters, lr=options.learning_rate, weight_decay=2.0 * options.weight_penalty
    )
    schedule = _schedule(options)
    u = torch.from_numpy(X.astype(np.float32))
    target = torch.from_numpy(v.astype(np.float32))[:, None]
    value = 0.0
    for epoch in range(options.epochs):
        optimizer.param_groups[0]["lr"] = schedule.step_size(epoch)
        optimizer.zero_grad()
        h = main(u)
        at_data = raw(torch.cat([h, side(u)], dim=1))
        anywhere = 2.0 * torch.rand(options.n_augmented, d) - 1.0
        pushed = raw(torch.cat([main(anywhere), side(anywhere)], dim=1))
        loss = (mean(h) - target).square().sum() + options.pi_sqr * at_data.square().sum()
        loss = loss + options.pi_exp * (-options.c_exp * pushed).exp().mean()
        loss.backward()
        optimizer.step()
        value = loss.item()
    return value


def by_hand(options: Nomu, X: FloatArray, v: FloatArray) -> float:
    """Train in NumPy on standardized values (n,)."""
    random = np.random.default_rng(options.seed)
    (n, d), hidden, width = X.shape, options.hidden, options.hidden[-1]
    shapes = [(n_in, n_out) for n_in, n_out in pairwise((d, *hidden))]
    sizes = [n_in * n_out for n_in, n_out in shapes] + [n_out for _, n_out in shapes]
    per_net = sum(sizes)
    weights = np.zeros(2 * per_net + 3 * width + 2, dtype=np.float32)
    slopes, first, second = (np.zeros_like(weights) for _ in range(3))
    nets = [_views(weights[k * per_net :], shapes) for k in range(2)]
    net_slopes = [_views(slopes[k * per_net :], shapes) for k in range(2)]
    for net in nets:
        for matrix, bias in net:
            matrix[:] = random.normal(0.0, np.sqrt(2.0 / len(matrix)), matrix.shape)
            bias[:] = random.uniform(-1.0, 1.0, bias.shape) / np.sqrt(len(matrix))
    out, out_slope = weights[2 * per_net :], slopes[2 * per_net :]
    out[:width] = random.normal(0.0, np.sqrt(1.0 / width), width)
    schedule, value = _schedule(options), 0.0
    u, target = X.astype(np.float32), v.astype(np.float32)
    for epoch in range(options.epochs):
        anywhere = 2.0 * random.random((options.n_augmented, d), dtype=np.float32) - 1.0
        batch = np.concatenate([u, anywhere])
        h, k = (_forward(net, batch) for net in nets)
        error = h[-1][:n] @ out[:width] + out[-2] - target
        raw = h[-1] @ out[width : 2 * width] + k[-1] @ out[2 * width : 3 * width] + out[-1]
        pushed = np.exp(-options.c_exp * raw[n:])
        fit, pinned = (error**2).sum(), (raw[:n] ** 2).sum()
        value = float(fit + options.pi_sqr * pinned + options.pi_exp * pushed.mean())
        raw_slope = np.empty_like(raw)
        raw_slope[:n] = 2.0 * options.pi_sqr * raw[:n]
        raw_slope[n:] = (-options.pi_exp * options.c_exp / len(pushed)) * pushed
        error_slope = 2.0 * error
        out_slope[:width] = error_slope @ h[-1][:n]
        out_slope[width : 2 * width] = raw_slope @ h[-1]
        out_slope[2 * width : 3 * width] = raw_slope @ k[-1]
        out_slope[-2:] = error_slope.sum(), raw_slope.sum()
        adjoint = np.outer(raw_slope, out[width : 2 * width])
        adjoint[:n] += np.outer(error_slope, out[:width])
        _backward(nets[0], net_slopes[0], h, adjoint)
        _backward(nets[1], net_slopes[1], k, np.outer(raw_slope, out[2 * width : 3 * width]))
        slopes += np.float32(2.0 * options.weight_penalty) * weights
        first += np.float32(1.0 - BETA_1) * (slopes - first)
        second += np.float32(1.0 - BETA_2) * (slopes * slopes - second)
        root = np.sqrt(second / np.float32(1.0 - BETA_2 ** (epoch + 1))) + np.float32(EPSILON)
        step = schedule.step_size(epoch) / (1.0 - BETA_1 ** (epoch + 1))
        weights -= np.float32(step) * first / root
    return value


def _schedule(options: Nomu) -> Schedule:
    return Schedule(options.epochs, options.learning_rate, options.decay, warmup=options.warmup)


def _views(flat: Floats, shapes: Sequence[tuple[int, int]]) -> list[tuple[Floats, Floats]]:
    """Return weights (in, out) and biases (out,) of each layer as views of a vector."""
    layers, start = [], 0
    for n_in, n_out in shapes:
        middle, end = start + n_in * n_out, start + (n_in + 1) * n_out
        layers.append((flat[start:middle].reshape(n_in, n_out), flat[middle:end]))
        start = end
    return layers


def _forward(net: Sequence[tuple[Floats, Floats]], batch: Floats) -> list[Floats]:
    values = [batch]
    for matrix, bias in net:
        z = values[-1] @ matrix
        z += bias
        values.append(np.maximum(z, 0.0, out=z))
    return values


def _backward(
    net: Sequence[tuple[Floats, Floats]],
    slopes: Sequence[tuple[Floats, Floats]],
    values: Sequence[Floats],
    adjoint: Floats,
) -> None:
    for layer in range(len(net) - 1, -1, -1):
        adjoint *= values[layer + 1] > 0.0
        np.matmul(values[layer].T, adjoint, out=slopes[layer][0])
        adjoint.sum(axis=0, out=slopes[layer][1])
        if layer:
            adjoint = adjoint @ net[layer][0].T
