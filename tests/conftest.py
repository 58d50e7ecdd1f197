"""Settings that every test shares."""

from __future__ import annotations

import os
import signal
from importlib.metadata import PackageNotFoundError, version

from hypothesis import settings

REPORTED_PACKAGES = ("numpy", "scipy", "torch", "highspy", "pulp", "pyscipopt", "scipydirect")

# No deadline: the first call of a compiled kernel is slow, and no test is about time. On a
# build server every run draws the same examples; elsewhere each run draws new ones.
settings.register_profile("here", deadline=None)
settings.register_profile("build server", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("build server" if os.environ.get("CI") else "here")


def pytest_configure() -> None:
    """Hear SIGINT, which a job in the background ignores and passes on to its children."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    """Name the versions that a failure may hang on."""
    return "packages: " + ", ".join(f"{name} {_version(name)}" for name in REPORTED_PACKAGES)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
