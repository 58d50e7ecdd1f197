"""Compiled kernels, kept on disk where that is possible; Ctrl-C waits for the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from numba import njit
from numba.core import event as compiler

from nnbo_mip.core.control import held

Kernel: TypeAlias = Callable[..., Any]


def compiled(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a function with numba, and keep the result beside it or in the user's cache.

    Where neither folder can be written, numba refuses to cache at all; the function is then
    compiled anew in every process. An exception in the middle of numba and LLVM can end the
    process, so Ctrl-C is answered when they are done.

    Parameters
    ----------
    **options
        What `numba.njit` takes.
    """

    def decorate(function: Kernel) -> Kernel:
        try:
            kernel: Any = njit(cache=True, **options)(function)
        except RuntimeError:
            kernel = njit(**options)(function)
        kernel.compile = _uninterrupted(kernel.compile)
        return kernel  # type: ignore[no-any-return]  # numba has no types

    return decorate


def _uninterrupted(compile_for: Kernel) -> Kernel:
    """Hold Ctrl-C back while a kernel is compiled, or loaded from the disk."""

    def compile_undisturbed(signature: Any) -> Any:
        with held():
            return compile_for(signature)

    return compile_undisturbed


class _Starts(compiler.Listener):
    """Calls a function when the first of some compilations starts."""

    def __init__(self, say: Callable[[], None]) -> None:
        self._say = say
        self._said = False

    def on_start(self, event: compiler.Event) -> None:
        if not self._said:
            self._said = True
            self._say()

    def on_end(self, event: compiler.Event) -> None:
        pass


@contextmanager
def announced(say: Callable[[], None]) -> Iterator[None]:
    """Call `say` once if a kernel is compiled in the block, rather than loaded."""
    with compiler.install_listener("numba:compile", _Starts(say)):
        yield
