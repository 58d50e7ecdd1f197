"""Where an exact search begins: the best point that ascents from many starts find.

Branch and bound over many inputs spends its time on bounds. With 20 inputs or more it rarely
closes, and what it returns is then as good as the points that it happened to look at.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nnbo_mip.maximizers.base.abstract import Request
from nnbo_mip.maximizers.base.proposal import Proposal
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.lbfgs import Lbfgs

FEWEST_INPUTS = 4
"""Free coordinates from which ascents come first; with fewer, boxes find the best point as fast."""

ASCENTS = Lbfgs(raw_samples=256, starts=8)

SHARE = 0.5
"""Of the time that ascents may take."""


def warm_start(target: Target, request: Request, time_limit: float) -> Proposal | None:
    """Return the best point that ascents find, None where they are not worth their time.

    Parameters
    ----------
    target : Target
    request : Request
    time_limit : float
        Wall seconds of the whole search.
    """
    domain = target.domain
    if np.count_nonzero(domain.lower < domain.upper) < FEWEST_INPUTS or ASCENTS.why_not(target):
        return None
    asked = replace(request, time_limit=SHARE * time_limit, callback=None)
    return ASCENTS.maximize(target, asked)
