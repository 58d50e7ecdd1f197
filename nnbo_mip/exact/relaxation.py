r"""Linear relaxations of a network over many boxes at once (CROWN).

Over a box every pre-activation z is kept between two affine forms of the input,

    M(x) - H(x) <= z(x) <= M(x) + H(x),

M the middle and H the half difference. An affine map sends them to

    M_t = b_t + sum_k W_{t,k} M'_k,      H_t = sum_k |W_{t,k}| H'_k,

two matrix products instead of four. With proven l <= z <= u a ReLU lies between
``s_l z`` and ``s_u z + o_u``, where

    l >= 0:       s_l = s_u = 1, o_u = 0
    u <= 0:       s_l = s_u = 0, o_u = 0
    l < 0 < u:    s_u = u / (u - l), o_u = -s_u l,  s_l = 1 if u > -l else 0,

so with p = (s_u + s_l)/2, q = (s_u - s_l)/2 its forms are

    M' = p M + q H + o_u/2,      H' = q M + p H + o_u/2.

For nets of two hidden layers this equals the backward CROWN pass; for deeper nets the
backward pass is tighter and the forms are cheaper. Arrays carry the batch last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.exact.problem import Problem
from nnbo_mip.network.affine import FloatArray, dense


@dataclass(frozen=True, eq=False)
class Slopes:
    """Lines round each ReLU of a layer: ``lower z <= relu(z) <= upper z + offset``; (n, B) each."""

    lower: FloatArray
    upper: FloatArray
    offset: FloatArray


@dataclass(frozen=True, eq=False)
class Forms:
    """Affine forms of the input, one a row: ``coefficients . x + constants``."""

    coefficients: FloatArray  # (n, d, B), or (n, d, 1) where the same for the whole batch
    constants: FloatArray  # (n, B) or (n, 1)


def relu_slopes(lower: FloatArray, upper: FloatArray) -> Slopes:
    """Return the CROWN lines of ReLUs with pre-activation bounds (n, B)."""
    crossing = (lower < 0.0) & (upper > 0.0)
    width = np.where(crossing, upper - lower, 1.0)
    active = (lower >= 0.0).astype(np.float64)
    slope = np.where(crossing, upper / width, active)
    offset = np.where(crossing, -slope * lower, 0.0)
    flat = np.where(crossing, (upper > -lower).astype(np.float64), active)
    return Slopes(flat, slope, offset)
