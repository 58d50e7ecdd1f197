"""Small programs with known optima."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from nnbo_mip.exact.formulation import MilpModel

OPTIMUM = -1.0
"""Of `knapsack`: columns (1, 1, 0.5)."""


def knapsack() -> MilpModel:
    """``300 a + 200 b + 100 t - 551``, 2a + 3b + 4t <= 7, a and b whole in 0..1, t in [0.25, 2]."""
    return MilpModel(
        objective=np.array([300.0, 200.0, 100.0]),
        offset=-551.0,
        matrix=csr_array(np.array([[2.0, 3.0, 4.0]])),
        row_lower=np.array([-np.inf]),
        row_upper=np.array([7.0]),
        column_lower=np.array([0.0, 0.0, 0.25]),
        column_upper=np.array([1.0, 1.0, 2.0]),
        integer=np.array([True, True, False]),
        sos1=(),
        column_names=("a", "b", "t"),
        row_names=("weight",),
        input_matrix=csr_array(np.eye(3)),
        input_constants=np.zeros(3),
    )


def infeasible() -> MilpModel:
    """``2 a - 2 b = 1`` in whole numbers."""
    row = csr_array(np.array([[2.0, -2.0, 0.0]]))
    return replace(knapsack(), matrix=row, row_lower=np.ones(1), row_upper=np.ones(1))


def hard(seed: int = 0, columns: int = 90) -> MilpModel:
    """Several equality knapsacks at once: hopeless within a test."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(100, 1000, (6, columns)).astype(np.float64)
    half = np.floor(weights.sum(axis=1) / 2.0)
    identity = np.hstack([np.zeros((6, columns)), np.eye(6), -np.eye(6)])
    matrix = np.hstack([weights, np.zeros((6, 12))]) + identity
    return MilpModel(
        objective=np.concatenate([np.zeros(columns), -np.ones(12)]),
        offset=0.0,
        matrix=csr_array(matrix),
        row_lower=half,
        row_upper=half,
        column_lower=np.zeros(columns + 12),
        column_upper=np.concatenate([np.ones(columns), np.full(12, 1e5)]),
        integer=np.concatenate([np.ones(columns, dtype=bool), np.zeros(12, dtype=bool)]),
        sos1=(),
        column_names=tuple(f"c{j}" for j in range(columns + 12)),
        row_names=tuple(f"r{i}" for i in range(6)),
        input_matrix=csr_array((0, columns + 12)),
        input_constants=np.zeros(0),
    )
