"""The user's dimensions and constraints, and the numeric domain the engines see."""

from __future__ import annotations

from nnbo_mip.space.constraints import LinearConstraint
from nnbo_mip.space.dimensions import Categorical, Integer, Real
from nnbo_mip.space.domain import Domain, ExclusionBoxes, Grid
from nnbo_mip.space.ordinal import Ordinal
from nnbo_mip.space.space import Space

__all__ = [
    "Space",
    "Real",
    "Integer",
    "Ordinal",
    "Categorical",
    "LinearConstraint",
    "Domain",
    "Grid",
    "ExclusionBoxes",
]
