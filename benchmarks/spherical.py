"""Seconds and regret of `spherical_linear` in many inputs.

    python -m benchmarks.spherical seconds
    python -m benchmarks.spherical regret

Seconds are CPU seconds of one core: the fit, and the proof of the largest value of a draw over the
whole cube, of values of a shifted paraboloid with noise. Regret is that on Levy's function in 20
inputs, as it is and with its optimum moved at random, beside a Gaussian process; both in the trust
region that a run takes by itself there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray

INPUTS, VALUES = (20, 100, 1000), (50, 200)
EVALUATIONS = 100
METHODS: dict[str, dict[str, Any]] = {
    "spherical_linear, ts": {"surrogate": "spherical_linear"},
    "gp, ei, lbfgs": {"surrogate": "gp", "maximizer": "lbfgs"},
}


def seconds() -> None:
    """Print CPU seconds of fits and proofs."""
    # What is imported, or compiled, when it is first used is not timed.
    first = nm.surrogates.create("spherical_linear").fit([[0.0], [1.0]], [0.0, 1.0])
    nm.maximize(first, "ts", nm.Space.box([-1.0], [1.0]).model()).check()
    print("| inputs | values | fit | proof of a draw | check | status | gap |")
    print("|---|---|---|---|---|---|---|")
    for d in INPUTS:
        for n in VALUES:
            rng = np.random.default_rng([d, n])
            X = rng.uniform(-1.0, 1.0, (n, d))
            y = -np.square(X - rng.uniform(-0.5, 0.5, d)).sum(axis=1)
            y = y + 0.05 * y.std() * rng.standard_normal(n)
            began = time.process_time()
            belief = nm.surrogates.create("spherical_linear").fit(X, y)
            fitted = time.process_time()
            cube = nm.Space.box([-1.0] * d, [1.0] * d).model()
            proposal = nm.maximize(belief, "ts", cube)
            proved = time.process_time()
            verdict = proposal.check().verdict
            checked = time.process_time()
            spent = (fitted - began, proved - fitted, checked - proved)
            cells = " | ".join(f"{one:.3f}" for one in spent)
            gap = f"{proposal.gap:.1g}"
            print(f"| {d} | {n} | {cells} | {proposal.status}, {verdict} | {gap} |", flush=True)


def levy(shift: FloatArray) -> Callable[[FloatArray], float]:
    """Return Levy's function of x - shift; its least value is 0, at 1 + shift."""

    def value(x: FloatArray) -> float:
        w = 1.0 + (np.asarray(x) - shift - 1.0) / 4.0
        inner = np.square(w[:-1] - 1.0) * (1.0 + 10.0 * np.square(np.sin(np.pi * w[:-1] + 1.0)))
        last = (w[-1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[-1]) ** 2)
        return float(np.sin(np.pi * w[0]) ** 2 + inner.sum() + last)

    return value


def regret(seeds: int) -> None:
    """Print the least value that each run found."""
    print("| function | method | runs | CPU s an evaluation | steps closed |")
    print("|---|---|---|---|---|")
    for name in ("Levy 20", "Levy 20, moved"):
        for method, options in METHODS.items():
            found, spent, closed, steps = [], 0.0, 0, 0
            for seed in range(seeds):
                rng = np.random.default_rng(seed)
                shift = rng.uniform(-6.0, 6.0, 20) * (name != "Levy 20")
                space = nm.Space.box([-10.0] * 20, [10.0] * 20)
                began = time.process_time()
                run = nm.optimize(levy(shift), space, EVALUATIONS, seed=seed, **options)
                spent += time.process_time() - began
                found.append(float(run.fun))
                chosen = [step for step in run.steps if step.status != "initial"]
                closed += sum(step.status == "optimal" for step in chosen)
                steps += len(chosen)
            values = ", ".join(f"{one:.1f}" for one in sorted(found))
            each = spent / (seeds * EVALUATIONS)
            ends = f"{each:.2f} | {closed} of {steps}"
            print(f"| {name} | {method} | {values} | {ends} |", flush=True)


def main() -> None:
    """Run what is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("seconds", "regret"))
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    if given.what == "seconds":
        seconds()
    else:
        regret(given.seeds)


if __name__ == "__main__":
    main()
