"""Soundness: every engine on random networks, compared with exact enumeration.

    python -m benchmarks.soundness --n 2000 --seed 0 --limit 2 [--out results.jsonl]

Counts violations of "true maximum <= bound" and "value = forward pass at an admissible
point", of every claim of ``optimal`` and ``infeasible``, with no slack added. Time-outs are
counted apart. With ``--out`` a killed run resumes, and the network and domain of every
failure are written beside it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.soundness.engines import BROKE_DOWN, CONTESTANTS
from benchmarks.soundness.nets import FuzzCase, draw
from benchmarks.soundness.pool import Worker
from benchmarks.soundness.verdicts import ORACLE, STATUSES, Oracle, Record, violations

GAP = 1e-4


def main(arguments: list[str] | None = None) -> int:
    """Run, print the summary; 1 on any violation."""
    options = _parser().parse_args(arguments)
    engines = [name for name in options.engines if CONTESTANTS[name].installed()]
    for name in sorted(set(options.engines) - set(engines)):
        print(f"{name} is left out: {', '.join(CONTESTANTS[name].packages)} not installed.")
    journal = _Journal(options.out, options.seed, options.limit)
    summary = Summary(engines)
    worker = Worker(options.seed, GAP, options.limit)
    try:
        for index in range(options.start, options.start + options.n):
            case = draw(options.seed, index)
            oracle = journal.oracle(index, worker)
            records = [journal.record(index, engine, worker) for engine in engines]
            found = violations(case, records, oracle, GAP)
            summary.add(records, oracle, found)
            for engine, sentences in found.items():
                print(f"case {index}, {engine}: {'; '.join(sentences)}", flush=True)
            if found and options.out:
                _keep(case, found, options.out.with_suffix(".failures"), options.seed)
    finally:
        worker.close()
    print(summary.markdown())
    return int(summary.failed)


class Summary:
    """Counts by engine."""

    def __init__(self, engines: Sequence[str]) -> None:
        self.counts: dict[str, Counter[str]] = {engine: Counter() for engine in engines}
        self.cases = 0
        self.with_oracle = 0
        self.oracle_refuted = 0

    def add(
        self, records: Sequence[Record], oracle: Oracle | None, found: dict[str, list[str]]
    ) -> None:
        """Count one case."""
        self.cases += 1
        self.with_oracle += oracle is not None
        self.oracle_refuted += ORACLE in found
        for record in records:
            count = self.counts[record.engine]
            count[record.status] += 1
            count["compared"] += oracle is not None and record.status in STATUSES
            count["broke down"] += BROKE_DOWN in record.message
            count["violations"] += bool(found.get(record.engine))

    @property
    def failed(self) -> bool:
        """Whether anything was violated."""
        violated = any(count["violations"] for count in self.counts.values())
        return violated or self.oracle_refuted > 0

    def markdown(self) -> str:
        """Return the table; ``time-outs`` are answers that left the gap open."""
        head = ["engine", "optimal", "infeasible", "time-outs", "no proof", "declined", "killed"]
        head += ["broke down", "compared with enumeration", "violations"]
        keys = ["optimal", "infeasible", "feasible", "heuristic", "unsupported", "killed"]
        keys += ["broke down", "compared", "violations"]
        lines = [head, ["---"] * len(head)]
        for engine, count in self.counts.items():
            lines.append([engine, *[str(count[key]) for key in keys]])
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        return f"{table}\n\n{self.cases} cases, {self.with_oracle} of them enumerated exactly."


class _Journal:
    """What was solved before, and the file to which it is appended, a JSON line a solve."""

    def __init__(self, path: Path | None, seed: int, limit: float) -> None:
        self.path = path
        self.rules = {"seed": seed, "limit": limit, "gap": GAP}
        self.records: dict[tuple[int, str], Record] = {}
        self.oracles: dict[int, Oracle | None] = {}
        for entry in self._entries():
            if "oracle" in entry:
                self.oracles[entry["index"]] = _oracle_from(entry["oracle"])
            else:
                record = Record(**entry["record"])
                self.records[record.index, record.engine] = record

    def _entries(self) -> Iterator[dict[str, Any]]:
        if self.path is None or not self.path.exists():
            return
        for line in self.path.read_text().splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:  # the line that a kill tore
                continue
            if entry["rules"] == self.rules:
                yield entry

    def record(self, index: int, engine: str, worker: Worker) -> Record:
        """Return a stored answer, or get one."""
        if (index, engine) not in self.records:
            record = worker.record(index, engine)
            self.records[index, engine] = record
            self._append({"record": asdict(record)})
        return self.records[index, engine]

    def oracle(self, index: int, worker: Worker) -> Oracle | None:
        """Return the stored exact maximum, or compute it."""
        if index not in self.oracles:
            self.oracles[index] = worker.oracle(index)
            self._append({"index": index, "oracle": _oracle_to(self.oracles[index])})
        return self.oracles[index]

    def _append(self, entry: dict[str, Any]) -> None:
        if self.path is None:
            return
        with self.path.open("a") as file:
            file.write(json.dumps({"rules": self.rules, **entry}) + "\n")


def _oracle_to(oracle: Oracle | None) -> list[str] | str | None:
    if oracle is None:
        return None
    if oracle.maximum is None:
        return "empty"
    return [hex(oracle.maximum.numerator), hex(oracle.maximum.denominator)]


def _oracle_from(stored: list[str] | str | None) -> Oracle | None:
    if stored is None:
        return None
    if isinstance(stored, str):
        return Oracle(None)
    return Oracle(Fraction(int(stored[0], 16), int(stored[1], 16)))


def _keep(case: FuzzCase, found: dict[str, list[str]], folder: Path, seed: int) -> None:
    """Write network, domain and what was wrong, so that the failure can become a test."""
    folder.mkdir(exist_ok=True)
    stem = folder / f"seed{seed}_case{case.index}"
    case.network.save(stem.with_suffix(".npz"))
    about = {"traits": case.traits, "violations": found, "domain": case.domain.to_dict()}
    stem.with_suffix(".json").write_text(json.dumps(about, indent=1))


def _parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="python -m benchmarks.soundness", description=__doc__)
    result.add_argument("--n", type=int, default=2000, help="cases")
    result.add_argument("--start", type=int, default=0, help="index of the first case")
    result.add_argument("--seed", type=int, default=0)
    result.add_argument("--limit", type=float, default=2.0, help="wall seconds a solve")
    result.add_argument(
        "--engines", nargs="*", default=list(CONTESTANTS), choices=list(CONTESTANTS)
    )
    result.add_argument("--out", type=Path, help="journal of all solves; resumes from it")
    return result


if __name__ == "__main__":
    raise SystemExit(main())
