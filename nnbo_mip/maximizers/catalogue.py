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
        "grid": f"{_ROOM}.grid:Grid",
        "direct": f"{_ROOM}.direct:Direct",
        "scipydirect": f"{_ROOM}.scipydirect:ScipyDirect",
        "lbfgs": f"{_ROOM}.lbfgs:Lbfgs",
        "lbfgs:classic": f"{_ROOM}.lbfgs:classic",
        "lbfgs:botorch": f"{_ROOM}.lbfgs:botorch",
        "lbfgs:weak": f"{_ROOM}.lbfgs:weak",
        "pga": f"{_ROOM}.pga:Pga",
        "random": f"{_ROOM}.random_search:Random",
        "sobol": f"{_ROOM}.sobol:Sobol",
        "candidates": f"{_ROOM}.candidates:Candidates",
        "epsilon_random": f"{_ROOM}.epsilon_random:EpsilonRandom",
    },
    group="nnbo_mip.maximizers",
)
"""Filled by the package, by entry points, and by `register`."""
