"""Three ways to bound a node of the search over ReLU phases, side by side in CPU seconds.

    python -m benchmarks.phase_bounds [--nets DIR] [--limit 60] [--json out]

On networks it trains itself, and on those of DIR with ten inputs or more: the phase engine as
shipped; its compiled dual simplex alone; a search with HiGHS as a warm-started dual simplex;
batched dual ascent (alpha/beta-CROWN), alone, where only nodes without open ReLUs get linear
programs, and with linear programs for all nodes where it stalls. All start from the same
incumbent and the same pre-activation bounds, in one process after a warm-up; a call that
takes less than a second is the median of three. Every bound is checked against every value.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.certify.cases import Case, case_paths, load_case
from benchmarks.certify.nets import default_folder, trained
from benchmarks.certify.train_nets import Recipe
from benchmarks.phase_bounds import highs as phase_bounds_highs
from benchmarks.phase_bounds.root import CpuMonitor, Outcome, prepare
from nnbo_mip.core.terms import Measure
from nnbo_mip.exact.branching import phases
from nnbo_mip.exact.branching.phase_ascent import AscentOptions, AscentSearch
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.space.domain import Domain

RECIPES = (
    Recipe("mlp", "ackley", 5, 2, 32),
    Recipe("mlp", "rosenbrock", 5, 3, 32),
    Recipe("mlp", "rosenbrock", 7, 2, 32),
    Recipe("mlp", "levy", 10, 2, 32),
    Recipe("mlp", "rosenbrock", 10, 3, 32),
    Recipe("mlp", "levy", 7, 2, 64),
    Recipe("mlp", "rosenbrock", 10, 2, 64),
    Recipe("mlp", "rosenbrock", 20, 2, 32),
    Recipe("mlp", "levy", 20, 3, 32),
    Recipe("mlp", "ackley", 20, 3, 32),
)
FEWEST_INPUTS = 10
"""Of the networks in DIR only these: with fewer inputs boxes are the better branches."""

REPEATS, LONG_CALL = 3, 1.0
HIGHS_SLACK = 1e-6
"""Relative; only the bounds of HiGHS are not rounded outward."""


def engine(problem: Problem, monitor: Monitor, options: phases.PhaseOptions) -> Outcome:
    """Run the phase engine."""
    result = phases.solve(problem, options, monitor)
    return Outcome(result.bound, result.counters["nodes"], result.counters["simplex_steps"])


def ascent(problem: Problem, monitor: Monitor, options: AscentOptions) -> Outcome:
    """Search by dual ascent from the root on."""
    program = prepare(problem, monitor).program
    search = AscentSearch(problem, program, monitor, options)
    root = np.zeros((1, program.n_relus), dtype=np.int8)
    _, bounds = search.run(root, np.full(1, np.inf), node_limit=10**9)
    bound = max(search.settled, bounds.max(initial=-np.inf))
    return Outcome(bound, search.nodes, search.steps)


SIMPLEX = phases.PhaseOptions(ascends=False)
METHODS: dict[str, Callable[[Problem, Monitor], Outcome]] = {
    "as shipped": partial(engine, options=phases.PhaseOptions()),
    "dual simplex": partial(engine, options=SIMPLEX),
    "HiGHS": phase_bounds_highs.solve,
    "ascent": partial(ascent, options=AscentOptions(programs=False)),
    "ascent + simplex": partial(ascent, options=AscentOptions()),
}


@dataclass(frozen=True)
class Row:
    """One method on one network; `seconds` are CPU seconds of the whole call."""

    network: str
    n_relus: int
    method: str
    seconds: float
    value: float
    bound: float
    closed: bool
    nodes: int
    simplex_steps: int


def measure(case: Case, method: str, gap: float, limit: float) -> Row:
    """Run a method, again if that is quick, and recompute the value of its point."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < REPEATS and seconds[0] < LONG_CALL):
        problem = Problem(case.network, Domain(case.lower, case.upper))
        began = time.process_time()
        monitor = CpuMonitor(problem, gap, limit)
        outcome = METHODS[method](problem, monitor)
        seconds.append(time.process_time() - began)
    x = monitor.best_x
    if x is None or not bool(((case.lower <= x) & (x <= case.upper)).all()):
        raise RuntimeError(f"{method} found no point of the box of {case.name}")
    value = case.value(x)
    return Row(
        case.name,
        case.network.n_relus,
        method,
        statistics.median(seconds),
        value,
        float(outcome.bound),
        Measure.NATURAL.closes(value, outcome.bound, gap),
        outcome.nodes,
        outcome.simplex_steps,
    )


def contradictions(rows: list[Row], gap: float) -> list[str]:
    """Say which bounds are below somebody's value, and which closed searches missed it."""
    found = []
    for row in rows:
        best = max(other.value for other in rows if other.network == row.network)
        scale = max(1.0, abs(best))
        slack = HIGHS_SLACK * scale if row.method == "HiGHS" else 0.0
        if row.bound < best - slack or (row.closed and row.value < best - gap * scale - slack):
            found.append(
                f"WRONG: {row.method} on {row.network}: value {row.value!r} and bound "
                f"{row.bound!r}, but somebody has {best!r}"
            )
    return found


def table(rows: list[Row], limit: float) -> str:
    """Return a Markdown table: CPU seconds, nodes, and the gap where it stayed open."""
    head = ["network", "ReLU", *METHODS]
    lines = [head, ["---"] * len(head)]
    for network in dict.fromkeys(row.network for row in rows):
        own = {row.method: row for row in rows if row.network == network}
        lines.append([network, str(next(iter(own.values())).n_relus)])
        lines[-1] += [_cell(own[method], limit) for method in METHODS]
    means = []
    for method in METHODS:
        counted = [row.seconds if row.closed else limit for row in rows if row.method == method]
        mean = math.exp(statistics.fmean(map(math.log, counted)))
        missed = sum(not row.closed for row in rows if row.method == method)
        means.append(f"{mean:.2f} s; {missed} open")
    lines.append(["geometric mean", "", *means])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(row: Row, limit: float) -> str:
    if row.closed:
        return f"{row.seconds:.2f} s, {row.nodes}"
    return f">{limit:g} s, {row.nodes}, gap {row.bound - row.value:.2g}"


def main(arguments: list[str] | None = None) -> int:
    """Run all methods on all networks; 1 if two answers contradict each other."""
    options = parser().parse_args(arguments)
    paths = trained(default_folder(), RECIPES, options.only)
    if options.nets:
        paths += case_paths(options.nets, options.only)
    cases = [load_case(path) for path in paths]
    cases = [c for c in cases if len(c.lower) >= FEWEST_INPUTS or c.name in _own_names()]
    smallest = min(cases, key=lambda case: case.network.n_relus)
    for method in METHODS:
        measure(smallest, method, options.gap, options.limit)
    rows = []
    for case in sorted(cases, key=lambda case: (case.network.n_relus, case.name)):
        for method in METHODS:
            row = measure(case, method, options.gap, options.limit)
            print(f"{row.network:28} {method:22} {_cell(row, options.limit)}", flush=True)
            rows.append(row)
            if options.json:
                options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    print(table(rows, options.limit))
    wrong = contradictions(rows, options.gap)
    print(*wrong, sep="\n")
    return int(bool(wrong))


def _own_names() -> set[str]:
    return {recipe.name for recipe in RECIPES}


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(prog="python -m benchmarks.phase_bounds", description=__doc__)
    result.add_argument("--nets", type=Path, metavar="DIR", help="more networks")
    result.add_argument("--only", default="", help="networks whose names contain this")
    result.add_argument("--limit", type=float, default=60.0, help="CPU seconds a call")
    result.add_argument("--gap", type=float, default=1e-4)
    result.add_argument("--json", type=Path, help="write the rows here")
    return result


if __name__ == "__main__":
    raise SystemExit(main())
