"""One row a (network, entrant) pair, and the file that keeps the rows between runs."""

from __future__ import annotations

import json
import math
import os
import statistics
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.certify.cases import Case
from benchmarks.certify.measure import Job

FORMAT = "nnbo_mip.benchmark"
VERSION = 1


@dataclass(frozen=True)
class Row:
    """What one entrant did on one network.

    Parameters
    ----------
    network, fingerprint, entrant, role : str
        Who was measured on what.
    inputs, relus : int
        Size of the network.
    gap, limit : float
        Rules of the run.
    repeats : int
        Timed calls asked for.
    status : str
        ``optimal``, ``time-out``, ``error``, or the entrant's own word.
    seconds : list of float
        CPU seconds of the timed calls (of the only call, if that timed out).
    wall : list of float
        Wall seconds of the same calls.
    value : float or None
        Forward pass at the returned point, moved into the box; None without a point.
    outside : float
        How far the returned point was outside the box.
    claimed_value, bound : float or None
        What the entrant claims; None for infinities.
    peak_mb, ready_mb : float or None
        Largest resident set, and its size before the first call.
    message : str
        Of an error.
    """

    network: str
    fingerprint: str
    entrant: str
    role: str
    inputs: int
    relus: int
    gap: float
    limit: float
    repeats: int
    status: str
    seconds: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    x: list[float] | None = None
    value: float | None = None
    outside: float = 0.0
    claimed_value: float | None = None
    bound: float | None = None
    peak_mb: float | None = None
    ready_mb: float | None = None
    message: str = ""

    @property
    def key(self) -> tuple[str, str, float, float]:
        """What makes a stored row reusable."""
        return self.fingerprint, self.entrant, self.gap, self.limit

    @property
    def median(self) -> float:
        """Median CPU seconds; the limit for a time-out; NaN where it could not run."""
        if self.status == "optimal":
            return statistics.median(self.seconds)
        return self.limit if self.status in ("time-out", "feasible") else math.nan


def make_row(case: Case, job: Job, role: str, events: list[dict[str, Any]]) -> Row:
    """Turn the events of `measure.run` into a row."""
    calls = [event for event in events if event["event"] == "call"]
    ready = next((event for event in events if event["event"] == "ready"), {})
    error = next((event for event in events if event["event"] == "error"), None)
    killed = any(event["event"] == "killed" for event in events)
    timed = [call for call in calls if not call["warm_up"]] or calls
    last = calls[-1] if calls else {}
    if error is not None:
        status = "error"
    elif killed or any(call["cpu"] > job.limit for call in calls):
        status = "time-out"
    else:
        status = last.get("status", "error")
    x = last.get("x")
    value, outside = _forward(case, x)
    return Row(
        network=case.name,
        fingerprint=case.network.fingerprint,
        entrant=job.entrant,
        role=role,
        inputs=case.network.n_inputs,
        relus=case.network.n_relus,
        gap=job.gap,
        limit=job.limit,
        repeats=job.repeats,
        status=status,
        seconds=[call["cpu"] for call in timed],
        wall=[call["wall"] for call in timed],
        x=x,
        value=value,
        outside=outside,
        claimed_value=_finite(last.get("claimed_value")),
        bound=_finite(last.get("bound")),
        peak_mb=max((e["peak_mb"] for e in events if "peak_mb" in e), default=None),
        ready_mb=ready.get("peak_mb"),
        message="" if error is None else error["message"],
    )


def _forward(case: Case, x: list[float] | None) -> tuple[float | None, float]:
    if x is None:
        return None, 0.0
    point = np.asarray(x)
    inside = np.clip(point, case.lower, case.upper)
    return case.value(inside), float(np.abs(point - inside).max())


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def read_rows(path: Path) -> list[Row]:
    """Read the rows of an earlier run; none if there was none."""
    if not path.exists():
        return []
    data = json.loads(path.read_text())
    if data.get("format") != FORMAT or data.get("version") != VERSION:
        raise SystemExit(f"{path} was not written by this version of the benchmark; move it away.")
    return [Row(**row) for row in data["rows"]]


def write_rows(path: Path, rows: list[Row], about: dict[str, Any]) -> None:
    """Write all rows; the file is replaced in one step, so that a kill cannot tear it."""
    data = {"format": FORMAT, "version": VERSION, "about": about}
    text = json.dumps({**data, "rows": [asdict(row) for row in rows]}, indent=1)
    temporary = path.with_suffix(path.suffix + ".part")
    temporary.write_text(text)
    os.replace(temporary, path)
