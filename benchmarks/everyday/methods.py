"""The methods, all as their packages have them, each with its own starts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from benchmarks.everyday.tasks import Everyday
from nnbo_mip.lab.plan.methods import BASELINES

DEFAULT = "default"
"""`nm.optimize` with no option chosen."""

RANDOM = "random"

PEERS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "optuna-tpe": {"peer": "optuna:sampler=tpe"},
        "optuna-gp": {"peer": {"name": "optuna", "sampler": "gp", "exact": False}},
        "smac": {"peer": "smac:facade=blackbox"},
        "smac-hpo": {"peer": "smac:facade=hpo"},
        "ax": {"peer": "ax"},
    }
)
"""What a user of each would write first. SMAC's page names the facade `hpo` for tuning, and
`blackbox` for a few continuous inputs."""

MODELLED_BY_GP = ("optuna-gp", "smac", "ax")
"""Peers with a Gaussian process, with which the time of an ask is compared."""

METHODS: Mapping[str, Mapping[str, Any] | None] = MappingProxyType(
    {DEFAULT: {}, **PEERS, RANDOM: None}
)
"""Their labels with the keys of their tables; None for a baseline of the lab."""

HEAR_NOISE = ("smac", "smac-hpo", "ax")
"""Peers to which noise can be told; the runs of the others are the same, and are not made twice."""


def is_ours(method: str) -> bool:
    """Whether a method is of this package: the default, or a variant of a pilot run."""
    return method not in PEERS and method not in BASELINES


def fits(task: Everyday, method: str) -> bool:
    """Whether a method is run on a task."""
    if task.is_short and not is_ours(method):
        return False
    if task.told and not (is_ours(method) or method in HEAR_NOISE):
        return False
    if method == "smac-hpo":
        return task.group == "mixed"
    return method != "smac" or task.group != "mixed"
