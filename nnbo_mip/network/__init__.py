"""The piecewise-linear network every compilable belief becomes."""

from __future__ import annotations

from nnbo_mip.network.graph import Affine, Network

__all__ = ["Affine", "Network"]
