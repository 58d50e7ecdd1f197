"""Generative surrogates beside a Gaussian process: regression and optimization in one dimension.

    python -m benchmarks.generative [--seeds 2] [--runs 3] [--steps 15] [--json out]
                                    [--regression PROBLEM …] [--optimization PROBLEM …]

*Regression.* Every surrogate learns the tests of source 001 from n uniform points and is
judged on 2000 fresh ones, in units of y: exp of the mean log predictive density (large is
better), and the mean relative error of the mean and of the mode of the predictive (small is
better). The Gaussian process finds the noise of the values and forecasts with it; `empirical`
forecasts average and deviation of what was observed.

*Optimization.* Five uniform points, then `steps` by the surrogate, expected improvement
maximized over 5000 d random points: of the normal approximation (`ei`), or of the mixture itself
(`ei_mixture`). Regret is that of the values without noise at the points that were chosen, the
mean over runs with its standard error. `against random` is the mean difference to random search
with the same seed, with its standard error; `mixture - normal` likewise.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates import Belief, Capability, create

GP = (
    "gp:kernel=matern,standardize_inputs=True,length_scale_bounds=(0.001,2.0),"
    "amplitude_bounds=(0.001,2.0),noise=0.01,noise_bounds=(0.001,2.0)"
)
"""With the bounds of the source. Below them two levels of values are explained by a function that
jumps between neighbours, and no noise."""

LEARNED = ("kde", "gmm", "spn", GP, "empirical")
COUNTS = (23, 86)
REGRESSION = ("test1", "test2", "test3", "test4")
N_TEST = 2000
LEAST_STD = 1e-6
"""Of a normal predictive, in deviations of y: a process may be certain to the last digit."""

GENERATIVE = (
    "kde",
    "gmm:n_components=(2,4,8),n_restarts=3,folds=5",
    "spn:candidates=8,folds=3,n_restarts=1,epochs=200",
)
"""With fewer candidates and folds, as every step learns anew."""

METHODS = (
    *((spec, head) for spec in GENERATIVE for head in ("ei", "ei_mixture")),
    ("gp:kernel=matern,n_restarts=3", "ei"),
    ("empirical", "ei"),
)
OPTIMIZATION = ("test1", "test2", "test3b", "test4b")
STARTS = 5
CANDIDATES = 5000

Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Generative surrogates, two tables.")
    parser.add_argument("--seeds", type=int, default=2, help="data sets of each regression")
    parser.add_argument("--runs", type=int, default=3, help="runs of each optimization")
    parser.add_argument("--steps", type=int, default=15, help="steps of a run")
    parser.add_argument("--regression", nargs="*", default=REGRESSION, metavar="PROBLEM")
    parser.add_argument("--optimization", nargs="*", default=OPTIMIZATION, metavar="PROBLEM")
    parser.add_argument("--json", type=Path, help="keeps the rows")
    given = parser.parse_args(arguments)
    learned = list(regressions(given.regression, given.seeds))
    print(regression_table(learned), flush=True)
    found = list(optimizations(given.optimization, given.runs, given.steps))
    print(optimization_table(found))
    if given.json:
        text = json.dumps({"regression": learned, "optimization": found}, indent=1)
        given.json.write_text(text + "\n", encoding="utf-8")


def regressions(problems: Sequence[str], seeds: int) -> Iterator[Row]:
    """Yield one row a surrogate, test, count and seed."""
    for name in problems:
        problem = nm.problems.create(name)
        d = problem.dimension
        for n in COUNTS:
            for seed in range(seeds):
                rng = np.random.default_rng([seed, n])
                X, fresh = rng.uniform(-1.0, 1.0, (n, d)), rng.uniform(-1.0, 1.0, (N_TEST, d))
                y = problem.evaluate(problem.space.decode(X), rng)
                truth = problem.evaluate(problem.space.decode(fresh), rng)
                for spec in LEARNED:
                    started = time.process_time()
                    belief = create(spec, seed=seed).fit(X, y)
                    seconds = time.process_time() - started
                    scores = judged(belief, fresh, truth, float(y.std()))
                    yield {"test": name, "n": n, "seed": seed, "surrogate": spec,
                           "seconds": seconds, **scores}  # fmt: skip


def judged(belief: Belief, points: FloatArray, y: FloatArray, size: float) -> dict[str, float]:
    """Return mean log density and mean relative errors of mean and mode."""
    mean, std = belief.mean(points), np.hypot(belief.std(points), belief.noise_std(points))
    std = np.maximum(std, LEAST_STD * size)
    mode = mean
    if Capability.MIXTURE in belief.capabilities:
        mixture = belief.mixture(points)
        logs = mixture.log_density(y)
        # The component with the highest peak: the mode, but for overlaps.
        peaks = mixture.weights / mixture.stds
        mode = mixture.means[np.arange(len(y)), peaks.argmax(axis=1)]
    else:
        logs = -0.5 * np.square((y - mean) / std) - np.log(std) - 0.5 * np.log(2.0 * np.pi)
    return {
        "log_density": float(logs.mean()),
        "error": float((np.abs(mean - y) / np.abs(y)).mean()),
        "mode_error": float((np.abs(mode - y) / np.abs(y)).mean()),
    }


def optimizations(problems: Sequence[str], runs: int, steps: int) -> Iterator[Row]:
    """Yield one row a method, test and seed."""
    for name in problems:
        problem = nm.problems.create(name)
        for seed in range(runs):
            for spec, head in METHODS:
                started = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", nm.UncertifiedWarning)
                    result = nm.optimize(
                        problem,
                        problem.space,
                        n_evals=STARTS + steps,
                        surrogate=spec,
                        acquisition=head,
                        maximizer={"name": "random", "evaluations": CANDIDATES * problem.dimension},
                        initial={"name": "uniform", "n": STARTS},
                        scaling="none",
                        escape="none",
                        warp=None,
                        seed=seed,
                    )
                chosen = np.array([told.x for told in result.history])
                yield {
                    "test": name,
                    "surrogate": spec.partition(":")[0],
                    "head": head,
                    "seed": seed,
                    "regret": float(problem.regret(chosen).min()),
                    "seconds": time.process_time() - started,
                }


def regression_table(rows: Sequence[Row]) -> str:
    """Return the means over seeds as Markdown."""
    lines = [
        "| test | n | " + " | ".join(spec.partition(":")[0] for spec in LEARNED) + " |",
        "|---" * (len(LEARNED) + 2) + "|",
    ]
    for name in dict.fromkeys(row["test"] for row in rows):
        for n in COUNTS:
            cells = []
            for spec in LEARNED:
                mine = [r for r in rows if (r["test"], r["n"], r["surrogate"]) == (name, n, spec)]
                density = np.exp(np.mean([r["log_density"] for r in mine]))
                error, mode = (np.mean([r[key] for r in mine]) for key in ("error", "mode_error"))
                cells.append(f"{density:.2g} {error:.3f} {mode:.3f}")
            lines.append(f"| {name} | {n} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def optimization_table(rows: Sequence[Row]) -> str:
    """Return the regrets and paired differences as Markdown."""
    lines = [
        "| test | surrogate | head | regret | against random | mixture - normal | CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(row["test"] for row in rows):
        regrets = {
            (r["surrogate"], r["head"]): [
                s["regret"]
                for s in rows
                if (s["test"], s["surrogate"], s["head"]) == (name, r["surrogate"], r["head"])
            ]
            for r in rows
            if r["test"] == name
        }
        for (spec, head), found in regrets.items():
            against = paired(found, regrets["empirical", "ei"]) if spec != "empirical" else ""
            gain = paired(found, regrets[spec, "ei"]) if head == "ei_mixture" else ""
            spent = [
                r["seconds"]
                for r in rows
                if (r["test"], r["surrogate"], r["head"]) == (name, spec, head)
            ]
            lines.append(
                f"| {name} | {spec} | {head} | {with_error(found)} | {against} | {gain} | "
                f"{np.mean(spent):.1f} |"
            )
    return "\n".join(lines)


def paired(one: Sequence[float], other: Sequence[float]) -> str:
    """Return the mean difference with its standard error."""
    return with_error(np.subtract(one, other).tolist(), signed=True)


def with_error(values: Sequence[float], signed: bool = False) -> str:
    """Return mean and standard error; no error of a single value."""
    mean = f"{np.mean(values):{'+' if signed else ''}.3g}"
    if len(values) < 2:
        return mean
    return f"{mean} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.2g}"


if __name__ == "__main__":
    main()
