"""Linear constraints for tools that know none: points outside are told to be bad."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from nnbo_mip.lab.peers.base import MethodTask

TRIES = 100
"""Points outside in a row, after which one is drawn; its value is not told to the tool."""

FIRST = 1.0
"""What a point outside costs, to be minimized, while no value is known."""


class Reporting(Protocol):
    """A tool that is asked and told, and reports."""

    message: str

    def ask(self) -> Any:
        """Return the next point."""

    def tell(self, x: Any, y: float) -> object:
        """Take a value at the point that was asked last, or at a start."""

    def report(self) -> Any | None:
        """Return the point that it takes to be the best."""


def guarded(tool: Reporting, task: MethodTask) -> Reporting:
    """Return a tool that asks for admissible points only; where there is no constraint, itself."""
    return Guarded(tool, task) if task.space.constraints else tool


class Guarded:
    """A tool that is told the worst value known at points which violate a constraint.

    These are no evaluations. That is what its user would write who returns a penalty.

    Parameters
    ----------
    tool : Reporting
    task : MethodTask
    """

    def __init__(self, tool: Reporting, task: MethodTask) -> None:
        self._tool, self._task = tool, task
        self._domain = task.space.numeric()
        self._rng = np.random.default_rng(task.seed)
        self._worst: float | None = None
        self._is_drawn = False
        self.message = ""

    def ask(self) -> Any:
        """Return the next admissible point."""
        for tried in range(TRIES):
            x = self._tool.ask()
            if self._domain.admissible(self._task.space.to_numeric(x))[0]:
                self.message = f"{tried} points outside before" if tried else ""
                return x
            worst = FIRST if self._worst is None else self._worst
            self._tool.tell(x, self._task.sign * worst)
        self._is_drawn, self.message = True, f"{TRIES} points outside: drawn"
        return self._task.space.from_numeric(self._domain.sample(1, self._rng)[0])

    def tell(self, x: Any, y: float) -> None:
        """Pass the value on, unless the point is none of the tool's."""
        value = self._task.sign * y
        if not np.isnan(value) and (self._worst is None or value > self._worst):
            self._worst = value
        if not self._is_drawn:
            self._tool.tell(x, y)
        self._is_drawn = False

    def report(self) -> None:
        """Leave it to the values: the tool does not know all of them."""
