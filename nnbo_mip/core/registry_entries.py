"""What a registry knows, in a form that can be shown: names, what they are, their options.

>>> from nnbo_mip.core.registry_entries import entries
>>> from nnbo_mip.maximizers.base.catalogue import registry
>>> random = next(entry for entry in entries(registry) if entry.name == "random")
>>> random.summary
'Score uniform random points of the domain.'
>>> [str(option) for option in random.options]
['evaluations=10000', 'time_limit=inf']
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nnbo_mip.core.errors import NnboError
from nnbo_mip.core.registry import Registry

NEEDED = "…"
"""Stands for the value of an option without default."""


@dataclass(frozen=True)
class Option:
    """An option of a strategy.

    Parameters
    ----------
    name : str
    default : str
        As it would be written; empty where there is none.
    """

    name: str
    default: str

    def __str__(self) -> str:
        return f"{self.name}={self.default or NEEDED}"


@dataclass(frozen=True)
class Entry:
    """A name of a registry.

    Parameters
    ----------
    name : str
    summary : str
        The first paragraph of its documentation, or why it cannot be had.
    options : tuple of Option
    experimental : bool
        Whether it is research, which may change or go.
    """

    name: str
    summary: str
    options: tuple[Option, ...]
    experimental: bool = False


def entries(registry: Registry[Any]) -> tuple[Entry, ...]:
    """Return what a registry knows, sorted by name."""
    return tuple(_entry(registry, name) for name in registry.available())


def _entry(registry: Registry[Any], name: str) -> Entry:
    try:
        factory = registry.factory(name)
    except NnboError as error:  # somebody else's plug-in
        return Entry(name, f"Cannot be had: {error}", ())
    parameters = inspect.signature(factory).parameters.values()
    plain = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    options = tuple(Option(p.name, "" if p.default is p.empty else repr(p.default)) for p in plain)
    return Entry(name, _summary(factory), options, registry.is_experimental(name))


def _summary(factory: Callable[..., object]) -> str:
    """Return the first paragraph of a documentation as one line, without its markup."""
    if isinstance(factory, functools.partial):
        fixed = ", ".join(f"{name}={value!r}" for name, value in factory.keywords.items())
        return f"{_summary(factory.func)[:-1]}, with {fixed}."
    documentation = inspect.getdoc(factory) or ""
    paragraph = documentation.partition("\n\n")[0]
    return " ".join(paragraph.replace("`", "").split())
