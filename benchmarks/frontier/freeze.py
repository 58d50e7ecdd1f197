"""Take beliefs out of runs and keep them as data, with their digests.

    python -m benchmarks.frontier.freeze [--families gp …] [--inputs 4 5 6 8] [--roles judged]

What is kept stays as it is: a file that is there is not written again, so that no easier belief
takes its place. L-BFGS chooses the points, everywhere in the box; all else is a run's default, but
for the initial points of many inputs, of which there would be more than twenty.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass, field

import nnbo_mip as nm
from benchmarks.frontier.beliefs import EVALUATIONS, FAMILIES, INPUTS, ROLES, Run, keep, runs
from nnbo_mip.loop.settings.defaults import SOME_INPUTS
from nnbo_mip.maximizers.base.abstract import Proposal, Request
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.lbfgs import Lbfgs
from nnbo_mip.scores.objective import Objective


@dataclass(frozen=True)
class Witness(Lbfgs):
    """L-BFGS that remembers what it was asked to maximize last."""

    seen: list[Objective] = field(default_factory=list, compare=False)

    def _maximize(self, target: Target, request: Request) -> Proposal:
        self.seen[:] = [target.objective]
        return super()._maximize(target, request)


def main(arguments: list[str] | None = None) -> int:
    """Make the runs whose beliefs are missing."""
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    made.add_argument("--families", nargs="+", choices=tuple(FAMILIES), default=["gp"])
    made.add_argument("--inputs", nargs="+", type=int, default=list(INPUTS))
    made.add_argument("--roles", nargs="+", choices=tuple(ROLES), default=list(ROLES))
    options = made.parse_args(arguments)
    for run in runs(options.families, options.inputs, options.roles):
        if not all(run.path(count).exists() for count in EVALUATIONS):
            freeze(run)
    return 0


def freeze(run: Run) -> None:
    """Make one run, and keep its beliefs after so many evaluations."""
    problem = nm.problems.create(run.problem)
    witness = Witness()
    optimizer = nm.BayesianOptimizer(
        problem.space,
        FAMILIES[run.family],
        "ei",
        witness,
        direction=problem.direction,
        initial=None if run.inputs <= SOME_INPUTS else 2 * run.inputs,
        region=None,
        time_limit=60.0,
        seed=run.inputs,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for count in range(max(EVALUATIONS) + 1):
            asked = optimizer.ask()
            if count in EVALUATIONS:
                kept = keep(run.path(count), witness.seen[0])
                print(run.name, count, kept[:12], flush=True)
            optimizer.tell(asked.x, float(problem(asked.x)))


if __name__ == "__main__":
    raise SystemExit(main())
