"""Presets: a family under another name, with other values of some options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

S = TypeVar("S")


def preset(family: type[S], summary: str, **values: Any) -> Callable[..., S]:
    """Return a factory whose options are those of the family, with these defaults.

    Parameters
    ----------
    family : type
        A dataclass of options.
    summary : str
        One sentence, shown in lists.
    **values
        Defaults that differ from the family's.
    """

    def make(**options: Any) -> S:
        return family(**{**values, **options})

    signature = inspect.signature(family)
    parameters = [
        parameter.replace(default=values.get(name, parameter.default))
        for name, parameter in signature.parameters.items()
    ]
    make.__doc__ = summary
    make.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return make
