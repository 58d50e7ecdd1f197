"""Does it optimize? Our methods against those of others, from shared starts.

    python -m benchmarks.regret --quick|--full [--suite functions|ax] [--methods A B …]
        [--problems P …] [--seeds 10] [--store regret.db] [--jobs 2] [--plot out.png]
        [--report]

Runs are kept in the store as soon as they end; the same command goes on where it was killed, and
with --report runs nothing and prints what the store has.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.regret.ax import score_table
from benchmarks.regret.families import families_report
from benchmarks.regret.methods import METHODS, PEERS
from benchmarks.regret.options import add_run_options, runs_of
from benchmarks.regret.plot import SHOWN, draw
from benchmarks.regret.problems import QUICK, QUICK_SEEDS, QUICK_STEPS, SUITES, Case
from benchmarks.regret.results import Results
from benchmarks.regret.table import report

SEEDS = 10
TIME_LIMIT = 5.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, and print the table."""
    options = parser().parse_args(arguments)
    cases, methods = cases_of(options), methods_of(options)
    chosen = {name: METHODS[name] for name in methods}
    name = f"{options.suite} quick" if options.quick else options.suite
    runs = runs_of(options, name, cases, chosen, seeds_of(options), TIME_LIMIT)
    if runs is None:
        return 0
    results = Results(cases, methods, runs)
    print("\n\n".join(part for part in (report(results), families_report(results)) if part))
    if options.suite == "ax":
        print(f"\n{score_table(results)}")
    if options.plot:
        draw(results, Path(options.plot), options.plot_methods)
    return int(any(not run.is_done for run in runs))


def methods_of(options: argparse.Namespace) -> list[str]:
    """Return the methods that were chosen; all, where no figures of peers were published."""
    if options.methods:
        return list(options.methods)
    return [name for name in METHODS if options.suite != "ax" or name not in PEERS]


def cases_of(options: argparse.Namespace) -> list[Case]:
    """Return the functions that were chosen, with their budgets."""
    suite = SUITES[options.suite]
    names = options.problems or (QUICK if options.quick else list(suite))
    unknown = sorted(set(names) - set(suite))
    if unknown:
        raise SystemExit(
            f"the suite {options.suite!r} has {', '.join(suite)}; got {unknown[0]!r}; choose of "
            "them."
        )
    cases = [suite[name] for name in names]
    if options.quick:
        return [replace(case, evaluations=case.starts + QUICK_STEPS) for case in cases]
    return cases


def seeds_of(options: argparse.Namespace) -> range:
    """Return the seeds that were chosen."""
    given = options.seeds
    return range(given if given is not None else QUICK_SEEDS if options.quick else SEEDS)


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    size = made.add_mutually_exclusive_group(required=True)
    size.add_argument(
        "--quick",
        action="store_true",
        help=f"{len(QUICK)} functions, {QUICK_SEEDS} seeds, {QUICK_STEPS} steps",
    )
    size.add_argument("--full", action="store_true", help="the protocol of docs/dev/benchmarks.md")
    made.add_argument("--suite", choices=SUITES, default="functions")
    made.add_argument(
        "--methods",
        nargs="+",
        choices=METHODS,
        metavar="METHOD",
        help=f"of {', '.join(METHODS)}; left out, all, but no peers in the suite ax",
    )
    made.add_argument("--problems", nargs="+", metavar="FUNCTION")
    made.add_argument("--seeds", type=int, help=f"how many; {SEEDS} with --full")
    add_run_options(made, "regret", METHODS, SHOWN)
    return made


if __name__ == "__main__":
    sys.exit(main())
