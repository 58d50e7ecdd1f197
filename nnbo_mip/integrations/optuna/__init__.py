"""A sampler and a terminator for Optuna: the next trial with a proof, the end of a study with one.

They need the extra ``optuna``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nnbo_mip.core.extras import Extra

if TYPE_CHECKING:
    from nnbo_mip.integrations.optuna.sampler import CertifiedSampler as CertifiedSampler
    from nnbo_mip.integrations.optuna.terminator import CertifiedTerminator as CertifiedTerminator

_HOMES = {
    "CertifiedSampler": "nnbo_mip.integrations.optuna.sampler",
    "CertifiedTerminator": "nnbo_mip.integrations.optuna.terminator",
}

__all__ = ["CertifiedSampler", "CertifiedTerminator"]

OPTUNA = Extra("optuna", "optuna", "the Optuna sampler", "use nm.optimize")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    OPTUNA.load()
    return getattr(import_module(_HOMES[name]), name)
