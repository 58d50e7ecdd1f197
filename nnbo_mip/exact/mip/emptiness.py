"""Whether a domain holds no admissible point at all, by a solver and a second opinion."""

from __future__ import annotations

import numpy as np

from nnbo_mip.exact.backends.base import Backend, SolveRequest
from nnbo_mip.exact.backends.selftest import ensure_sound
from nnbo_mip.exact.formulation import encode
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain


def is_empty(domain: Domain, backend: Backend, monitor: Monitor) -> bool:
    """Whether a solver, with presolve and without, finds no point in the relaxed domain.

    Its rows are those of the integer programs: relaxed by more than the solver's
    tolerance, so that an admissible point cannot be missed by rounding.
    """
    ensure_sound(backend)
    nothing = Affine(np.zeros(1), {0: np.zeros((1, domain.dimension))})
    model = encode(Problem(Network(domain.dimension, (), nothing), domain), []).model
    for presolve in (True, False):
        request = SolveRequest(time_limit=monitor.remaining(), presolve=presolve)
        if backend.solve(model, request).status != "infeasible":
            return False
    return True
