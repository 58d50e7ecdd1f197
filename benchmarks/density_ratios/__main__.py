"""Density ratios: how well they are estimated, and what they find, as tables.

    python -m benchmarks.density_ratios toy [--seeds 20] [--points 2000] [--gamma 0.333]
    python -m benchmarks.density_ratios workflow [--problem sine_parabola] [--methods boggn]
    python -m benchmarks.density_ratios regret --problem branin [--methods NAME …] [--seeds 10]
                                        [--evaluations 100] [--initial 10] [--json out]

`toy` estimates a ratio of two known densities (`density_toy`) and prints, for every estimator, the
median distance of its peak from the exact one, how many peaks are within 0.15, and the mean error
of the ratio. `workflow` follows one run a seed: the regret of each value, the share of all values
so far that are at most as large (their empirical distribution), and the score of the point.
`regret` runs loops (`density_runs`) from the same random starts and prints the median regret at a
few numbers of evaluations, the mean at the end, and against random points the p-value of a Wilcoxon
test on the seeds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

from benchmarks.density_ratios.runs import METHODS, regrets, steps_of
from benchmarks.density_ratios.toy import toy_rows
from nnbo_mip.core.arrays import FloatArray

NEAR = 0.15
"""A peak within it counts as found."""


def toy_table(n: int, gamma: float, seeds: int) -> list[str]:
    """Return the table of `toy`."""
    lines = [
        "| estimator | peak off by | peaks within 0.15 | error of the ratio |",
        "|---|---|---|---|",
    ]
    for name, rows in toy_rows(n, gamma, seeds).items():
        peaks, errors = np.array(rows).T
        near = int((peaks < NEAR).sum())
        lines.append(
            f"| {name} | {np.median(peaks):.3f} | {near} of {seeds} | {errors.mean():.3f} |"
        )
    return lines


def workflow_table(
    method: str, problem: str, evaluations: int, initial: int, seed: int
) -> list[str]:
    """Return the table of `workflow` for one seed."""
    result, made = steps_of(method, problem, evaluations, initial, seed)
    values = np.asarray(result.func_vals)
    lines = [
        "| evaluation | regret | share of values at most as large | score |",
        "|---|---|---|---|",
    ]
    scores = [np.nan] * (len(values) - len(result.steps)) + [one.value for one in result.steps]
    for place, value in enumerate(values):
        share = float((values[: place + 1] <= value).mean())
        regret = value - made.optimum
        lines.append(f"| {place + 1} | {regret:.4f} | {share:.2f} | {scores[place]:.3f} |")
    return lines


def marks(evaluations: int, initial: int) -> list[int]:
    """Return the numbers of evaluations at which regret is shown."""
    spread = np.linspace(initial, evaluations, 4)[1:]
    return [int(mark) for mark in spread]


def regret_table(found: dict[str, FloatArray], evaluations: int, initial: int) -> list[str]:
    """Return the table of `regret`, of curves (seeds, evaluations) by method."""
    at = marks(evaluations, initial)
    columns = [f"@{mark}" for mark in at]
    lines = [
        f"| method | {' | '.join(columns)} | mean at the end | better than random, p |",
        "|---" * (len(at) + 3) + "|",
    ]
    for name, curves in found.items():
        middle = [f"{np.median(curves[:, mark - 1]):.3g}" for mark in at]
        mean = f"{curves[:, -1].mean():.3g}"
        lines.append(f"| {name} | {' | '.join(middle)} | {mean} | {_beats(found, name)} |")
    return lines


def _beats(found: dict[str, FloatArray], name: str) -> str:
    """Return the p-value of having smaller regret than random points of the same seeds."""
    if name == "random" or "random" not in found:
        return "-"
    difference = found[name][:, -1] - found["random"][:, -1]
    if not difference.any():
        return "-"
    return f"{float(wilcoxon(difference, alternative='less').pvalue):.2g}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("toy", "workflow", "regret"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--gamma", type=float, default=1.0 / 3.0)
    parser.add_argument("--problem", default="branin")
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--initial", type=int, default=10)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    if given.what == "toy":
        print("\n".join(toy_table(given.points, given.gamma, given.seeds)))
        return
    if given.what == "workflow":
        for seed in range(given.seeds):
            for method in given.methods:
                print(f"{method}, seed {seed}")
                run = given.problem, given.evaluations, given.initial
                print("\n".join(workflow_table(method, *run, seed)))
        return
    found: dict[str, FloatArray] = {}
    for method in given.methods:
        began = time.process_time()
        rows = [
            regrets(method, given.problem, given.evaluations, given.initial, seed)
            for seed in range(given.seeds)
        ]
        found[method] = np.array(rows)
        print(f"{method}: {time.process_time() - began:.1f} CPU s", flush=True)
        if given.json:
            text = json.dumps({name: curves.tolist() for name, curves in found.items()})
            given.json.write_text(text)
    print("\n".join(regret_table(found, given.evaluations, given.initial)))


if __name__ == "__main__":
    main()
