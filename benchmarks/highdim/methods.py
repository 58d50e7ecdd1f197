"""The methods: three families of ours, each plain, in trust regions, and through embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from benchmarks.regret.methods import DRAWN

FAMILIES = ("gp", "brvfl", "nomu")

WAYS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "": {"region": "none"},
        "/trust": {"region": "trust:failures=8"},
        "/few": {"region": "trust:failures=8,coordinates=5"},
        "/hashed": {"embedding": "hashed:dimension=10", "region": "none"},
        "/rembo": {"embedding": "rembo:dimension=6", "region": "none"},
        "/hashed+trust": {"embedding": "hashed:dimension=10", "region": "trust:failures=8"},
    }
)
"""How each family searches. A region of as many failures as there are variables, the usual rule,
would not shrink once in 50 evaluations of 100 variables."""


OURS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        f"{family}{way}": {"surrogate": family, **options}
        for family in FAMILIES
        for way, options in WAYS.items()
    }
)

METHODS: Mapping[str, Mapping[str, Any] | None] = MappingProxyType({**OURS, **DRAWN})


def embeds(name: str) -> bool:
    """Whether a method searches through an embedding."""
    return "embedding" in (METHODS[name] or ())
