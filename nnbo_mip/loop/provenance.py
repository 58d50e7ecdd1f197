"""What a journal says of a run as a whole: its settings, when it began, and with what."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from nnbo_mip.loop.settings import Settings

PACKAGES = ("nnbo_mip", "numpy", "scipy", "torch", "scikit-learn", "highspy")
"""Whose versions a journal names: the same ones make the same proposals."""


def provenance(settings: Settings) -> dict[str, Any]:
    """Return what the journal keeps, JSON-able."""
    return {
        "settings": settings.to_dict(),
        "created": datetime.now(UTC).isoformat(),
        "versions": {
            "python": platform.python_version(),
            **{package: _version(package) for package in PACKAGES},
        },
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
