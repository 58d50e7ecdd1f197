"""Solvers behind one interface, by name.

>>> from nnbo_mip.exact import backends
>>> "highs" in backends.available()
True
"""

from __future__ import annotations

from nnbo_mip.exact.backends.base import Backend, Hooks, SolverAnswer, SolveRequest
from nnbo_mip.exact.backends.catalogue import get_backend, registry
from nnbo_mip.exact.backends.worker import run_stoppable

__all__ = [
    "Backend",
    "Hooks",
    "SolveRequest",
    "SolverAnswer",
    "available",
    "get_backend",
    "register",
    "run_stoppable",
    "unregister",
]

available = registry.available
register = registry.register
unregister = registry.unregister
