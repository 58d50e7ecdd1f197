"""A problem as a mixed-integer linear program of plain arrays."""

from __future__ import annotations

from nnbo_mip.exact.formulation.encoding import FORMULATIONS, Encoding, encode
from nnbo_mip.exact.formulation.model import MilpModel
from nnbo_mip.exact.formulation.tolerance import Tolerances, bound_inflation

__all__ = ["FORMULATIONS", "Encoding", "MilpModel", "Tolerances", "bound_inflation", "encode"]
