"""The methods: tables of an experiment's file."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from nnbo_mip.lab.plan.methods import BASELINES

DEFAULT = "default"
"""`nm.optimize` with no option chosen: with the exact maximizer, a Gaussian process up to six
inputs, so that there is no other method of these two, and the RVFL network beyond."""

RANDOM = "random"

FAMILIES = ("nomu", "deep_ensemble", "brvfl", "gp")

OURS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {DEFAULT: {}}
    | {
        f"{family}/{maximizer}": {"surrogate": family, "maximizer": maximizer}
        for family in FAMILIES
        for maximizer in ("auto", "lbfgs")
        if (family, maximizer) != ("gp", "auto")
    }
)

PEERS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "botorch": {"peer": "botorch"},
        "optuna-tpe": {"peer": "optuna:sampler=tpe"},
        "optuna-gp": {"peer": "optuna:sampler=gp"},
        "smac": {"peer": "smac:facade=blackbox"},
        "smac-hpo": {"peer": "smac:facade=hpo"},
        "cma": {"peer": "cma"},
    }
)

DRAWN: Mapping[str, None] = MappingProxyType(dict.fromkeys(BASELINES))

METHODS: Mapping[str, Mapping[str, Any] | None] = MappingProxyType({**OURS, **PEERS, **DRAWN})
"""Their labels with the keys of their tables; None for a baseline of the lab."""
