"""`Executor`: where units are run."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.store.answer import Answer


class Executor(Protocol):
    """Runs units somewhere."""

    @property
    def workers(self) -> int:
        """How many units are run at a time."""

    def answers(self, units: Sequence[Unit]) -> Generator[list[Answer]]:
        """Yield what became of the units, as soon as it is known, in any order.

        Closing the generator ends what is under way.
        """
