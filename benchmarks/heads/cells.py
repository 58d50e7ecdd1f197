"""Which heads are certified on which beliefs, and how long that takes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import nnbo_mip as nm
from benchmarks.heads.beliefs import FUNCTIONS, fitted
from nnbo_mip.exact.heads import sandwich
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.maximizers import Target

HEADS = (
    "mean",
    "ucb",
    "ts",
    "ei",
    "logei",
    "pi:xi=0.01",
    "empirical_ei",
    "empirical_pi:xi=0.01",
    "mes",
    "aei",
    "eqi",
)
"""Probabilities with a margin, as the sources use them: without one, the optimum of a belief that
passes through its data is the best observed point, where mean and std jump in the last digit."""

DRAWN = {
    "brvfl 100": {
        "empirical_ei": "empirical_ei:n_draws=16",
        "empirical_pi:xi=0.01": "empirical_pi:xi=0.01,n_draws=16",
    }
}
"""How heads of members are spelled for beliefs that have draws instead."""

LINEAR_PROBLEMS = 10


@dataclass(frozen=True)
class Aim:
    """What has to be certified, and in what time.

    Parameters
    ----------
    label : str
    families, heads : tuple of str
    inputs : int
    seconds : float
        That every run may take.
    gap : float
    loosest : float
        Gap above which a run that is not certified counts as a failure, not just as missed.
    """

    label: str
    families: tuple[str, ...]
    heads: tuple[str, ...]
    inputs: int
    seconds: float
    gap: float = 1e-4
    loosest: float = math.inf


CELLS = (
    "nomu clip",
    "nomu smooth",
    "ensemble",
    "ensemble mad",
    "dropout",
    "ervfl",
    "elm",
    "brvfl 100",
)

SMOOTH = ("gp", "brvfl tanh 100")
SMOOTH_HEADS = ("mean", "ucb", "ei", "pi:xi=0.01", "mes", "aei", "eqi")

AIMS = (
    Aim("every cell, d = 2", CELLS, HEADS, 2, 2.0),
    Aim("smooth beliefs, d = 2", SMOOTH, SMOOTH_HEADS, 2, 10.0),
    Aim("smooth beliefs, d = 3", SMOOTH, SMOOTH_HEADS, 3, 10.0),
    Aim("NOMU 2x32, d = 5", ("nomu clip", "nomu smooth"), ("ucb", "ei"), 5, 10.0),
    Aim("5 members 2x16, d = 5", ("ensemble",), ("ucb", "ei", "empirical_ei"), 5, 30.0),
    Aim("brvfl 300, d = 2", ("brvfl 300",), ("ucb", "ei"), 2, 2.0),
    Aim("brvfl 100, d = 5, gap 1e-3", ("brvfl 100",), ("ucb", "ei"), 5, 60.0, 1e-3, 0.1),
)


@dataclass(frozen=True)
class Run:
    """One maximization.

    Parameters
    ----------
    aim, family, function, head : str
    seed : int
    status, engine : str
    seconds : float
        CPU seconds.
    gap, value : float
    linear_problems : int
        That the sandwich took where it applies, on its own; else 0.
    sandwich_closed : bool
        Whether it closed the gap, where it was asked.
    """

    aim: str
    family: str
    function: str
    head: str
    seed: int
    status: str
    engine: str
    seconds: float
    gap: float
    value: float
    linear_problems: int = 0
    sandwich_closed: bool = True


def runs(aim: Aim, seeds: int, wall_factor: float) -> Iterator[Run]:
    """Maximize every head of an aim on every belief."""
    for family in aim.families:
        for function in FUNCTIONS[aim.inputs]:
            for seed in range(seeds):
                data = fitted(family, function, seed)
                for head in aim.heads:
                    name = DRAWN.get(family, {}).get(head, head)
                    acquisition = nm.acquisitions.create(name)
                    if acquisition.needs - data.belief.capabilities:
                        continue
                    limit = wall_factor * max(aim.seconds, 10.0)
                    began = time.process_time()
                    proposal = nm.maximize(
                        data.belief,
                        acquisition,
                        data.domain,
                        X=data.X,
                        y=data.y,
                        gap=aim.gap,
                        time_limit=limit,
                        maximizer=f"auto:time_limit={limit}",
                    )
                    seconds = time.process_time() - began
                    target = Target(acquisition.scorer(data.belief, data.X, data.y), data.domain)
                    problems, closed = _sandwich(target, aim.gap, limit)
                    yield Run(
                        aim.label,
                        family,
                        function,
                        head,
                        seed,
                        proposal.status,
                        proposal.engine,
                        seconds,
                        proposal.gap,
                        proposal.value,
                        problems,
                        closed,
                    )


def _sandwich(target: Target, gap: float, limit: float) -> tuple[int, bool]:
    """Return the linear problems of a sandwich alone, and whether it closed the gap."""
    problem = target.problem
    if sandwich.why_not(problem):
        return 0, True
    result = sandwich.solve(problem, SequenceOptions(), Monitor(problem, gap, limit))
    return len(result.steps), result.status == "optimal"


def cells(found: Sequence[Run]) -> str:
    """Return a table of families and heads: certified of all, and the longest time."""
    heads = [head for head in HEADS if any(run.head == head for run in found)]
    lines = [("", *heads), ("---",) * (len(heads) + 1)]
    for family in dict.fromkeys(run.family for run in found):
        row = [family]
        for head in heads:
            here = [run for run in found if (run.family, run.head) == (family, head)]
            closed = sum(run.status == "optimal" for run in here)
            longest = max((run.seconds for run in here), default=0.0)
            row.append(f"{closed}/{len(here)} {longest:.2f}" if here else "-")
        lines.append(tuple(row))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def verdict(aim: Aim, found: Sequence[Run]) -> str:
    """Return what was aimed at and what was reached, in a line."""
    late = [run for run in found if run.status != "optimal" or run.seconds > aim.seconds]
    failed = [run for run in found if run.status != "optimal" and run.gap > aim.loosest]
    longest = max(found, key=lambda run: run.seconds)
    most = max((run.linear_problems for run in found), default=0)
    many = sum(run.linear_problems > LINEAR_PROBLEMS or not run.sandwich_closed for run in found)
    line = (
        f"{'MISSED' if late else 'met   '}  {aim.label}: {len(found) - len(late)} of {len(found)} "
        f"within {aim.seconds:g} s, longest {longest.seconds:.2f} s ({longest.family} "
        f"{longest.head} {longest.function} seed {longest.seed})"
    )
    if most:
        line += f"; EI by the sandwich alone: at most {most} linear problems, {many} above 10"
    if math.isfinite(aim.loosest):
        line += f"; {len(failed)} failures (gap above {aim.loosest:g})"
    return line
