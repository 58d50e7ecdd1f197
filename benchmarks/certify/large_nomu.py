"""An untrained NOMU of 2 x (3 x 1024): 6146 ReLUs, the largest network of the benchmark."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from benchmarks.certify.nomu import ucb
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network

WIDTH = 1024
DEPTH = 3
LOWEST, HIGHEST = 1e-6, 2.0

SAMPLES = 10_000
"""Uniform points over which the function's range is taken."""


def large_nomu(inputs: int, seed: int = 0) -> Network:
    """Return ``mean + clip(raw, 1e-6, 2)`` of a NOMU pair with random weights.

    Every weight is He-normal, N(0, 2 / fan-in), every bias N(0, 1), all drawn from one
    ``numpy.random.default_rng(seed)`` in this order, weights (out, in) before biases: main
    hidden layers 1 to 3, main output, side hidden layers 1 to 3, side output, whose 2048
    inputs are the last hidden layers of main and side net. Main and side net are separate
    layers of the network: 1 to 3 and 4 to 6; layer 7 holds the two ReLUs of the clip.
    """
    rng = np.random.default_rng(seed)
    main = [
        _affine(rng, WIDTH, inputs, 0),
        *[_affine(rng, WIDTH, WIDTH, k) for k in range(1, DEPTH)],
        _affine(rng, 1, WIDTH, DEPTH),
    ]
    side = [
        _affine(rng, WIDTH, inputs, 0),
        *[_affine(rng, WIDTH, WIDTH, DEPTH + k) for k in range(1, DEPTH)],
    ]
    weight, bias = _he_normal(rng, 1, 2 * WIDTH)
    raw = Affine(bias, {DEPTH: weight[:, :WIDTH], 2 * DEPTH: weight[:, WIDTH:]})
    return ucb(main, side, raw, LOWEST, HIGHEST)


def _affine(rng: np.random.Generator, fan_out: int, fan_in: int, source: int) -> Affine:
    weight, bias = _he_normal(rng, fan_out, fan_in)
    return Affine(bias, {source: weight})


def _he_normal(
    rng: np.random.Generator, fan_out: int, fan_in: int
) -> tuple[FloatArray, FloatArray]:
    weight = rng.standard_normal((fan_out, fan_in)) * np.sqrt(2.0 / fan_in)
    return weight, rng.standard_normal(fan_out)


def sampled_range(network: Network) -> tuple[float, float]:
    """Return smallest and largest value at uniform points of [-1, 1]^d, from seed 0."""
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (SAMPLES, network.n_inputs))
    values = network.evaluate(points, 0)
    return float(values.min()), float(values.max())


def stored(folder: Path, inputs: int) -> Path:
    """Return the file of `large_nomu`; write it if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"d{inputs:02d}_he_normal_nomu_3x1024_s0.npz"
    if not path.exists():
        partial = path.with_name(f"{path.stem}.part.npz")
        large_nomu(inputs).save(partial)
        os.replace(partial, path)
    return path
