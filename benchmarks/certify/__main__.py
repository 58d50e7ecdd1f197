"""Speed: every engine and every installed peer on trained networks, in CPU seconds.

    python -m benchmarks.certify [--peers] [--nets DIR] [--limit 60] [--json out]

Whole calls with model building, one thread each, the same absolute and relative gap, the
median of the calls after one that warms up. Times under 0.1 s count as 0.1 s, a time-out
counts as the limit, and every answer is checked against everybody else's. With ``--json``
a killed run resumes where it was.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from pathlib import Path

from benchmarks.certify import measure
from benchmarks.certify.cases import case_paths, load_case
from benchmarks.certify.engines import ENTRANTS, OURS, PEERS, Ours, Peer
from benchmarks.certify.large_nomu import sampled_range, stored
from benchmarks.certify.nets import default_folder, trained
from benchmarks.certify.report import Table, megabytes
from benchmarks.certify.results import Row, make_row, read_rows, write_rows
from benchmarks.certify.targets import Target, targets

LARGE = ((1, 5.0, 1e-7), (2, 120.0, 1e-3))
"""For the NOMU of 2 x (3 x 1024): inputs, seconds aimed at, gap relative to the range. The
rounding of a float64 pass through this network is about 1e-8."""


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 1 if somebody of ours claimed what is not so."""
    options = parser().parse_args(arguments)
    run = Run(options)
    if options.large:
        return large(run)
    if options.nets:
        paths = case_paths(options.nets, options.only)
    else:
        paths = trained(default_folder(), only=options.only)
    entrants = chosen_entrants(options.engines, options.peers)
    rows = [
        run.row(path, entrant, options.gap, options.limit) for path in paths for entrant in entrants
    ]
    table = Table(rows)
    print(table.markdown())
    for target in targets(table):
        print(target)
    return int(complain(table))


def large(run: Run) -> int:
    """Measure `auto` on the NOMU of 2 x (3 x 1024), at d = 1 and d = 2."""
    failed = False
    for inputs, seconds, relative_gap in LARGE:
        path = stored(default_folder(), inputs)
        low, high = sampled_range(load_case(path).network)
        # The engines' gap is relative to max(1, |value|), and value is at least `high`.
        gap = relative_gap * (high - low) / max(1.0, abs(high))
        row = run.row(path, ENTRANTS["auto"], gap, 2.5 * seconds)
        reached = math.inf
        if row.bound is not None and row.value is not None:
            reached = row.bound - row.value
        met = row.median <= seconds and reached <= relative_gap * (high - low)
        what = f"{path.stem}, gap {relative_gap:g} of the range {high - low:.4g} in {seconds:g} s"
        figures = f"{row.median:.2f} s, gap {reached / (high - low):.2g} of the range"
        print(Target(what, f"{figures}, {megabytes(row.peak_mb)} MB", met))
        failed |= complain(Table([row]))
    return int(failed)


def complain(table: Table) -> bool:
    """Print what is wrong and what failed; return whether anything of ours is wrong."""
    for row, why in table.wrong_rows():
        print(f"WRONG: {row.entrant} on {row.network}: {why}")
    for row in table.rows.values():
        if row.status == "error":
            print(f"error: {row.entrant} on {row.network}: {row.message.strip()[-200:]}")
    return any(row.role == "ours" for row, _ in table.wrong_rows())


class Run:
    """The rows so far, and the file that keeps them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.about = {"machine": machine(), "started": time.strftime("%Y-%m-%d %H:%M")}
        stored_rows = read_rows(options.json) if options.json else []
        self.rows = {row.key: row for row in stored_rows}

    def row(self, path: Path, entrant: Ours | Peer, gap: float, limit: float) -> Row:
        """Return the stored row of a pair, or measure it."""
        case = load_case(path)
        key = (case.network.fingerprint, entrant.name, gap, limit)
        if key in self.rows and entrant.name not in self.options.again:
            return self.rows[key]
        job = measure.Job(
            network=str(path),
            entrant=entrant.name,
            gap=gap,
            limit=limit,
            wall_limit=limit * self.options.wall_factor,
            repeats=self.options.repeats,
        )
        row = make_row(case, job, entrant.role, measure.run(job))
        print(f"{case.name:28} {entrant.name:18} {row.status:9} {row.median:8.3f} s", flush=True)
        self.rows[key] = row
        if self.options.json:
            write_rows(self.options.json, list(self.rows.values()), self.about)
        return row


def chosen_entrants(names: list[str], with_peers: bool) -> list[Ours | Peer]:
    """Return the entrants that were asked for and are installed; say who is not."""
    wanted = (
        [ENTRANTS[name] for name in names] if names else [*OURS, *(PEERS if with_peers else ())]
    )
    present = []
    for entrant in wanted:
        if missing := entrant.missing():
            print(f"{entrant.name} is left out: {', '.join(missing)} not installed.")
        else:
            present.append(entrant)
    return present


def machine() -> str:
    """Say where this ran."""
    return f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}"


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(prog="python -m benchmarks.certify", description=__doc__)
    result.add_argument("--nets", type=Path, metavar="DIR", help="networks; default: train them")
    result.add_argument("--peers", action="store_true", help="measure the installed peers too")
    result.add_argument("--large", action="store_true", help="only the NOMU of 2 x (3 x 1024)")
    result.add_argument("--engines", nargs="*", default=[], choices=list(ENTRANTS))
    result.add_argument("--only", default="", help="networks whose names contain this")
    result.add_argument("--limit", type=float, default=60.0, help="CPU seconds a call")
    result.add_argument(
        "--wall-factor",
        type=float,
        default=1.0,
        help="wall seconds that an entrant is told, per second of --limit; more than 1 on a "
        "machine that is busy with other work",
    )
    result.add_argument("--gap", type=float, default=1e-4)
    result.add_argument("--repeats", type=int, default=5)
    result.add_argument("--json", type=Path, help="keep the rows here, and resume from here")
    result.add_argument("--again", nargs="*", default=[], help="entrants to measure anew")
    return result


if __name__ == "__main__":
    raise SystemExit(main())
