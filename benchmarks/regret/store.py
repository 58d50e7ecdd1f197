"""The file of finished runs: one JSON line a run, appended and synced.

A process that is killed while it writes leaves half a line, which readers leave out; the next
line is written below it. Beside it there may be an archive: finished runs of other days and
machines, packed, without the points.
"""

from __future__ import annotations

import fcntl
import json
import lzma
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.regret.unit import Unit

DONE = ("finished", "time-out")
"""What is not run again; errors are."""

ARCHIVED = ("wall", "fit", "inner", "status", "gap", "time_limited", "message", "region")
"""What an archive keeps of a step: what tables are made of."""

DIGITS = 4
"""Of the numbers of a step in an archive; values of the function have all of theirs."""


@dataclass(frozen=True, eq=False)
class Run:
    """What came out of a unit.

    Parameters
    ----------
    unit : Unit
    status : {"finished", "time-out", "error"}
        ``time-out``: a step took longer than was waited for; what was evaluated before counts.
    message : str
        Of an error.
    y : list of float
        All values in order, starts first; to be minimized.
    x : list of list of float
        Where.
    steps : list of dict
        One for each evaluation after the starts: ``wall`` seconds of asking and telling, and
        what the method says of itself.
    code : str
        Commit of the working tree, for reference.
    """

    unit: Unit
    status: str
    message: str = ""
    y: list[float] = field(default_factory=list)
    x: list[list[float]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    code: str = ""

    @property
    def is_done(self) -> bool:
        """Whether it need not be run again."""
        return self.status in DONE

    def to_line(self) -> str:
        """Return it as one line of JSON."""
        return json.dumps({"key": self.unit.key, **asdict(self)}, allow_nan=False)

    def archived(self) -> Run:
        """Return it without points, and with what `ARCHIVED` names of the steps."""
        steps = [
            {name: _short(step[name]) for name in ARCHIVED if name in step} for step in self.steps
        ]
        return replace(self, x=[], steps=steps)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Run:
        """Make the run that `to_line` wrote."""
        plain = {name: value for name, value in stored.items() if name != "key"}
        return cls(**{**plain, "unit": Unit(**stored["unit"])})


class Store:
    """The runs in a file; of several of one unit the last one counts.

    Parameters
    ----------
    path : path
    archive : path, optional
        Of further runs, which are read only; it need not exist.
    """

    def __init__(self, path: Path, archive: Path | None = None) -> None:
        self._path, self._archive = path, archive

    def read(self) -> dict[str, Run]:
        """Return the runs by the keys of their units."""
        runs: dict[str, Run] = {}
        if self._archive is not None and self._archive.exists():
            text = lzma.decompress(self._archive.read_bytes()).decode()
            runs |= _runs_of(text.splitlines())
        if self._path.exists():
            text = self._path.read_text(encoding="utf-8", errors="replace")
            runs |= _runs_of(text.splitlines())
        return runs

    def add(self, run: Run) -> None:
        """Append a run; when this returns, it is on disk."""
        line = run.to_line().encode() + b"\n"
        with open(self._path, "ab+") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            if self._is_torn(stream):
                line = b"\n" + line
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())

    @staticmethod
    def _is_torn(stream: Any) -> bool:
        """Whether the last line has no end."""
        if stream.seek(0, os.SEEK_END) == 0:
            return False
        stream.seek(-1, os.SEEK_END)
        return bool(stream.read(1) != b"\n")


def pack(runs: Iterable[Run], path: Path) -> None:
    """Write finished runs to an archive, in the order of their labels."""
    done = sorted((run for run in runs if run.is_done), key=lambda run: run.unit.label)
    text = "".join(run.archived().to_line() + "\n" for run in done)
    path.write_bytes(lzma.compress(text.encode(), preset=9))


def _runs_of(lines: Iterable[str]) -> dict[str, Run]:
    runs: dict[str, Run] = {}
    for line in lines:
        try:
            run = Run.from_dict(json.loads(line))
        except (ValueError, KeyError, TypeError):  # torn by a kill
            continue
        runs[run.unit.key] = run
    return runs


def _short(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
