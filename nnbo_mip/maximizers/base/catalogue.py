"""The registry of maximizers."""

from __future__ import annotations

from nnbo_mip.core.registry import Registry
from nnbo_mip.maximizers.base.abstract import Maximizer

_ROOM = "nnbo_mip.maximizers"

registry: Registry[Maximizer] = Registry(
    "maximizer",
    Maximizer,
    {
        "auto": f"{_ROOM}.exact:Auto",
        "mip": f"{_ROOM}.exact:Mip",
        "bab": f"{_ROOM}.exact:Bab",
        "enumerate": f"{_ROOM}.exact:Enumerate",
        "grid": f"{_ROOM}.heuristics.grid:Grid",
        "direct": f"{_ROOM}.heuristics.direct:Direct",
        "scipydirect": f"{_ROOM}.heuristics.scipydirect:ScipyDirect",
        "lbfgs": f"{_ROOM}.heuristics.lbfgs:Lbfgs",
        "lbfgs:classic": f"{_ROOM}.heuristics.lbfgs:classic",
        "lbfgs:botorch": f"{_ROOM}.heuristics.lbfgs:botorch",
        "lbfgs:weak": f"{_ROOM}.heuristics.lbfgs:weak",
        "pga": f"{_ROOM}.heuristics.pga:Pga",
        "random": f"{_ROOM}.heuristics.random_search:Random",
        "sobol": f"{_ROOM}.heuristics.sobol:Sobol",
        "candidates": f"{_ROOM}.heuristics.candidates:Candidates",
        "exchange": f"{_ROOM}.heuristics.exchange:Exchange",
        "epsilon_random": f"{_ROOM}.heuristics.epsilon_random:EpsilonRandom",
    },
    group="nnbo_mip.maximizers",
)
"""Filled by the package, by entry points, and by `register`."""
