"""BoTorch: its acquisition functions maximized with a proof, our beliefs as its models.

They need the extra ``botorch``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nnbo_mip.core.extras import Extra

if TYPE_CHECKING:
    from nnbo_mip.integrations.botorch.certified import CertifiedCandidates as CertifiedCandidates
    from nnbo_mip.integrations.botorch.certified import certify_acqf as certify_acqf
    from nnbo_mip.integrations.botorch.models import BeliefModel as BeliefModel
    from nnbo_mip.integrations.botorch.models import as_botorch as as_botorch
    from nnbo_mip.integrations.botorch.optimizing import (
        optimize_acqf_certified as optimize_acqf_certified,
    )
    from nnbo_mip.integrations.botorch.reading import as_belief as as_belief

_ROOM = "nnbo_mip.integrations.botorch"

_HOMES = {
    "BeliefModel": f"{_ROOM}.models",
    "CertifiedCandidates": f"{_ROOM}.certified",
    "as_belief": f"{_ROOM}.reading",
    "as_botorch": f"{_ROOM}.models",
    "certify_acqf": f"{_ROOM}.certified",
    "optimize_acqf_certified": f"{_ROOM}.optimizing",
}

__all__ = [
    "BeliefModel",
    "CertifiedCandidates",
    "as_belief",
    "as_botorch",
    "certify_acqf",
    "optimize_acqf_certified",
]

BOTORCH = Extra("botorch", "botorch", "the BoTorch integration", "use nm.maximize")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    BOTORCH.load()
    return getattr(import_module(_HOMES[name]), name)
