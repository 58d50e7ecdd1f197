"""The piecewise-linear network every compilable belief becomes."""

from __future__ import annotations

from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network

__all__ = ["Affine", "GraphBuilder", "Network"]
