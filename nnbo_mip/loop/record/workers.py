"""Who is at work on a run: slots that are claimed before they are spent, and signs of life.

    workers  key, place, pid, born, started, seen, thinking, ended

A row is one call of `run` on a journal. Evaluations that were told, points that living workers are
at, and workers that think of a point are slots; none is claimed beyond the evaluations wanted. Only
one worker thinks at a time: what it asks depends on what was asked before, so that the thoughts of
the others would be in vain. What a dead worker was at is free again.

A worker of this machine lives as long as its process. One of another machine gives a sign of life
every few seconds, and counts as dead when there was none for a minute.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time as clock
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from nnbo_mip.core.errors import FileFormatError, JournalError
from nnbo_mip.loop.record.state import State

if TYPE_CHECKING:
    from nnbo_mip.loop.record.ledger import Ledger

TABLE = (
    "CREATE TABLE workers (key TEXT PRIMARY KEY, place TEXT NOT NULL, pid INTEGER NOT NULL, "
    "born TEXT NOT NULL, started REAL NOT NULL, seen REAL NOT NULL, "
    "thinking INTEGER NOT NULL DEFAULT 0, ended INTEGER NOT NULL DEFAULT 0)"
)

BEAT = 5.0
"""Seconds between two signs of life."""

SILENCE = 60.0
"""Seconds without one, after which a worker of another machine counts as dead."""

Turn: TypeAlias = Literal["evaluate", "think", "wait"]
"""What a worker is to do: a point that is free, a new one, or nothing now."""


class Worker:
    """One call of `run`, and its signs of life; a context, whose length is `seconds` in the end.

    Parameters
    ----------
    ledger : Ledger
        Of the run. While its journal cannot be written, nobody else hears of the worker.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.key = secrets.token_hex(8)
        self._ledger = ledger
        self.seconds = 0.0
        self._started = clock.time()
        self._is_over = threading.Event()
        self._beating = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Worker:
        self._sign()
        if self._ledger.journal is not None:
            self._beating.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        if self._beating.is_alive():
            self._beating.join()
        self.seconds = clock.time() - self._started
        self._ledger.seconds_here += self.seconds
        self._sign(ended=True)

    def _beat(self) -> None:
        while not self._is_over.wait(BEAT):
            self._sign()

    def _sign(self, ended: bool = False) -> None:
        """Write that the worker lives, or that it ended."""
        journal = self._ledger.journal
        row = (self.key, *_here(), self._started, clock.time())
        with suppress(JournalError, FileFormatError):
            if journal is not None:
                with journal.transaction() as connection:
                    connection.execute(
                        "INSERT INTO workers (key, place, pid, born, started, seen) "
                        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET seen = "
                        "excluded.seen",
                        row,
                    )
                    if ended:
                        connection.execute(
                            "UPDATE workers SET thinking = 0, ended = 1 WHERE key = ?", (self.key,)
                        )


def turn_of(
    connection: sqlite3.Connection,
    worker: str,
    state: State,
    again: Collection[str],
    n_evals: int,
) -> tuple[Turn, str]:
    """Claim a slot within a transaction; return what to do, and the point to ``evaluate``.

    Parameters
    ----------
    connection : sqlite3.Connection
        That holds the write lock, of a journal whose events are all in `state`.
    worker : str
        Who asks; it is at nothing else.
    state : State
    again : collection of str
        Keys of points that are given out once more though no worker was at them.
    n_evals : int
        Of the whole run.
    """
    others = _living(connection)
    others.pop(worker, None)
    taken = {key for key in state.pending if state.owners.get(key) in others}
    thinking = sum(others.values())
    made = sum(told.suggestion is not None for told in state.observations)
    if made + len(taken) + thinking >= n_evals:
        return "wait", ""
    for key in state.pending:
        if key not in taken and (key in again or key in state.owners):
            return "evaluate", key
    if thinking:
        return "wait", ""
    connection.execute("UPDATE workers SET thinking = 1 WHERE key = ?", (worker,))
    return "think", ""


def thought(connection: sqlite3.Connection, worker: str) -> None:
    """Note that a worker has its point, so that the next one may think."""
    connection.execute("UPDATE workers SET thinking = 0 WHERE key = ?", (worker,))


def seconds_of_all(connection: sqlite3.Connection) -> float:
    """Return the wall seconds of all calls of `run` together."""
    row = connection.execute("SELECT coalesce(sum(seen - started), 0) FROM workers").fetchone()
    return float(row[0])


def at_work(connection: sqlite3.Connection) -> int:
    """Return how many workers live."""
    return len(_living(connection))


def _living(connection: sqlite3.Connection) -> dict[str, bool]:
    """Return which workers live, and whether each of them thinks."""
    rows = connection.execute(
        "SELECT key, thinking, place, pid, born, seen FROM workers WHERE NOT ended"
    ).fetchall()
    return {key: bool(thinking) for key, thinking, *life in rows if _lives(*life)}


def _lives(place: str, pid: int, born: str, seen: float) -> bool:
    if place and place == _here()[0]:
        return _born(pid) == born
    return clock.time() - seen < SILENCE


@cache
def _of_machine() -> str:
    """Name the running system and its space of process numbers; empty where nothing does."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _here() -> tuple[str, int, str]:
    """Return the machine, the number of this process and when it was started."""
    return _of_machine(), os.getpid(), _born(os.getpid())


def _born(pid: int) -> str:
    """Return when a process of this machine was started; empty where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]  # one that ended, and waits to be reaped
