"""Test functions on [-1, 1]^d, to be maximized: what the benchmark networks are trained on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from nnbo_mip.core.arrays import FloatArray

Function: TypeAlias = Callable[[FloatArray], FloatArray]
"""(n, d) points of [-1, 1]^d to (n,) values."""


def branin(points: FloatArray) -> FloatArray:
    """Branin on [-5, 10] x [0, 15], negated; two inputs."""
    u, v = 7.5 * points[:, 0] + 2.5, 7.5 * points[:, 1] + 7.5
    well = (v - 5.1 / (4.0 * np.pi**2) * u**2 + 5.0 / np.pi * u - 6.0) ** 2
    total: FloatArray = well + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(u) + 10.0
    return -total


def levy(points: FloatArray) -> FloatArray:
    """Levy on [-10, 10]^d, negated."""
    w = 1.0 + (10.0 * points - 1.0) / 4.0
    inner = (w[:, :-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:, :-1] + 1.0) ** 2)
    last = (w[:, -1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[:, -1]) ** 2)
    total: FloatArray = np.sin(np.pi * w[:, 0]) ** 2 + inner.sum(axis=1) + last
    return -total


def rosenbrock(points: FloatArray) -> FloatArray:
    """Rosenbrock on [-2.048, 2.048]^d, negated; two inputs or more."""
    u = 2.048 * points
    terms = 100.0 * (u[:, 1:] - u[:, :-1] ** 2) ** 2 + (1.0 - u[:, :-1]) ** 2
    total: FloatArray = terms.sum(axis=1)
    return -total


def ackley(points: FloatArray) -> FloatArray:
    """Ackley on [-32.768, 32.768]^d, negated."""
    u = 32.768 * points
    radius = np.sqrt((u**2).mean(axis=1))
    waves = np.cos(2.0 * np.pi * u).mean(axis=1)
    total: FloatArray = 20.0 * np.exp(-0.2 * radius) + np.exp(waves)
    return total - (20.0 + np.e)


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {"branin": branin, "levy": levy, "rosenbrock": rosenbrock, "ackley": ackley}
)
