"""What all contracts share: tests that are only for what offers something.

    class MineContract(Contract):
        def offers(self):
            return frozenset(self.make().capabilities)

        @needs(Capability.RATIO)
        def test_a_ratio_is_never_negative(self):
            ...

Pytest leaves such a test out of a class that does not offer what it needs: it is neither passed
nor skipped there. Whoever claims to offer something meets its tests, and fails them if it does
not. Nothing has to be set up: the contracts tell pytest themselves.
"""

from __future__ import annotations

import abc
import sys
from collections.abc import Callable
from functools import cache
from typing import TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., None])

_NEEDED = "needed_by_this_test"


def needs(*offers: object) -> Callable[[Test], Test]:
    """Keep a test of a contract for the classes whose `Contract.offers` has all of these."""

    def marked(test: Test) -> Test:
        setattr(test, _NEEDED, frozenset(offers))
        return test

    return marked


class Contract(abc.ABC):
    """The base of the contracts; a plug-in's author subclasses one of theirs."""

    @abc.abstractmethod
    def offers(self) -> frozenset[object]:
        """Return what the thing that is tried claims to offer."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Register the hook of this module; pytest calls this when it collects a test."""
        if not metafunc.config.pluginmanager.has_plugin(__name__):
            metafunc.config.pluginmanager.register(sys.modules[__name__], __name__)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that need what their classes do not offer."""
    left_out = [item for item in items if not _applies(item)]
    if left_out:
        kept = set(items).difference(left_out)
        items[:] = [item for item in items if item in kept]
        config.hook.pytest_deselected(items=left_out)


def _applies(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return True
    needed: frozenset[object] = getattr(item.function, _NEEDED, frozenset())
    offered = _offers(item.cls) if needed else None
    return offered is None or needed <= offered


@cache
def _offers(contract: type[Contract]) -> frozenset[object] | None:
    """Return what a class offers; None if that cannot be asked, which its tests then say."""
    try:
        return contract().offers()
    except Exception:
        return None
