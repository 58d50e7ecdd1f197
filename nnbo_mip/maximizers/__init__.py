"""Maximizers: the best next point of an acquisition, with or without a proof.

>>> import nnbo_mip as nm
>>> "mip" in nm.maximizers.available()
True
"""

from __future__ import annotations

from nnbo_mip.maximizers.base.abstract import Abilities, Maximizer, Proposal, Request
from nnbo_mip.maximizers.base.catalogue import registry
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.heuristic import Heuristic

__all__ = [
    "Abilities",
    "Heuristic",
    "Maximizer",
    "Proposal",
    "Request",
    "Target",
    "available",
    "create",
    "register",
    "unregister",
]

available = registry.available
create = registry.create
register = registry.register
unregister = registry.unregister
