"""Does it optimize functions of many variables? Regions and embeddings, with their proofs.

    python -m benchmarks.highdim --quick|--full [--methods A B …] [--problems P …] [--seeds 5]
        [--time-limit 30] [--store highdim.db] [--jobs 2] [--plot out.png]
        [--steps METHOD …] [--report]

Runs are kept in the store as soon as they end; the same command goes on where it was killed, and
with --report runs nothing and prints what the store has.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.highdim.cases import CASES, QUICK, QUICK_SEEDS, QUICK_STEPS, WideCase
from benchmarks.highdim.methods import METHODS, embeds
from benchmarks.highdim.table import report, steps_table
from benchmarks.regret.options import add_run_options, runs_of
from benchmarks.regret.plot import draw
from benchmarks.regret.results import Results

SEEDS = 5
TIME_LIMIT = 30.0

SHOWN = (
    "gp/trust",
    "gp/hashed",
    "brvfl/trust",
    "brvfl/few",
    "nomu/trust",
    "nomu/hashed",
    "random",
    "sobol",
)
"""What is drawn unless said otherwise."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, and print the tables."""
    options = parser().parse_args(arguments)
    cases = cases_of(options)
    methods = options.methods or list(METHODS)
    runs = runs_of(
        options,
        name_of(options),
        cases,
        {name: METHODS[name] for name in methods},
        seeds_of(options),
        options.time_limit,
        lambda case, method: fits(CASES[case.label], method),
    )
    if runs is None:
        return 0
    results = Results(cases, methods, runs)
    print(report(cases, results))
    for method in options.steps:
        for case in cases:
            print(f"\n{steps_table(case, method, results)}")
    if options.plot:
        draw(results, Path(options.plot), options.plot_methods)
    return int(any(not run.is_done for run in runs))


def cases_of(options: argparse.Namespace) -> list[WideCase]:
    """Return the functions that were chosen, with their budgets."""
    names = options.problems or (QUICK if options.quick else list(CASES))
    cases = [CASES[name] for name in names]
    if options.quick:
        return [_shortened(case) for case in cases]
    return cases


def _shortened(case: WideCase) -> WideCase:
    end = case.starts + QUICK_STEPS
    return replace(case, evaluations=end, checkpoints=(case.starts, end))


def seeds_of(options: argparse.Namespace) -> range:
    """Return the seeds that were chosen."""
    given = options.seeds
    return range(given if given is not None else QUICK_SEEDS if options.quick else SEEDS)


def name_of(options: argparse.Namespace) -> str:
    """Return the experiment's name: runs with another limit of time are others."""
    return f"highdim {options.time_limit:g} s{' quick' if options.quick else ''}"


def fits(case: WideCase, method: str) -> bool:
    """Whether a method is run on a function: embeddings where variables do not matter."""
    return case.has_idle_variables or not embeds(method)


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    size = made.add_mutually_exclusive_group(required=True)
    size.add_argument(
        "--quick",
        action="store_true",
        help=f"{len(QUICK)} functions, {QUICK_SEEDS} seed, {QUICK_STEPS} steps",
    )
    size.add_argument("--full", action="store_true", help="the protocol of docs/dev/benchmarks.md")
    made.add_argument(
        "--methods",
        nargs="+",
        choices=METHODS,
        metavar="METHOD",
        help=f"of {', '.join(METHODS)}; left out, all",
    )
    made.add_argument("--problems", nargs="+", choices=CASES, metavar="FUNCTION")
    made.add_argument("--seeds", type=int, help=f"how many; {SEEDS} with --full")
    made.add_argument(
        "--time-limit", type=float, default=TIME_LIMIT, help="wall seconds of an ask of ours"
    )
    add_run_options(made, "highdim", METHODS, SHOWN)
    made.add_argument(
        "--steps",
        nargs="+",
        choices=METHODS,
        default=[],
        metavar="METHOD",
        help="print every step of the first seed",
    )
    return made


if __name__ == "__main__":
    sys.exit(main())
