"""`Answer`: what became of a unit, as it travels from a worker to the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Attempt:
    """One try at a unit.

    Parameters
    ----------
    outcome : {"finished", "error", "died"}
    started : float
        Seconds since 1970.
    seconds : float
        Wall time.
    host : str
        Name of the machine.
    message : str
        The traceback of an error, or how the process died and what it last printed.
    """

    outcome: str
    started: float
    seconds: float
    host: str
    message: str = ""


@dataclass(frozen=True)
class Answer:
    """All tries at a unit, and what the last one brought.

    Parameters
    ----------
    key : str
        Of the unit.
    attempts : tuple of Attempt
        At least one.
    environment : mapping or None
        Machine and versions of the process that ran it; None where it died before it said so.
    result : mapping or None
        What `nnbo_mip.lab.run.unit_run.run_unit` returns; None unless the last attempt finished.
    """

    key: str
    attempts: tuple[Attempt, ...]
    environment: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None

    @property
    def status(self) -> str:
        """``finished`` or ``failed``."""
        return "finished" if self.attempts[-1].outcome == "finished" else "failed"

    @property
    def reason(self) -> str:
        """The last line of what the last attempt left as a message."""
        last = self.attempts[-1]
        return (last.message.strip().splitlines() or [last.outcome])[-1]

    def to_text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Answer:
        """Make the answer that `to_text` wrote."""
        plain = json.loads(text)
        attempts = tuple(Attempt(**one) for one in plain.pop("attempts"))
        return cls(**plain, attempts=attempts)
