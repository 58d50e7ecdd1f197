"""The eight variants of random vector functional link networks, as names.

==================  ==========  ===========
variants            activation  direct link
==================  ==========  ===========
brvfl1, ervfl1      tanh        no
brvfl2, ervfl2      tanh        yes
brvfl3, ervfl3      relu        no
brvfl4, ervfl4      relu        yes
==================  ==========  ===========

All have 300 hidden units and noise precision 1000, learn alpha, and include the noise in
their std.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.rvfl.brvfl import Brvfl
from nnbo_mip.surrogates.rvfl.ervfl import Ervfl

S = TypeVar("S", Brvfl, Ervfl)


def brvfl1(**options: Any) -> Brvfl:
    """Bayesian, tanh, no direct link."""
    return _variant(Brvfl, "tanh", False, options)


def brvfl2(**options: Any) -> Brvfl:
    """Bayesian, tanh, with the direct link."""
    return _variant(Brvfl, "tanh", True, options)


def brvfl3(**options: Any) -> Brvfl:
    """Bayesian, relu, no direct link."""
    return _variant(Brvfl, "relu", False, options)


def brvfl4(**options: Any) -> Brvfl:
    """Bayesian, relu, with the direct link."""
    return _variant(Brvfl, "relu", True, options)


def ervfl1(**options: Any) -> Ervfl:
    """Ensemble, tanh, no direct link."""
    return _variant(Ervfl, "tanh", False, options)


def ervfl2(**options: Any) -> Ervfl:
    """Ensemble, tanh, with the direct link."""
    return _variant(Ervfl, "tanh", True, options)


def ervfl3(**options: Any) -> Ervfl:
    """Ensemble, relu, no direct link."""
    return _variant(Ervfl, "relu", False, options)


def ervfl4(**options: Any) -> Ervfl:
    """Ensemble, relu, with the direct link."""
    return _variant(Ervfl, "relu", True, options)


def _variant(family: type[S], activation: str, direct_link: bool, options: Mapping[str, Any]) -> S:
    fixed = {"activation": activation, "direct_link": direct_link}
    free = [field.name for field in fields(family) if field.init and field.name not in fixed]
    for option in options:
        if option not in free:
            raise InputError(
                f"the options of a {family.name} preset are {', '.join(free)}; got {option!r}; "
                f"drop it, or use {family.name!r} itself."
            )
    return family(**{"include_noise": True, **fixed, **options})
