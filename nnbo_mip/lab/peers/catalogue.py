"""The registry of peers."""

from __future__ import annotations

from nnbo_mip.core.registry import Registry
from nnbo_mip.lab.peers.base import Peer

_ROOM = "nnbo_mip.lab.peers"

registry: Registry[Peer] = Registry(
    "peer",
    Peer,
    {
        "ax": f"{_ROOM}.ax:Ax",
        "botorch": f"{_ROOM}.botorch:BoTorch",
        "cma": f"{_ROOM}.cma:Cma",
        "optuna": f"{_ROOM}.optuna:Optuna",
        "smac": f"{_ROOM}.smac:Smac",
    },
    group="nnbo_mip.peers",
)
"""Filled by the package, by entry points, and by `register`."""
