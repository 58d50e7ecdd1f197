"""Copies and pickles of frozen dataclasses, made by their constructors.

A read-only mapping can be neither pickled nor deep-copied, and a read-only array comes back
writable. A class that freezes what it is given in ``__post_init__`` does so once more where its
copy is made by the constructor.

>>> import pickle
>>> import numpy as np
>>> from nnbo_mip.exact.search.result import SearchResult
>>> again = pickle.loads(pickle.dumps(SearchResult(x=np.zeros(2), counters={"boxes": 3})))
>>> dict(again.counters), again.x.flags.writeable
({'boxes': 3}, False)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from types import MappingProxyType
from typing import Any


class Rebuilt:
    """A base of frozen dataclasses: what is copied, or sent to other processes, is built again."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[type, dict[str, Any]]]:
        """Name the constructor and what it is given; cached properties are left behind."""
        given: Any = self
        values = {entry.name: getattr(given, entry.name) for entry in fields(given) if entry.init}
        return _built, (type(self), {name: _open(value) for name, value in values.items()})


def _open(value: Any) -> Any:
    return dict(value) if isinstance(value, MappingProxyType) else value


def _built(kind: type, values: dict[str, Any]) -> Any:
    return kind(**values)
