"""Named ways of making a run: options of `optimize`, and a rule for the number of starts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from nnbo_mip.loop.settings.defaults import FAMILY_OPTIONS

WAYS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "default": {},
        "random": {},
        "botorch": {},
        "cma": {},
        "tpe": {"peer": "optuna:sampler=tpe"},
        "aei": {"acquisition": "aei"},
        "8+2d": {"starts": [8, 2, 1.0]},
        "5": {"starts": [5, 0, 1.0]},
        "5+d/2": {"starts": [5, 0.5, 1.0]},
        "3+d": {"starts": [3, 1.0, 1.0]},
        "n/4": {"starts": [2, 2, 0.25]},
        "gp": {"surrogate": "gp", "region": None, "warp": "asinh"},
        "gp ranks": {"surrogate": "gp", "region": None, "warp": "half_rank"},
        "gp region": {"surrogate": "gp", "region": "trust:failures=5", "warp": "asinh"},
        "gp region ranks": {"surrogate": "gp", "region": "trust:failures=5", "warp": "half_rank"},
        "brvfl region": {
            "surrogate": "brvfl",
            "region": "trust:failures=5",
            "warp": "half_rank",
        },
        "overlap": {"surrogate": "gp", "region": None, "starts": [8, 0, 1.0]},
        "one a level": {
            "surrogate": {"name": "gp", **FAMILY_OPTIONS["gp"], "categories": []},
            "region": None,
            "starts": [8, 0, 1.0],
        },
    }
)
"""By their labels; more with ``--way``. The last two differ in the length-scales of categories."""
