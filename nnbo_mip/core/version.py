"""The version of the installed package, and of those on which it stands."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("nnbo_mip")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+unknown"

PACKAGES = ("nnbo_mip", "numpy", "scipy", "torch", "scikit-learn", "highspy")
"""Whose versions a journal names: the same ones make the same proposals."""


@cache
def installed(package: str) -> str | None:
    """Return the version of a package; None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
