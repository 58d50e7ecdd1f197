"""Where constants differ between texts: the option ``source`` of a problem says whose are used."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nnbo_mip.core.errors import InputError

SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "000": "thesis on sample-efficient optimization with neural networks (RVFL, IVBNN)",
        "001": "thesis on deep probabilistic surrogate models (GP, BNN, KDE, GMM, SPN)",
        "002": "project on Bayesian optimisation with networks by hybrid Monte Carlo",
        "003": "paper on Bayesian optimisation as density-ratio estimation (BOGGN)",
        "004": "thesis on uncertainty bounds of neural networks (NOMU, dynamic C)",
    }
)
"""What the numbers of the sources stand for."""


def check_source(name: str, source: object, choices: tuple[str, ...]) -> str:
    """Return whose constants are meant; 4 and 0 count as "004" and "000"."""
    whole = isinstance(source, int) and not isinstance(source, bool)
    label = f"{source:03d}" if whole else source
    if not isinstance(label, str) or label not in choices:
        raise InputError(
            f"the source of {name!r} must be one of {', '.join(choices)}; got {source!r}; "
            "choose one of them."
        )
    return label


def label(name: str, **options: object) -> str:
    """Return ``name:option=value,…``, from which `create` makes the problem again."""
    listed = ",".join(f"{option}={value}" for option, value in options.items())
    return f"{name}:{listed}"
