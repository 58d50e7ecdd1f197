"""The user's dimensions and constraints, and the numeric domain the engines see."""

from __future__ import annotations

from nnbo_mip.space.domain import Domain, Grid

__all__ = ["Domain", "Grid"]
