"""Observations in, beliefs out: one module a family, one protocol, one registry.

>>> import nnbo_mip as nm
>>> belief = nm.surrogates.create("brvfl", seed=0).fit([[-1.0], [0.0], [1.0]], [0.0, 1.0, 0.5])
>>> belief.mean([[0.5]]).shape
(1,)

A surrogate of your own derives from `Surrogate`, its belief from `Belief`; `register` gives it a
name. To be maximized with a proof, the belief says how it is read (`Belief.posterior`):

members             return a `MemberBelief` of a `Stack`: nothing else is needed
std is an output    let `network` return outputs ``mean`` and ``std``: nothing else is needed
any other std       let `posterior` return a form of `nnbo_mip.scores`, such as `QuadraticPosterior`

`tests/surrogates/plug_ins.py` has an example of the last two, and
`nnbo_mip.testing.surrogate_contract` the tests that yours inherits.
"""

from __future__ import annotations

from nnbo_mip.surrogates.base.abstract import (
    Belief,
    Capability,
    Surrogate,
    ValueGradient,
    check_scale,
)
from nnbo_mip.surrogates.base.families import registry
from nnbo_mip.surrogates.base.observations import Observations, Standardization
from nnbo_mip.surrogates.base.storage import load
from nnbo_mip.surrogates.ensembles.members import MemberBelief
from nnbo_mip.surrogates.ensembles.stack import Stack

__all__ = [
    "Belief",
    "Capability",
    "MemberBelief",
    "Observations",
    "Stack",
    "Standardization",
    "Surrogate",
    "ValueGradient",
    "available",
    "check_scale",
    "create",
    "load",
    "register",
    "unregister",
]

available = registry.available
create = registry.create
register = registry.register
unregister = registry.unregister
