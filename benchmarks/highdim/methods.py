"""The methods: three families of ours, each plain, in trust regions, and through embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from benchmarks.regret.methods import DRAWN, Method

FAMILIES = ("gp", "brvfl", "nomu")

WAYS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "": {"region": None},
        "/trust": {"region": "trust:failures=8"},
        "/few": {"region": "trust:failures=8,coordinates=5"},
        "/hashed": {"embedding": "hashed:dimension=10", "region": None},
        "/rembo": {"embedding": "rembo:dimension=6", "region": None},
        "/hashed+trust": {"embedding": "hashed:dimension=10", "region": "trust:failures=8"},
    }
)
"""How each family searches. A region of as many failures as there are variables, the usual rule,
would not shrink once in 50 evaluations of 100 variables."""


def _ours(**options: Any) -> Method:
    packages = ("nnbo_mip", "numpy", "scipy", "torch")
    return Method("benchmarks.highdim.ours", options, packages, is_ours=True)


OURS: Mapping[str, Method] = MappingProxyType(
    {
        f"{family}{way}": _ours(surrogate=family, **options)
        for family in FAMILIES
        for way, options in WAYS.items()
    }
)

METHODS: Mapping[str, Method] = MappingProxyType({**OURS, **DRAWN})


def embeds(name: str) -> bool:
    """Whether a method searches through an embedding."""
    return "embedding" in METHODS[name].options
