r"""Training of the benchmark networks: MLP, RVFL, ensemble mean, NOMU pair.

Data are n uniform points of [-1, 1]^d with standardized values of a test function. All
four kinds are returned as one network with one output, which is to be maximized.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.certify.functions import FUNCTIONS
from benchmarks.certify.nomu import ucb
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network

if TYPE_CHECKING:
    import torch

LEARNING_RATE = 5e-3
MLP_DECAY = 1e-5
NOMU_DECAY = 1e-6
ENSEMBLE_MEMBERS = 5
RVFL_RIDGE = 1e-4

NOMU_SQUARE_WEIGHT = 0.1
NOMU_EXPONENTIAL_WEIGHT = 0.01
NOMU_EXPONENT = 30.0
NOMU_ARTIFICIAL_POINTS = 200
NOMU_LOWEST, NOMU_HIGHEST = 0.001, 2.0

POINTS_PER_INPUT = 10


@dataclass(frozen=True)
class Recipe:
    """What is trained on what.

    Parameters
    ----------
    kind : {"mlp", "rvfl", "ens5", "nomu"}
        Family; ``nomu`` has a main and a side net of `depth` x `width` each.
    function : str
        A key of `benchmarks.certify.functions.FUNCTIONS`.
    inputs, depth, width, seed : int
        Shape and seed.
    steps : int
        Full-batch steps of Adam.
    """

    kind: str
    function: str
    inputs: int
    depth: int
    width: int
    seed: int = 0
    steps: int = 2000

    @property
    def name(self) -> str:
        """A file name: inputs, function, kind and shape."""
        shape = f"{self.depth}x{self.width}"
        return f"d{self.inputs:02d}_{self.function}_{self.kind}_{shape}_s{self.seed}"


def train(recipe: Recipe) -> Network:
    """Train from the recipe's seed; the same recipe gives the same network."""
    rng = np.random.default_rng([recipe.seed, recipe.inputs, recipe.width, recipe.depth])
    points = rng.uniform(-1.0, 1.0, (POINTS_PER_INPUT * recipe.inputs, recipe.inputs))
    values = FUNCTIONS[recipe.function](points)
    values = (values - values.mean()) / values.std()
    if recipe.kind == "rvfl":
        return _rvfl(points, values, recipe.width, rng)
    if recipe.kind == "nomu":
        return _nomu(points, values, recipe, rng)
    members = ENSEMBLE_MEMBERS if recipe.kind == "ens5" else 1
    seeds = [int(rng.integers(2**31)) for _ in range(members)]
    return _mean([_mlp(points, values, recipe, seed) for seed in seeds])


def _rvfl(points: FloatArray, values: FloatArray, width: int, rng: np.random.Generator) -> Network:
    """Random hidden layer, ridge regression of the hidden layer and of the input."""
    inputs = points.shape[1]
    weight = rng.uniform(-1.0, 1.0, (width, inputs)) * 3.0
    bias = rng.uniform(-1.0, 1.0, width) * 3.0
    hidden = np.maximum(points @ weight.T + bias, 0.0)
    design = np.hstack([hidden, points, np.ones((len(points), 1))])
    gram = design @ design.T + RVFL_RIDGE * np.eye(len(points))
    last_layer = design.T @ np.linalg.solve(gram, values)
    head = Affine(last_layer[-1:], {0: last_layer[None, width:-1], 1: last_layer[None, :width]})
    return Network(inputs, (Affine(bias, {0: weight}),), head)


def _mlp(points: FloatArray, values: FloatArray, recipe: Recipe, seed: int) -> list[Affine]:
    """Full-batch Adam on the squared error; return the maps of a plain net."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    linears = _linears([recipe.inputs, *[recipe.width] * recipe.depth, 1])
    x = torch.from_numpy(points)
    y = torch.from_numpy(values)
    parameters = [p for linear in linears for p in linear.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=LEARNING_RATE)
    for _ in range(recipe.steps):
        optimizer.zero_grad()
        loss = ((_forward(linears, x)[-1][:, 0] - y) ** 2).mean()
        (loss + MLP_DECAY * _squares(parameters)).backward()
        optimizer.step()
    return [_affine(linear, k) for k, linear in enumerate(linears)]


def _nomu(
    points: FloatArray, values: FloatArray, recipe: Recipe, rng: np.random.Generator
) -> Network:
    r"""Train main and side net with NOMU's loss; maximize mean + clip(raw).

    The loss is ``sum (mu - y)^2 + pi_sqr sum raw^2 + pi_exp mean exp(-c_exp raw)``, the
    last over fresh uniform points; the side output reads both last hidden layers.
    """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(int(rng.integers(2**31)))
    widths = [recipe.inputs, *[recipe.width] * recipe.depth]
    main, side = _linears([*widths, 1]), _linears(widths)
    raw = torch.nn.Linear(2 * recipe.width, 1, dtype=torch.float64)
    x, y = torch.from_numpy(points), torch.from_numpy(values)
    parameters = [p for linear in (*main, *side, raw) for p in linear.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=LEARNING_RATE)

    def outputs(batch: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        main_hidden, mean = _forward(main, batch)[-2:]
        side_hidden = torch.relu(_forward(side, batch)[-1])
        return mean[:, 0], raw(torch.cat([main_hidden, side_hidden], dim=1))[:, 0]

    for _ in range(recipe.steps):
        optimizer.zero_grad()
        mean, at_data = outputs(x)
        anywhere = torch.from_numpy(rng.uniform(-1.0, 1.0, (NOMU_ARTIFICIAL_POINTS, recipe.inputs)))
        spread = torch.exp(-NOMU_EXPONENT * outputs(anywhere)[1].clamp(min=-1.0)).mean()
        loss = ((mean - y) ** 2).sum() + NOMU_SQUARE_WEIGHT * (at_data**2).sum()
        loss = loss + NOMU_EXPONENTIAL_WEIGHT * spread + NOMU_DECAY * _squares(parameters)
        loss.backward()
        optimizer.step()
    hidden = recipe.depth
    main_maps = [_affine(linear, k) for k, linear in enumerate(main)]
    side_maps = [_affine(linear, k if k == 0 else hidden + k) for k, linear in enumerate(side)]
    last_layer = raw.weight.detach().numpy()
    raw_map = Affine(
        raw.bias.detach().numpy(),
        {hidden: last_layer[:, : recipe.width], 2 * hidden: last_layer[:, recipe.width :]},
    )
    return ucb(main_maps, side_maps, raw_map, NOMU_LOWEST, NOMU_HIGHEST)


def _linears(widths: Sequence[int]) -> list[torch.nn.Linear]:
    import torch

    return [
        torch.nn.Linear(before, after, dtype=torch.float64) for before, after in pairwise(widths)
    ]


def _forward(linears: Sequence[torch.nn.Linear], batch: torch.Tensor) -> list[torch.Tensor]:
    """Hidden layers after their ReLU, and the last map without one."""
    import torch

    values = [batch]
    for linear in linears[:-1]:
        values.append(torch.relu(linear(values[-1])))
    return [*values, linears[-1](values[-1])]


def _squares(parameters: Sequence[torch.Tensor]) -> torch.Tensor:
    import torch

    return torch.stack([(p**2).sum() for p in parameters]).sum()


def _affine(linear: torch.nn.Linear, source: int) -> Affine:
    return Affine(linear.bias.detach().numpy(), {source: linear.weight.detach().numpy()})


def _mean(members: Sequence[list[Affine]]) -> Network:
    """Stack plain nets of one shape side by side; the head is the mean of their heads."""
    count = len(members)
    first = members[0]
    layers = [
        Affine(
            np.concatenate([maps[level].bias for maps in members]),
            {level: _stacked([maps[level].dense(level) for maps in members], level == 0)},
        )
        for level in range(len(first) - 1)
    ]
    last = len(first) - 1
    weights = np.hstack([maps[last].dense(last) for maps in members]) / count
    bias = np.mean([maps[last].bias for maps in members], axis=0)
    inputs = first[0].terms[0].shape[1]
    return Network(inputs, tuple(layers), Affine(bias, {last: weights}))


def _stacked(weights: Sequence[FloatArray], shared_input: bool) -> FloatArray:
    """Weights one below the other for a shared input, block-diagonal otherwise."""
    if shared_input:
        return np.vstack(weights)
    from scipy.linalg import block_diag

    return np.asarray(block_diag(*weights))
