"""The file of finished runs: one JSON line a run, appended and synced.

A process that is killed while it writes leaves half a line, which readers leave out; the next
line is written below it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.regret_unit import Unit

DONE = ("finished", "time-out")
"""What is not run again; errors are."""


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
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[str, Run]:
        """Return the runs by the keys of their units."""
        if not self._path.exists():
            return {}
        runs: dict[str, Run] = {}
        for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                run = Run.from_dict(json.loads(line))
            except (ValueError, KeyError, TypeError):  # torn by a kill
                continue
            runs[run.unit.key] = run
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
