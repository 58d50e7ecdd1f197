"""What a method that is not ours is given, and what it has to do: ask and tell.

>>> from nnbo_mip.lab.peers.base import MethodTask
>>> from nnbo_mip.space import Space
>>> task = MethodTask(Space.box([0.0], [2.0]), "minimize", starts=[[0.5]], evaluations=3, seed=0)
>>> task.sign
1.0
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from nnbo_mip.core.terms import Direction
from nnbo_mip.space.space import Space


@dataclass(frozen=True, eq=False)
class MethodTask:
    """One run of a method, before anything is evaluated.

    Parameters
    ----------
    space : Space
        Points are arrays (d,) for a box, and dicts for named dimensions.
    direction : {"minimize", "maximize"}
    starts : sequence
        Points that all methods share. They are evaluated first and told in this order; then the
        method is asked. Where there are none, it begins by its own.
    evaluations : int
        Of the whole run, starts included.
    seed : int
        The same seed must give the same points.
    noise : float, optional
        Standard deviation of the values, where methods are told it.
    """

    space: Space
    direction: Direction
    starts: Sequence[Any]
    evaluations: int
    seed: int
    noise: float | None = None

    @property
    def sign(self) -> float:
        """By which values are multiplied to be minimized."""
        return 1.0 if self.direction == "minimize" else -1.0


class AskTell(Protocol):
    """A method at work.

    It may have the attributes ``message``, what is to be recorded of the last ask (text), and
    ``fit_seconds``, how much of it was training (float). It may have a method ``report()``, which
    returns the point that it takes to be the best one; of others that is the point with the best
    value.
    """

    def ask(self) -> Any:
        """Return the next point, one of the space."""

    def tell(self, x: Any, y: float) -> object:
        """Take the value at a start, or at the point that was asked last; NaN for a failure."""


class Peer(abc.ABC):
    """A frozen dataclass of options.

    Packages are imported in `begin`, so that a peer can be named where they are not installed.
    """

    name: ClassVar[str]
    """Its name in the registry."""

    packages: ClassVar[tuple[str, ...]]
    """Distributions on whose versions its points depend."""

    @abc.abstractmethod
    def begin(self, task: MethodTask) -> AskTell:
        """Start it."""

    def refused(self, space: Space) -> str:
        """Return why it cannot search a space, ``"takes no …"``; empty where it can."""
        return "takes no linear constraints" if space.constraints else ""
