"""BoTorch's bounds, linear constraints, fixed features and discrete inputs as a domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.integrations.botorch.reading import array
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid

Row = tuple[torch.Tensor, torch.Tensor, float]
"""Indices, coefficients and right-hand side of ``sum_i coefficients[i] X[indices[i]] >= rhs``."""


def domain_of(
    bounds: torch.Tensor,
    inequality_constraints: Sequence[Row] | None,
    equality_constraints: Sequence[Row] | None,
    fixed_features: Mapping[int, Any] | None,
    discrete_dims: Mapping[int, Sequence[float]] | None,
    one_hot: Sequence[Sequence[int]] = (),
) -> Domain:
    """Return the admissible points, in the coordinates of the model.

    Parameters
    ----------
    bounds : (2, d) tensor
        In float64, finite.
    inequality_constraints, equality_constraints : sequence of tuples, optional
        As BoTorch has them.
    fixed_features : mapping of int to float, optional
        Inputs that have one value.
    discrete_dims : mapping of int to sequence of float, optional
        Inputs that have a few values.
    one_hot : sequence of sequences of int
        Groups of inputs of which one is 1 and the others are 0.
    """
    lower, upper = ends_of(bounds)
    d = len(lower)
    grids: list[Grid | None] = [None] * d
    for index, values in (discrete_dims or {}).items():
        grids[_column(index, d, "discrete_dims")] = Grid.listed(np.unique(np.asarray(values)))
    for index, value in (fixed_features or {}).items():
        j = _column(index, d, "fixed_features")
        lower[j] = upper[j] = _fixed(value, j)
        grids[j] = None
    A, b = [], []
    for rows, signs, name in (
        (inequality_constraints, (-1.0,), "inequality_constraints"),
        (equality_constraints, (-1.0, 1.0), "equality_constraints"),
    ):
        for indices, coefficients, rhs in rows or ():
            row = _row(indices, coefficients, d, name)
            A += [sign * row for sign in signs]
            b += [sign * float(rhs) for sign in signs]
    return Domain(lower, upper, grids, one_hot, A=A or None, b=b or None)


def ends_of(bounds: Any) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper ends (d,), checked."""
    if not (isinstance(bounds, torch.Tensor) and bounds.ndim == 2 and len(bounds) == 2):
        shape = tuple(bounds.shape) if hasattr(bounds, "shape") else type(bounds).__name__
        raise InputError(f"bounds must be a tensor of shape (2, d); got {shape}; stack both ends.")
    if bounds.dtype != torch.float64:
        raise InputError(
            "bounds must be in torch.float64, in which candidates are returned; got "
            f"{bounds.dtype}; pass bounds.double()."
        )
    lower, upper = array(bounds)
    return lower.copy(), upper.copy()


def _row(indices: Any, coefficients: Any, d: int, name: str) -> FloatArray:
    """Return the coefficients (d,) of all inputs."""
    places = torch.as_tensor(indices)
    if places.ndim != 1:
        raise UnsupportedError(
            f"{name} must be about one point each, with indices of shape (k,); got the shape "
            f"{tuple(places.shape)}, of a row that joins several points; leave it out."
        )
    row = np.zeros(d)
    columns = [_column(int(one), d, name) for one in places.tolist()]
    np.add.at(row, columns, array(torch.as_tensor(coefficients)))
    return row


def _column(index: int, d: int, name: str) -> int:
    """Return the number of an input, which may be counted from the end."""
    if not -d <= index < d:
        raise InputError(f"{name} must name inputs 0 to {d - 1}; got {index}; count them from 0.")
    return int(index) % d


def _fixed(value: Any, j: int) -> float:
    given = torch.as_tensor(value)
    if given.numel() != 1:
        raise UnsupportedError(
            f"a fixed feature must have one value; got {given.numel()} for input {j}; maximize "
            "once for each."
        )
    return float(given.reshape(()).item())
