"""Solvers behind one interface, by name."""

from __future__ import annotations

from nnbo_mip.exact.backends.base import Backend, Hooks, SolverAnswer, SolveRequest
from nnbo_mip.exact.backends.registry import available_backends, get_backend

__all__ = [
    "Backend",
    "Hooks",
    "SolveRequest",
    "SolverAnswer",
    "available_backends",
    "get_backend",
]
