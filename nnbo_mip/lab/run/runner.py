"""Runs what a plan lacks, and writes every answer as it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from nnbo_mip.core.control import held
from nnbo_mip.lab.plan.plan import Plan, PlannedUnit
from nnbo_mip.lab.run.executor import Executor
from nnbo_mip.lab.store.answer import Answer
from nnbo_mip.lab.store.store import Store


@dataclass(eq=False)
class Tally:
    """What came of a run.

    Parameters
    ----------
    units : int
        Of the plan.
    finished, failed : int
        Of the plan, as the store has them.
    ran : int
        Units that were run this time.
    failures : list of (PlannedUnit, str)
        Those of this time, with the last line of what was said.
    """

    units: int
    finished: int = 0
    failed: int = 0
    ran: int = 0
    failures: list[tuple[PlannedUnit, str]] = field(default_factory=list)

    def count(self, unit: PlannedUnit, answer: Answer) -> None:
        """Take notice of what became of a unit."""
        self.ran += 1
        if answer.status == "finished":
            self.finished += 1
        else:
            self.failed += 1
            self.failures.append((unit, answer.reason))

    @property
    def is_whole(self) -> bool:
        """Whether every unit of the plan is finished."""
        return self.finished == self.units


def missing(
    plan: Plan, statuses: dict[str, str], retry_failed: bool
) -> tuple[list[PlannedUnit], Tally]:
    """Return the units that are to be run, and the tally of those that are not."""
    again = ("planned", "failed") if retry_failed else ("planned",)
    waiting = [one for one in plan if statuses[one.unit.key] in again]
    left = [statuses[one.unit.key] for one in plan if statuses[one.unit.key] not in again]
    return waiting, Tally(len(plan), left.count("finished"), left.count("failed"))


def run_units(
    waiting: Sequence[PlannedUnit],
    executor: Executor,
    store: Store,
    tally: Tally,
    ended: Callable[[Answer], object],
) -> None:
    """Run units and write what becomes of them.

    Parameters
    ----------
    waiting : sequence of PlannedUnit
    executor : Executor
        Where they are run.
    store : Store
    tally : Tally
        Is counted up, so that it is true whatever ends the run.
    ended : callable
        Receives every answer after it was written.
    """
    planned = {one.unit.key: one for one in waiting}
    with closing(executor.answers([one.unit for one in waiting])) as batches:
        for batch in batches:
            with held():  # Ctrl-C leaves nothing half counted
                store.add(batch)
                for answer in batch:
                    tally.count(planned[answer.key], answer)
                    ended(answer)
