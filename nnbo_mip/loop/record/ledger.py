"""`Ledger`: the events of a run in memory and, where there is a journal, on disk.

What happens is kept in memory first. Events that could not be written wait, count as having
happened, and are written by the first append that succeeds; in the journal they then stand behind
what others wrote meanwhile, and so they do in memory from then on.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from nnbo_mip.core.control import held
from nnbo_mip.core.errors import FileFormatError, JournalError
from nnbo_mip.loop.record.events import Event
from nnbo_mip.loop.record.journal import START, Journal, Place
from nnbo_mip.loop.record.state import State
from nnbo_mip.loop.record.workers import Turn


class Ledger:
    """The growing list of events; safe to be shared by threads.

    Parameters
    ----------
    empty : State
        Of the run before anything happened.
    journal : Journal or None
        None keeps events in memory only.

    Attributes
    ----------
    seconds_here : float
        Wall seconds of the calls of `run` in this process.
    """

    def __init__(self, empty: State, journal: Journal | None) -> None:
        self.journal = journal
        self.seconds_here = 0.0
        self._lock = threading.RLock()
        self._empty = self._state = empty
        self._written = empty, START
        self._on_disk: list[Event] = []
        self._not_on_disk: list[Event] = []
        if journal is not None:
            self._take(*journal.read())

    def __getstate__(self) -> dict[str, Any]:
        """Return what is copied; a copy shares the journal as another process does."""
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, held: Mapping[str, Any]) -> None:
        """Take what `__getstate__` returned, under a lock of its own."""
        vars(self).update(held, _lock=threading.RLock())

    @property
    def state(self) -> State:
        """The fold of all events, of those that wait to be written too."""
        return self._state

    @property
    def waiting(self) -> tuple[Event, ...]:
        """Events that are in memory but not in the journal, if there is one."""
        return () if self.journal is None else tuple(self._not_on_disk)

    @property
    def seconds(self) -> float:
        """Wall seconds of all calls of `run` together, as far as the journal knows them."""
        with suppress(JournalError, FileFormatError):
            if self.journal is not None:
                return max(self.seconds_here, self.journal.seconds())
        return self.seconds_here

    def refresh(self) -> None:
        """Fold what other processes wrote; JournalError if that cannot be known."""
        with self._lock, held(), _with_a_remedy():
            if self.journal is not None:
                self._take(*self.journal.read(self._written[1]))

    def notice(self) -> JournalError | None:
        """Fold what other processes wrote; return why that cannot be known."""
        try:
            self.refresh()
        except JournalError as error:
            return error
        return None

    def add(self, events: Sequence[Event]) -> None:
        """Let events happen; JournalError if they could not be written, and wait.

        If the same ones happened already and still wait, they do not happen once more.
        """
        with self._lock, held():
            if not self._waits(events):
                self._happen(events)
            self.flush()

    def add_ask(self, event: Event, based_on: State, by: str | None = None) -> bool:
        """Let an ask happen unless somebody asked since `based_on`; return whether it did.

        If not, what they asked is known from here on. JournalError if the ask could not be
        written; it then waits. `by` is the worker that thought of it.
        """
        with self._lock, held():
            if len(self._state.suggestions) != len(based_on.suggestions):
                return False  # another thread asked
            if self.journal is None:
                self._happen([event])
                return True
            try:
                with _with_a_remedy():
                    batch = [*self._not_on_disk, _as_stored(event)]
                    answer = self.journal.append(batch, self._written[1], True, by)
                    self._take(*(answer or self.journal.read(self._written[1])))
            except JournalError:
                self._happen([event])
                raise
            return answer is not None

    def claim(
        self, worker: str, again: Collection[str], n_evals: int
    ) -> tuple[Turn | Literal["alone"], str]:
        """Claim a slot for a worker; see `nnbo_mip.loop.record.workers.turn_of`.

        ``alone``: nobody else hears of it, as there is no journal, or none that can be written.
        """
        with self._lock, held():
            if self.journal is None:
                return "alone", ""
            try:
                return self._claimed(self.journal, worker, again, n_evals)
            except JournalError:
                return "alone", ""

    def _claimed(
        self, journal: Journal, worker: str, again: Collection[str], n_evals: int
    ) -> tuple[Turn, str]:
        self.flush()
        self.refresh()
        with _with_a_remedy():
            while True:
                state, last = self._written
                found = journal.claim(state, last, worker, again, n_evals)
                self._take(*journal.read(last))
                if found is not None:
                    return found

    def flush(self) -> None:
        """Write what waits; JournalError if that fails."""
        with self._lock, held(), _with_a_remedy():
            if self.journal is not None and self._not_on_disk:
                answer = self.journal.append(self._not_on_disk, self._written[1])
                if answer is not None:
                    self._take(*answer)

    def save(self, path: str | Path, meta: Mapping[str, Any]) -> None:
        """Write all events to a new journal, which is that of the run from then on.

        Parameters
        ----------
        path : path
        meta : mapping
            What the journal says of the run as a whole.
        """
        with self._lock, held():
            if self.journal is not None:
                meta = {**meta, "run": self.journal.run}
            events = [*self._on_disk, *self._not_on_disk]
            self.journal = Journal.create(path, meta, events)
            self._written = self._empty, START
            self._on_disk, self._not_on_disk = [], events
            self.refresh()

    def _waits(self, events: Sequence[Event]) -> bool:
        """Whether the same things already happened, and wait to be written.

        What answers an open ask is new, whatever was told of the same point before.
        """
        answers = any(event.content.get("answers") is not None for event in events)
        if answers or not self.waiting:
            return False
        return _told(map(_as_stored, events)) <= _told(self.waiting)

    def _happen(self, events: Sequence[Event]) -> None:
        happened = [_as_stored(event) for event in events]
        self._state = self._state.after(happened)  # says what is wrong before anything is kept
        self._not_on_disk += happened

    def _take(self, events: Sequence[Event], last: Place) -> None:
        """Fold events that are on disk; those that wait come after them."""
        if events:
            self._written = self._written[0].after(events), last
            self._on_disk += events
            keys = {event.key for event in events}
            self._not_on_disk = [event for event in self._not_on_disk if event.key not in keys]
            self._state = self._written[0].after(self._not_on_disk)


@contextmanager
def _with_a_remedy() -> Iterator[None]:
    """Make a JournalError of whatever is wrong with a journal in the middle of a run."""
    try:
        yield
    except (FileFormatError, JournalError) as error:
        said = str(error).removesuffix(".")
        raise JournalError(
            f"{said}, or keep the run in another file by optimizer.save(path)."
        ) from error


def _as_stored(event: Event) -> Event:
    """Return an event with the content that reading it from a file would give."""
    return replace(event, content=json.loads(json.dumps(event.content, allow_nan=False)))


def _told(events: Iterable[Event]) -> Counter[str]:
    """Return how often events say the same; one that is told again no longer answers anything."""
    said: Counter[str] = Counter()
    for event in events:
        content = {key: value for key, value in event.content.items() if key != "answers"}
        said[json.dumps([event.kind, content], sort_keys=True)] += 1
    return said
