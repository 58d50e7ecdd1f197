"""When a run stops that proves its regret bound, and when one that samples it.

    python -m benchmarks.stopping [--pilots] [--tasks T …] [--seeds 10] [--first 0] [--nu 0.2]
        [--longest 1] [--seconds 2] [--store stopping.jsonl] [--report]

Finished runs are lines of the store; the same command goes on where it was killed, and with
--report runs nothing and prints the table. Limits are CPU seconds, so a busy machine hurries none.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.stopping.runs import Band, run
from benchmarks.stopping.table import report
from benchmarks.stopping.tasks import PILOTS, TASKS
from nnbo_mip.core.errors import NnboWarning
from nnbo_mip.loop.judging.model import LONGEST


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, and print the table."""
    options = parser().parse_args(arguments)
    every = PILOTS if options.pilots else TASKS
    tasks = [task for task in every if not options.tasks or task.label in options.tasks]
    unknown = sorted(set(options.tasks or ()) - {task.label for task in every})
    if unknown:
        raise SystemExit(
            f"the tasks are {', '.join(task.label for task in every)}; got {unknown[0]!r}; choose "
            "of them."
        )
    store, band = Path(options.store), Band(options.nu, options.longest)
    seeds = range(options.first, options.first + options.seeds)
    wanted = [(task, seed) for seed in seeds for task in tasks]
    runs = read(store)
    done = {_label(one) for one in runs}
    for task, seed in () if options.report else wanted:
        if (task.label, seed, band.nu, band.longest) in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NnboWarning)
            found = run(task, seed, band, options.seconds)
        with store.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found, allow_nan=True) + "\n")
        stops = {name: stop["n"] for name, stop in found["stops"].items()}
        print(f"{task.label}, seed {seed}: {stops}, {found['cpu']:.0f} CPU s", flush=True)
    labels = {(task.label, seed, band.nu, band.longest) for task, seed in wanted}
    shown = [one for one in read(store) if _label(one) in labels]
    print(report(tasks, shown))
    return int(len(shown) < len(wanted))


def _label(run: Mapping[str, object]) -> tuple[object, ...]:
    return run["task"], run["seed"], run["nu"], run["longest"]


def read(store: Path) -> list[dict[str, object]]:
    """Return the finished runs of a store; a line that was cut off by a kill is none."""
    runs = []
    for line in store.read_text(encoding="utf-8").splitlines() if store.is_file() else ():
        try:
            runs.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return runs


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.stopping", description=__doc__)
    made.add_argument("--pilots", action="store_true", help="other functions, to choose by")
    made.add_argument("--tasks", nargs="*", help="labels of tasks; else all")
    made.add_argument("--seeds", type=int, default=10)
    made.add_argument("--first", type=int, default=0, help="the first seed")
    made.add_argument("--nu", type=float, default=0.2, help="of the band")
    made.add_argument("--longest", type=float, default=LONGEST, help="length-scale, half sides")
    made.add_argument("--seconds", type=float, default=2.0, help="CPU seconds of a search")
    made.add_argument("--store", default="stopping.jsonl")
    made.add_argument("--report", action="store_true", help="run nothing, print the table")
    return made


if __name__ == "__main__":
    raise SystemExit(main())
