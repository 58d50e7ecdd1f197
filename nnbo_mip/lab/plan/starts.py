"""The problem of an instance, and the starts that all methods share on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.designs.designs import Design, design_of
from nnbo_mip.loop.settings.settings import Purpose, seed_for
from nnbo_mip.problems.catalogue import registry as problems
from nnbo_mip.problems.problem import Problem
from nnbo_mip.space.space import Space

PLACEHOLDER = "{instance}"
"""In the texts of a problem or of starts, stands for the instance."""


def problem_of(spec: Any, instance: int) -> Problem:
    """Return the problem of an instance; units that follow one another may share it."""
    return _problem(json.dumps(_filled(spec, instance), sort_keys=True))


def design_for(starts: Any, instance: int) -> Design:
    """Return the design of an instance, of what a file or a unit says of its starts."""
    return design_of(_filled(starts, instance))


def shared_starts(design: Design, space: Space, instance: int) -> FloatArray:
    """Return the starts of an instance (n, k), those of an optimizer with this seed and design."""
    return design.points(space, seed_for(instance, 0, Purpose.DESIGN))


@lru_cache(maxsize=4)
def _problem(description: str) -> Problem:
    """Return what a description in JSON stands for; spaces and data sets take time to make."""
    return problems.create(json.loads(description))


def _filled(spec: Any, instance: int) -> Any:
    """Return a description with the instance in the place of its placeholder."""
    if isinstance(spec, str):
        return spec.replace(PLACEHOLDER, str(instance))
    if isinstance(spec, Mapping):
        # A text that is nothing but the placeholder is a number.
        return {
            key: instance if value == PLACEHOLDER else _filled(value, instance)
            for key, value in spec.items()
        }
    return spec
