"""The registry of maximizers."""

from __future__ import annotations

from nnbo_mip.maximizers.abstract import Maximizer
from nnbo_mip.registry import Registry

_ROOM = "nnbo_mip.maximizers"

registry: Registry[Maximizer] = Registry(
    "maximizer",
    Maximizer,  # type: ignore[type-abstract]
    {
        "auto": f"{_ROOM}.exact:Auto",
        "mip": f"{_ROOM}.exact:Mip",
        "bab": f"{_ROOM}.exact:Bab",
        "enumerate": f"{_ROOM}.exact:Enumerate",
    },
    group="nnbo_mip.maximizers",
)
"""Filled by the package, by entry points, and by `register`."""
