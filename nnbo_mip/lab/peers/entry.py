"""A method of the user's own: the function that an experiment's file names."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from nnbo_mip.core.errors import InputError


def function_of(entry: str) -> Callable[..., Any]:
    """Return the function that ``module:function`` names; its module is imported."""
    module, _, name = entry.partition(":")
    function = getattr(importlib.import_module(module), name, None)
    if not callable(function):
        raise InputError(
            f"an entry must name a function of its module; {module!r} has no function {name!r}; "
            "write module:function."
        )
    made: Callable[..., Any] = function
    return made
