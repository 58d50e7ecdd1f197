"""Public verification instances: what `nnbo_mip.verify` decides, and whether rightly.

    python -m benchmarks.vnncomp FOLDER [--sets acasxu safenlp …] [--limit 60] [--jobs 1]
        [--check 60] [--out results.jsonl]

FOLDER holds ``instances.csv`` and the files that it names. `--limit` is CPU seconds of one
instance, `--check` wall seconds of the check of what holds (0: none). With ``--out`` a killed run
resumes where it was. Run it with one thread (``OMP_NUM_THREADS=1``).
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.vnncomp.instances import VERIFIERS, Instance, load
from benchmarks.vnncomp.measure import decide, warm_up


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print the table; 1 where a verdict is wrong or a proof is refuted."""
    options = _parser().parse_args(arguments)
    chosen = [
        one
        for one in load(options.folder)
        if not options.sets or any(one.benchmark.startswith(name) for name in options.sets)
    ]
    known = _stored(options.out, options.limit)
    left = [one for one in chosen if one.key not in known]
    for stored in _run(left, options):
        known[stored["key"]] = stored
        print(_line(stored), flush=True)
        if options.out:
            with options.out.open("a") as file:
                file.write(json.dumps(stored) + "\n")
    results = [(one, known[one.key]) for one in chosen]
    print(table(results))
    return int(any(_is_wrong(one, stored) for one, stored in results))


def _run(left: Sequence[Instance], options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    if options.jobs == 1:
        warm_up()
        for one in left:
            yield decide(options.folder, one, options.limit, options.check)
        return
    with ProcessPoolExecutor(options.jobs, get_context("spawn"), warm_up) as pool:
        tasks = [
            pool.submit(decide, options.folder, one, options.limit, options.check) for one in left
        ]
        for task in tasks:
            yield task.result()


def _stored(path: Path | None, limit: float) -> dict[str, dict[str, Any]]:
    """Return the results of a file that were made with the same limit."""
    known: dict[str, dict[str, Any]] = {}
    if path is None or not path.exists():
        return known
    for line in path.read_text().splitlines():
        try:
            stored = json.loads(line)
        except json.JSONDecodeError:  # the line that a kill tore
            continue
        if stored["limit"] == limit:
            known[stored["key"]] = stored
    return known


def _is_wrong(instance: Instance, stored: dict[str, Any]) -> bool:
    contradicts = stored["verdict"] not in ("unknown", instance.verdict)
    return contradicts or stored.get("check") == "refuted" or stored.get("runtime") == "differs"


def _line(stored: dict[str, Any]) -> str:
    check = (
        f", check {stored['check']} {stored['check_seconds']:.1f} s" if "check" in stored else ""
    )
    return f"{stored['key']}: {stored['verdict']} {stored['seconds']:.2f} s{check}"


def table(results: Iterable[tuple[Instance, dict[str, Any]]]) -> str:
    """Return the table of all benchmarks: CPU seconds are medians over what was decided."""
    head = ["benchmark", "instances", "open", "wrong", "right", "median CPU s", "largest"]
    head += ["proofs confirmed", "witnesses confirmed", *(f"{name} s" for name in VERIFIERS)]
    lines = [head, ["---"] * len(head)]
    groups: dict[str, list[tuple[Instance, dict[str, Any]]]] = {}
    for one, stored in results:
        groups.setdefault(one.benchmark, []).append((one, stored))
    for name, group in groups.items():
        decided = [(one, stored) for one, stored in group if stored["verdict"] != "unknown"]
        wrong = sum(_is_wrong(one, stored) for one, stored in group)
        seconds = [stored["seconds"] for _, stored in decided]
        cells = [name, len(group), len(group) - len(decided), wrong, len(decided) - wrong]
        times = (
            [f"{statistics.median(seconds):.2f}", f"{max(seconds):.1f}"] if seconds else ["", ""]
        )
        confirmed = [_confirmed(decided, verdict) for verdict in ("unsat", "sat")]
        others = [_published(group, verifier) for verifier in VERIFIERS]
        lines.append([*map(str, cells), *times, *confirmed, *others])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _confirmed(decided: list[tuple[Instance, dict[str, Any]]], verdict: str) -> str:
    found = [stored for _, stored in decided if stored["verdict"] == verdict]
    checked = [stored for stored in found if "check" in stored]
    confirmed = sum(stored["check"] == "confirmed" for stored in checked)
    return (
        f"{confirmed} of {len(checked)}"
        if len(checked) == len(found)
        else f"{confirmed}, some not asked"
    )


def _published(group: list[tuple[Instance, dict[str, Any]]], verifier: str) -> str:
    """Return the published median, and how many of all were decided."""
    seconds = []
    for one, _ in group:
        answer, _, time = one.published[verifier].partition(":")
        if answer in ("sat", "unsat"):
            seconds.append(float(time))
    return f"{statistics.median(seconds):.1f} ({len(seconds)})" if seconds else "-"


def _parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="python -m benchmarks.vnncomp", description=__doc__)
    result.add_argument("folder", type=Path)
    result.add_argument(
        "--sets", nargs="*", help="beginnings of benchmarks' names; all if left out"
    )
    result.add_argument("--limit", type=float, default=60.0, help="CPU seconds of an instance")
    result.add_argument("--check", type=float, default=60.0, help="wall seconds of a check")
    result.add_argument("--jobs", type=int, default=1)
    result.add_argument("--out", type=Path, help="store of results; resumes from it")
    return result


if __name__ == "__main__":
    raise SystemExit(main())
