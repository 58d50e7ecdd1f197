"""Maximizers on the same trained networks, step by step: what source 004 leaves to the future.

    python -m benchmarks.sources.maximizers [--problems forrester branin] [--instances 2]

A NOMU of two layers with 16 units learns from eight uniform points; every maximizer gets the same
mean + std, scaled to a mean width of 0.1; the point of `bab` is evaluated, with the rule of escape
of the source, and the network is trained anew.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import nnbo_mip as nm
from nnbo_mip.lab.plan.starts import shared_starts
from nnbo_mip.loop.designs.designs import design_of
from nnbo_mip.loop.policies.escape import escape_of
from nnbo_mip.loop.policies.width_scaling import scaling_of
from nnbo_mip.maximizers.base.abstract import Proposal

PAGE_DATA = Path(__file__).parents[2] / "docs" / "plots" / "sources_maximizers.json"

EXACT = ("mip", "bab")
SEARCHES = ("grid", "direct", "lbfgs")
MAXIMIZERS = (*EXACT, *SEARCHES)

SURROGATE = {"name": "nomu", "hidden": [16, 16], "y_range": [-1.0, 1.0]}
ACQUISITION = "ucb:beta=1"
SCALING = "mean_width:budget=0.1,unit=1"
ESCAPE = "exponential:padding=4"
STARTS = 8
TIME_LIMIT = 60.0
GAP = 1e-6


@dataclass(frozen=True)
class Step:
    """What all maximizers found for one acquisition.

    Parameters
    ----------
    problem : str
    instance, number : int
    certified : bool
        Whether one of them proved that no point scores more than `GAP` better.
    bound : float
        The least that was proven.
    values, seconds : mapping of str to float
        Score of each maximizer's point, and its wall time.
    """

    problem: str
    instance: int
    number: int
    certified: bool
    bound: float
    values: dict[str, float]
    seconds: dict[str, float]


def steps_of(spec: str, instance: int, steps: int) -> list[Step]:
    """Run one instance."""
    problem = nm.problems.create(spec)
    scaled, domain = problem.scaled(), problem.space.model()
    X = shared_starts(design_of(f"uniform:n={STARTS}"), problem.space, instance)
    y = np.asarray(scaled.score(X))
    rule, made, c = escape_of(ESCAPE), [], 0.0
    for number in range(steps):
        belief = nm.surrogates.create(SURROGATE, seed=1000 * instance + number).fit(X, y)
        c = c or scaling_of(SCALING).factor(belief, domain, y, seed=instance)
        own = belief.scaled(c)
        table = nm.compare(
            own, ACQUISITION, domain, MAXIMIZERS, X=X, y=y, gap=GAP, time_limit=TIME_LIMIT
        )
        made.append(
            Step(
                spec,
                instance,
                number,
                table.certified,
                table.bound,
                {row.maximizer: row.value for row in table},
                {row.maximizer: row.seconds for row in table},
            )
        )

        def propose(c: float, away: float | None = None) -> Proposal:
            return nm.maximize(belief.scaled(c), ACQUISITION, domain, maximizer="bab", X=X, y=y)  # noqa: B023

        eps = rule.eps(number, STARTS, domain.dimension, steps)
        x = rule.apply(propose, X, c, eps, domain).proposal.x
        if x is None:
            break
        X, y = np.vstack([X, x]), np.append(y, scaled.score(x[None, :]))
    return made


def read(path: Path = PAGE_DATA) -> list[Step]:
    """Return what the command has written."""
    return [Step(**one) for one in json.loads(path.read_text(encoding="utf-8"))]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and write the steps after each instance."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sources.maximizers")
    parser.add_argument("--problems", nargs="+", default=["forrester", "branin"])
    parser.add_argument("--instances", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--out", type=Path, default=PAGE_DATA)
    asked = parser.parse_args(arguments)
    made: list[Step] = []
    for instance in range(asked.instances):
        for spec in asked.problems:
            made += steps_of(spec, instance, asked.steps)
            lines = ",\n".join(json.dumps(asdict(one)) for one in made)
            asked.out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
