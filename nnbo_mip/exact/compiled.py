"""Compiled kernels, kept on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from numba import njit

Kernel: TypeAlias = Callable[..., Any]


def compiled(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a function with numba, and keep the result beside it or in the user's cache.

    Where neither folder can be written, numba refuses to cache at all; the function is then
    compiled anew in every process.

    Parameters
    ----------
    **options
        What `numba.njit` takes.
    """

    def decorate(function: Kernel) -> Kernel:
        try:
            kernel: Kernel = njit(cache=True, **options)(function)
        except RuntimeError:
            kernel = njit(**options)(function)
        return kernel

    return decorate
