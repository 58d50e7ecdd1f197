"""Settings that every test shares."""

from __future__ import annotations

import os
import signal
import tomllib
from collections.abc import Generator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

REPORTED_PACKAGES = (
    *("numpy", "scipy", "torch", "highspy", "pulp", "pyscipopt", "gurobipy", "scipydirect"),
)

# No deadline: the first call of a compiled kernel is slow, and no test is about time. On a
# build server every run draws the same examples; elsewhere each run draws new ones.
settings.register_profile("here", deadline=None)
settings.register_profile("build server", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("build server" if os.environ.get("CI") else "here")


KNOWN_SKIPS = pytest.StashKey[list[dict[str, str]] | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer what .ci/run asks for."""
    parser.addoption(
        "--known-skips",
        metavar="FILE",
        help="fail where a test is skipped that this file does not expect (as .ci/skips.toml)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the known skips.

    Hear SIGINT, which a job in the background ignores and passes on to its children.
    """
    file = config.getoption("known_skips")
    skips = tomllib.loads(Path(file).read_text(encoding="utf-8"))["skip"] if file else None
    config.stash[KNOWN_SKIPS] = skips
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    """Name the versions that a failure may hang on."""
    return "packages: " + ", ".join(f"{name} {_version(name)}" for name in REPORTED_PACKAGES)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, pytest.TestReport]:
    """Judge the skip of a test."""
    return _judged(item.config, (yield))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, Any, pytest.CollectReport]:
    """Judge the skip of a whole module."""
    return _judged(collector.config, (yield))


def _judged(config: pytest.Config, report: Any) -> Any:
    """Turn a skip that is not expected into a failure."""
    known = config.stash[KNOWN_SKIPS]
    if known is not None and report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if not any(
            report.nodeid.startswith(skip["test"]) and skip["says"] in reason for skip in known
        ):
            report.outcome = "failed"
            report.longrepr = f"{reason}\nThis skip is not in {config.getoption('known_skips')}."
    return report


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
