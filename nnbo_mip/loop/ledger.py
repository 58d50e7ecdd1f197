"""`Ledger`: the events of a run in memory and, where there is a journal, on disk.

What happens is kept in memory first. Events that could not be written wait, count as having
happened, and are written by the first append that succeeds; in the journal they then stand behind
what others wrote meanwhile, and so they do in memory from then on.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import replace

from nnbo_mip.errors import JournalError
from nnbo_mip.interruption import held
from nnbo_mip.loop.events import Event
from nnbo_mip.loop.journal import Journal
from nnbo_mip.loop.state import State


class Ledger:
    """The growing list of events; safe to be shared by threads.

    Parameters
    ----------
    empty : State
        Of the run before anything happened.
    journal : Journal or None
        None keeps events in memory only.
    """

    def __init__(self, empty: State, journal: Journal | None) -> None:
        self.journal = journal
        self._lock = threading.RLock()
        self._written = empty, 0
        self._waiting: list[Event] = []
        self._state = empty
        self.refresh()

    @property
    def state(self) -> State:
        """The fold of all events, of those that wait to be written too."""
        return self._state

    @property
    def waiting(self) -> tuple[Event, ...]:
        """Events that are in memory but not on disk."""
        return tuple(self._waiting)

    def refresh(self) -> None:
        """Fold what other processes wrote."""
        with self._lock, held():
            if self.journal is not None:
                self._take(*self.journal.read(self._written[1]))

    def add(self, events: Sequence[Event]) -> None:
        """Let events happen; JournalError if they could not be written, and wait."""
        with self._lock, held():
            self._happen(events)
            if self.journal is not None:
                self.flush()

    def add_ask(self, event: Event, based_on: State) -> bool:
        """Let an ask happen unless somebody asked since `based_on`; return whether it did.

        JournalError if it could not be written; it then waits.
        """
        with self._lock, held():
            if len(self._state.suggestions) != len(based_on.suggestions):
                return False  # another thread asked
            if self.journal is None:
                self._happen([event])
                return True
            try:
                batch = [*self._waiting, _as_stored(event)]
                answer = self.journal.append(batch, self._written[1], if_nobody_asked=True)
            except JournalError:
                self._happen([event])
                raise
            if answer is None:
                return False
            self._take(*answer)
            return True

    def holds_waiting(self, events: Sequence[Event]) -> bool:
        """Whether the same things already happened, and wait to be written."""
        waiting = [_but_for_the_ask(event) for event in self._waiting]
        return all(_but_for_the_ask(_as_stored(event)) in waiting for event in events)

    def flush(self) -> None:
        """Write what waits; JournalError if that fails."""
        with self._lock, held():
            if self.journal is not None and self._waiting:
                answer = self.journal.append(self._waiting, self._written[1])
                if answer is not None:
                    self._take(*answer)

    def _happen(self, events: Sequence[Event]) -> None:
        happened = [_as_stored(event) for event in events]
        self._state = self._state.after(happened)  # says what is wrong before anything is kept
        if self.journal is not None:
            self._waiting += happened

    def _take(self, events: Sequence[Event], last: int) -> None:
        """Fold events that are on disk; those that wait come after them."""
        if events:
            self._written = self._written[0].after(events), last
            keys = {event.key for event in events}
            self._waiting = [event for event in self._waiting if event.key not in keys]
            self._state = self._written[0].after(self._waiting)


def _as_stored(event: Event) -> Event:
    """Return an event with the content that reading it from a file would give."""
    return replace(event, content=json.loads(json.dumps(event.content, allow_nan=False)))


def _but_for_the_ask(event: Event) -> tuple[str, dict[str, object]]:
    """Return what an event says; one that is told again no longer answers anything."""
    return event.kind, {key: value for key, value in event.content.items() if key != "answers"}
