"""What is lost when a run is killed.

    python -m benchmarks.durability --kills 200 [--seed 0] [--json out.json]

Runs are started, killed with SIGKILL at random moments, and started again until they are
complete. After every kill the journal is opened, and what the killed processes knew to have told
is looked for in it. A complete run is compared with one that nobody killed: every proposal, its
value, its bound and its certificate, to the last bit; how long it took is left out.

SIGKILL ends a process between two instructions; it does not cut the power, which is what the
journal's syncs are for.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import nnbo_mip as nm
from benchmarks.durability.run import KINDS
from nnbo_mip.loop.record.journal import Journal

TIMED = {"seconds", "fit_seconds", "digest"}
"""What another run may differ in: durations, and digests of what holds them."""


@dataclass
class Tally:
    """What happened to the runs of one kind."""

    kind: str
    kills: int = 0
    runs: int = 0
    told: int = 0
    lost: int = 0
    unreadable: int = 0
    proposals: int = 0
    differing: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost."""
        return not (self.lost or self.unreadable or self.differing)

    def __str__(self) -> str:
        return (
            f"| {self.kind} | {self.kills} | {self.runs} | {self.told} | {self.lost} | "
            f"{self.unreadable} | {self.proposals} | {self.differing} |"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill, open, count, and print the table."""
    options = parser().parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    shares = np.array_split(np.arange(options.kills), len(KINDS))
    tallies = []
    for kind, share in zip(KINDS, shares, strict=True):
        with tempfile.TemporaryDirectory() as folder:
            tallies.append(_tally(kind, len(share), Path(folder), rng))
        print(tallies[-1], flush=True)
    total = Tally("all")
    for tally in tallies:
        for name, count in asdict(tally).items():
            if name != "kind":
                setattr(total, name, getattr(total, name) + count)
    print("\n| runs | kills | runs completed | told | lost | unreadable | proposals | differing |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(map(str, [*tallies, total])))
    print(
        f"\n{'met' if total.is_clean else 'MISSED'}: of {total.told} observations told "
        f"{total.lost} were lost, {total.unreadable} journals were unreadable, "
        f"{total.differing} of {total.proposals} proposals differ from uninterrupted runs "
        f"({total.kills} kills)"
    )
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(tally) for tally in tallies], indent=1))
    return 0 if total.is_clean else 1


def _tally(kind: str, kills: int, folder: Path, rng: np.random.Generator) -> Tally:
    """Kill runs of one kind so many times; the last run is completed."""
    tally = Tally(kind)
    while tally.kills < kills:
        seed = tally.runs
        whole, horizon = _uninterrupted(kind, folder, seed)
        journal, log = folder / f"killed{seed}.db", folder / f"killed{seed}.log"
        log.touch()
        while not _is_complete(kind, journal):
            last_life = tally.kills >= kills
            killed = _live(kind, journal, log, seed, None if last_life else rng, horizon)
            tally.kills += killed
            _check(tally, journal, log)
        tally.runs += 1
        tally.told += len(log.read_text().splitlines())
        if KINDS[kind].in_flight:
            killed_run = _proposals(journal)
            tally.proposals += len(whole)
            tally.differing += sum(a != b for a, b in zip(whole, killed_run, strict=False))
            tally.differing += abs(len(whole) - len(killed_run))
    return tally


def _uninterrupted(kind: str, folder: Path, seed: int) -> tuple[list[Any], float]:
    """Return the proposals of a run that nobody kills, and how long it took."""
    journal = folder / f"whole{seed}.db"
    started = time.perf_counter()
    _live(kind, journal, folder / f"whole{seed}.log", seed, None, 0.0)
    return _proposals(journal), time.perf_counter() - started


def _live(
    kind: str,
    journal: Path,
    log: Path,
    seed: int,
    rng: np.random.Generator | None,
    horizon: float,
) -> int:
    """Start the processes of a run and kill them at a random moment; return how many were."""
    command = [sys.executable, "-m", "benchmarks.durability.run", kind]
    arguments = [str(journal), str(log), str(seed)]
    processes = [subprocess.Popen(command + arguments) for _ in range(KINDS[kind].writers)]
    killed = 0
    for process in processes:
        try:
            process.wait(None if rng is None else float(rng.uniform(0.0, horizon)))
        except subprocess.TimeoutExpired:
            process.kill()
            killed += process.wait() != 0
    return killed


def _check(tally: Tally, journal: Path, log: Path) -> None:
    """Open the journal and look for everything that is known to have been told."""
    told = Counter(line.removeprefix("told ") for line in log.read_text().splitlines())
    found: Counter[str] = Counter()
    try:
        if Journal.holds_a_run(journal):
            history = nm.BayesianOptimizer.open(journal).history
            found = Counter(json.dumps([*one.x.tolist(), one.y]) for one in history)
    except nm.NnboError as error:
        print(f"unreadable: {error}", file=sys.stderr)
        tally.unreadable += 1
        return
    tally.lost += sum((told - found).values())


def _is_complete(kind: str, journal: Path) -> bool:
    if not Journal.holds_a_run(journal):
        return False
    return len(nm.BayesianOptimizer.open(journal).history) >= KINDS[kind].tells


def _proposals(journal: Path) -> list[Any]:
    return [_untimed(one.to_dict()) for one in nm.BayesianOptimizer.open(journal).suggestions]


def _untimed(value: Any) -> Any:
    """Return a JSON value without what another run may differ in."""
    if isinstance(value, dict):
        return {name: _untimed(entry) for name, entry in value.items() if name not in TIMED}
    return [_untimed(entry) for entry in value] if isinstance(value, list) else value


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("--kills", type=int, default=200)
    made.add_argument("--seed", type=int, default=0, help="of the random moments")
    made.add_argument("--json", help="file for the counts")
    return made


if __name__ == "__main__":
    sys.exit(main())
