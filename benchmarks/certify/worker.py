"""The process in which one entrant is measured on one network (see `certify.measure`)."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.certify.cases import load_case
from benchmarks.certify.engines import ENTRANTS
from benchmarks.certify.measure import Job, cpu_seconds, peak_megabytes


def main() -> None:
    """Append to the file argv[1] what happens when the `Job` in argv[2] is measured."""
    job = Job(**json.loads(sys.argv[2]))
    with Path(sys.argv[1]).open("a", buffering=1) as events:

        def report(event: str, **facts: Any) -> None:
            events.write(json.dumps({"event": event, **facts}) + "\n")

        try:
            measure(job, report)
        except Exception as error:
            report("error", message=f"{type(error).__name__}: {error}", peak_mb=peak_megabytes())
            raise


def measure(job: Job, report: Any) -> None:
    """Prepare, warm up, and time the calls; a time-out is not repeated."""
    case = load_case(Path(job.network))
    call = ENTRANTS[job.entrant].prepare(case, job.gap, job.wall_limit)
    report("ready", peak_mb=peak_megabytes())
    for number in range(job.repeats + 1):
        cpu, wall = cpu_seconds(), time.perf_counter()
        answer = call()
        cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
        report(
            "call",
            warm_up=number == 0,
            cpu=cpu,
            wall=wall,
            status=answer.status,
            x=None if answer.x is None else [float(value) for value in answer.x],
            claimed_value=answer.claimed_value,
            bound=answer.bound,
            peak_mb=peak_megabytes(),
        )
        if answer.status != "optimal" or cpu > job.limit:
            return


if __name__ == "__main__":
    main()
