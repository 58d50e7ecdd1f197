"""The tables in markdown: regrets, cells, ranks, targets of COCO, what an ask costs, proofs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.everyday.methods import DEFAULT, MODELLED_BY_GP, is_ours
from benchmarks.everyday.results import Results, Run
from benchmarks.everyday.tasks import Everyday
from benchmarks.everyday.verdicts import cells_of, verdict_lines
from benchmarks.regret.table import markdown, shown
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.lab.statistics.profiles import target_profile
from nnbo_mip.lab.statistics.ranks import mean_ranks

SIZES = (("d <= 4", 0, 4), ("5 <= d <= 6", 5, 6), ("7 <= d <= 10", 7, 10))
"""Groups of tasks by their number of inputs, for what a step costs and proves."""

LATE = 20
"""Evaluations after which every tool has a model."""


def report(results: Results) -> str:
    """Return everything that is printed."""
    ours = [method for method in results.methods if is_ours(method)]
    readings = ", ".join(map(str, results.readings))
    parts = [
        f"Mean regret of the seeds after {readings} evaluations, starts included; under noise that "
        "of the point that the tool reports; the loss itself where no optimum is known.",
        *(regrets_table(results, group) for group in results.groups),
        "Mean rank over tasks and seeds, 1 the best, ties sharing their mean.",
        ranks_table(results),
        "BBOB: share of the pairs of a run and one of COCO's 51 targets, 100 to 1e-8, that is "
        "reached; no simulated restarts.",
        targets_table(results),
        *(f"{method}, cell by cell.\n\n{cells_table(results, method)}" for method in ours),
        "CPU seconds of an ask with its tell: median and 95 % quantile over the points that a tool "
        f"chose after the first {LATE} evaluations (all, where there are no later). Steps are "
        "those with a model: share that is `optimal` for the whole space, and for what the "
        "suggestion says (a region, where there is one); median share of its volume in the "
        "coordinates that move, and how many these are of all.",
        steps_table(results),
        "CPU seconds of a run, evaluations included: mean.",
        costs_table(results),
        *("\n".join(verdict_lines(results, method)) for method in ours),
        *(ask_line(results, method) for method in ours),
    ]
    return "\n\n".join(part for part in parts if part)


def regrets_table(results: Results, group: str) -> str:
    """Return mean regrets of a group, a row a task and method; the best peer is marked."""
    rows = []
    for task in results.of_group(group):
        best = [results.best_peer(task, count) for count in results.readings]
        for method in results.on(task):
            seeds = sorted(results.runs(task, method))
            figures = []
            for count, peer in zip(results.readings, best, strict=True):
                there = sorted(results.runs(task, method, count))
                mean = f"{results.regrets(task, method, count, there).mean():.3g}"
                figures.append(f"**{mean}**" if method == peer else mean)
            rows.append([task.label, method, str(len(seeds)), *figures])
    return markdown([group, "method", "seeds", *(f"@{n}" for n in results.readings)], rows)


def ranks_table(results: Results) -> str:
    """Return mean ranks, a row a group and method."""
    rows = []
    for group in results.groups:
        tasks = [task for task in results.of_group(group) if results.on(task)]
        methods = [
            name for name in results.methods if all(name in results.on(task) for task in tasks)
        ]
        columns = [_mean_ranks(results, tasks, methods, count) for count in results.readings]
        for place, method in enumerate(methods):
            cells = ["" if ranks is None else f"{ranks[place]:.2f}" for ranks in columns]
            rows.append([group, method, *cells])
    return markdown(["group", "method", *(f"@{n}" for n in results.readings)], rows)


def targets_table(results: Results) -> str:
    """Return shares of COCO's targets, a row a dimension and method; nothing without BBOB."""
    tasks = [task for task in results.of_group("bbob") if results.on(task)]
    rows = []
    for dimension in sorted({task.problem.dimension for task in tasks}):
        mine = [task for task in tasks if task.problem.dimension == dimension]
        for method in results.methods:
            runs = [run for task in mine for run in results.runs(task, method).values()]
            if not runs:
                continue
            profile = target_profile(traces_of(runs))
            cells = [f"{profile[min(n, len(profile)) - 1]:.3f}" for n in results.readings]
            rows.append([str(dimension), method, str(len(runs)), *cells])
    if not rows:
        return ""
    return markdown(["d", "method", "runs", *(f"@{n}" for n in results.readings)], rows)


def cells_table(results: Results, method: str) -> str:
    """Return paired differences to the best peer of each cell, those that say something."""
    rows = [
        [
            cell.task.label,
            f"@{cell.evaluations}",
            cell.rival,
            str(cell.difference.seeds),
            shown(cell.difference.log),
            shown(cell.difference.log_t),
            shown(cell.difference.regret),
            shown(cell.difference.regret_t),
            f"{cell.p:.2g}",
            cell.verdict,
        ]
        for group in results.groups
        for cell in cells_of(results, group, method)
    ]
    head = ["task", "after", "best peer", "seeds", "difference in log10", "t"]
    return markdown([*head, "difference in regret", "t", "p, Holm", "wholly"], rows)


def steps_table(results: Results) -> str:
    """Return times and proofs of steps, a row a method and size of tasks."""
    rows = []
    for method in results.methods:
        for name, least, most in SIZES:
            tasks = [one for one in results.tasks if least <= one.problem.dimension <= most]
            runs = [run for task in tasks for run in results.runs(task, method).values()]
            cells = _step_cells(runs, is_ours(method))
            if cells:
                rows.append([method, name, *cells])
    head = ["method", "inputs", "asks", "median", "95 %", "steps", "optimal, space"]
    head += ["optimal, as said", "within a region", "its share", "moving", "cut by time"]
    return markdown(head, rows)


def costs_table(results: Results) -> str:
    """Return the mean cost of a run, and of one seed of all tasks, a row a group and method."""
    rows = []
    for group in results.groups:
        for method in results.methods:
            means = [
                np.mean([run.cpu_seconds for run in results.runs(task, method).values()])
                for task in results.of_group(group)
                if results.runs(task, method)
            ]
            if means:
                total = float(np.sum(means)) / 3600.0
                cells = [str(len(means)), f"{np.mean(means):.3g}", f"{total:.2g}"]
                rows.append([group, method, *cells])
    return markdown(["group", "method", "tasks", "a run", "CPU hours a seed"], rows)


def ask_line(results: Results, method: str) -> str:
    """Say whether an ask up to ten inputs costs under a second, and no more than a peer's."""
    mine = _ask_seconds(results, method)
    peers = {name: _ask_seconds(results, name) for name in MODELLED_BY_GP}
    known = {name: float(np.median(found)) for name, found in peers.items() if len(found)}
    if not len(mine) or method != DEFAULT:
        return ""
    median = float(np.median(mine))
    met = median < 1.0 and median <= min(known.values(), default=np.inf)
    others = ", ".join(f"{name} {seconds:.2g}" for name, seconds in known.items())
    return (
        f"    {'met   ' if met else 'MISSED'} {method}: a median ask of {median:.2g} CPU s "
        f"(aim under 1 and no more than {others or 'a peer that was not run'})"
    )


def _mean_ranks(
    results: Results, tasks: Sequence[Everyday], methods: Sequence[str], count: int
) -> FloatArray | None:
    """Return mean ranks (k,) over tasks and the seeds that all methods have of each."""
    figures = []
    for task in tasks:
        seeds = results.shared_seeds(task, methods, count)
        if seeds:
            found = [results.regrets(task, method, count, seeds) for method in methods]
            figures.append(np.array(found).T)
    if not figures:
        return None
    made: FloatArray = mean_ranks(np.concatenate(figures)).mean(axis=0)
    return made


def traces_of(runs: Iterable[Run]) -> FloatArray:
    """Return best regrets (n, m) of runs, a shorter one kept at its last."""
    found = [run.trace() for run in runs]
    longest = max(map(len, found))
    return np.array([np.pad(one, (0, longest - len(one)), mode="edge") for one in found])


def _ask_seconds(results: Results, method: str) -> FloatArray:
    tasks = [task for task in results.tasks if task.problem.dimension <= SIZES[-1][2]]
    runs = [run for task in tasks for run in results.runs(task, method).values()]
    return _late_seconds(runs)


def _late_seconds(runs: Sequence[Run]) -> FloatArray:
    """Return the CPU seconds (n,) of asks after the first ones, of all where there are no later."""
    if not runs:
        return np.empty(0)
    spent, number = (
        np.concatenate([run.steps[name] for run in runs]) for name in ("cpu_seconds", "number")
    )
    late: FloatArray = spent[number >= LATE]
    return late if len(late) else spent


def _step_cells(runs: Sequence[Run], proves: bool) -> list[str]:
    """Return what is said of the points that a method chose; nothing where it chose none."""
    columns = {
        name: np.concatenate([run.steps[name] for run in runs]) if runs else np.empty(0)
        for name in ("status", "share", "moving", "time_limited")
    }
    spent = _late_seconds(runs)
    if not len(spent):
        return []
    cells = [str(len(spent)), *(f"{np.quantile(spent, q):.2g}" for q in (0.5, 0.95))]
    steps = columns["status"] != "initial"
    if not proves or not steps.any():
        return [*cells, *[""] * 7]
    optimal = columns["status"][steps] == "optimal"
    inside = ~np.isnan(columns["share"][steps])
    share, moving = (columns[name][steps][inside] for name in ("share", "moving"))
    regions = [f"{np.median(share):.2g}", f"{np.median(moving):g}"] if inside.any() else ["", ""]
    return [
        *cells,
        str(int(steps.sum())),
        f"{np.mean(optimal & ~inside):.1%}",
        f"{np.mean(optimal):.1%}",
        f"{np.mean(inside):.1%}",
        *regions,
        str(int(columns["time_limited"][steps].sum())),
    ]
