"""Ax: an acquisition whose candidates are maximized with a proof.

It needs the extra ``ax``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nnbo_mip.core.extras import Extra

if TYPE_CHECKING:
    from nnbo_mip.integrations.ax.acquisition import CertifiedAcquisition as CertifiedAcquisition
    from nnbo_mip.integrations.ax.strategy import certified_strategy as certified_strategy

_ROOM = "nnbo_mip.integrations.ax"

_HOMES = {
    "CertifiedAcquisition": f"{_ROOM}.acquisition",
    "certified_strategy": f"{_ROOM}.strategy",
}

__all__ = ["CertifiedAcquisition", "certified_strategy"]

AX = Extra(
    "ax",
    "ax.generators.torch.botorch_modular.acquisition",
    "the Ax integration",
    "use nm.optimize",
)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    AX.load()
    return getattr(import_module(_HOMES[name]), name)
