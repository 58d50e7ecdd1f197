"""What a journal says of a run as a whole: its settings, when it began, and with what."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nnbo_mip.loop.settings.settings import Settings

PACKAGES = ("nnbo_mip", "numpy", "scipy", "torch", "scikit-learn", "highspy")
"""Whose versions a journal names: the same ones make the same proposals."""


def provenance(settings: Settings) -> dict[str, Any]:
    """Return what the journal keeps, JSON-able."""
    return {
        "settings": settings.to_dict(),
        "created": datetime.now(UTC).isoformat(),
        "versions": {
            "python": platform.python_version(),
            **{package: installed(package) for package in PACKAGES},
        },
    }


@cache
def installed(package: str) -> str | None:
    """Return the version of a package; None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
