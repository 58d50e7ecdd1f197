"""Acquisitions: options that data turn into a head, a score of points to maximize.

>>> import nnbo_mip as nm
>>> belief = nm.surrogates.create("gp", seed=0).fit([[-1.0], [0.0], [1.0]], [0.0, 1.0, 0.5])
>>> ei = nm.acquisitions.create("ei", xi=0.01)
>>> ei.resolve(belief, y=[0.0, 1.0, 0.5])
ExpectedImprovement(threshold=1.01, log=False)
>>> nm.acquisitions.create("ucb:beta=2").score(belief, [[0.3], [0.6]]).shape
(2,)
"""

from __future__ import annotations

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.catalogue import registry
from nnbo_mip.acquisitions.base.context import Context, check_incumbent
from nnbo_mip.acquisitions.base.criterion import Choice, Criterion
from nnbo_mip.acquisitions.base.schedules import Schedule
from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.scores.base.abstract import Head, MemberHead, MixtureHead, MomentHead, Shape, Trend

__all__ = [
    "Acquisition",
    "Choice",
    "Criterion",
    "Context",
    "Head",
    "MemberHead",
    "MixtureHead",
    "MomentHead",
    "Schedule",
    "Scorer",
    "Shape",
    "Trend",
    "available",
    "check_incumbent",
    "create",
    "register",
    "unregister",
]

available = registry.available
create = registry.create
register = registry.register
unregister = registry.unregister
