"""Stop rules: when a run has found enough, by counts or with a proof.

>>> import nnbo_mip as nm
>>> nm.stopping.create("regret:tolerance=0.01")
Regret(tolerance=0.01, delta=0.1, nu=0.2, calibrate=True)
>>> nm.stopping.stop_of("target:value=1e-3|patience:evaluations=20").name
'any'
"""

from __future__ import annotations

from nnbo_mip.loop.stopping.bounds import ImprovementBound, RegretBound
from nnbo_mip.loop.stopping.catalogue import registry, stop_of
from nnbo_mip.loop.stopping.rule import Standing, StopRule, Verdict

__all__ = [
    "ImprovementBound",
    "RegretBound",
    "Standing",
    "StopRule",
    "Verdict",
    "available",
    "create",
    "register",
    "stop_of",
    "unregister",
]

available = registry.available
create = registry.create
register = registry.register
unregister = registry.unregister
