"""`Method`: one column of an experiment's comparison."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nnbo_mip.lab.plan.experiment_file import Section
from nnbo_mip.problems.problem import Problem

AXES = ("surrogate", "acquisition", "maximizer", "budget")
"""Have columns of their own in the store; what else varies is the variant."""

DEFAULT = "default"
"""What is written for an option that is left out while others name it."""


@dataclass(frozen=True)
class Method(abc.ABC):
    """One combination.

    Parameters
    ----------
    label : str
    chosen : mapping
        The keys of the file with one value each.
    section : Section or None
        The table that it is of; None for a baseline.
    """

    label: str
    chosen: Mapping[str, Any]
    section: Section | None

    @abc.abstractmethod
    def content(self, problem: Problem, scaled: bool, n_starts: int, steps: int) -> dict[str, Any]:
        """Return the unit's ``method``: everything that was chosen, left open or not.

        Impossible combinations are refused here.
        """

    @property
    def axes(self) -> tuple[str, str, str]:
        """Surrogate, acquisition and maximizer; empty where there is no model of ours."""
        return "", "", ""

    @property
    def variant(self) -> str:
        """The other options, as in ``escape=none, gap=0.01``."""
        rest = [key for key in self.chosen if key not in AXES]
        return ", ".join(f"{key}={self.text(key)}" for key in rest)

    @property
    def strategies(self) -> list[object]:
        """What was chosen by name, made; the versions of their packages count."""
        return []

    @property
    def packages(self) -> tuple[str, ...]:
        """Packages that it alone rests on."""
        return ()

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules that it alone imports."""
        return ()

    def text(self, key: str) -> str:
        """Return what was chosen, as a label has it."""
        return text_of(self.chosen[key]) if key in self.chosen else DEFAULT


def text_of(value: object) -> str:
    """Return a description as a text: ``{"name": "grid", "points": 50}`` is grid:points=50."""
    if isinstance(value, Mapping):
        options = [f"{key}={text_of(other)}" for key, other in value.items() if key != "name"]
        return f"{value.get('name', '')}{':' if options else ''}{','.join(options)}"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
