"""What the sources of the Bayesian networks show of them, run again.

    python -m benchmarks.bayesian_networks toy [--seeds 3] [--plot out.png]
    python -m benchmarks.bayesian_networks regression [--seeds 2] [--points 23 36] [--surrogates …]
    python -m benchmarks.bayesian_networks spread [--seeds 3] [--surrogates …]
    python -m benchmarks.bayesian_networks forrester [--seeds 2] [--steps 12]
    python -m benchmarks.bayesian_networks order [--seeds 1]

`toy`: sin 7x + cos 17x with noise 0.1 at 20 random points, three layers of 50 units of tanh, hybrid
Monte Carlo; the picture has traces, a histogram, three draws and the band. `regression`: relative
errors on `test1`. `spread`: the std round three points of a sinusoid, and the error at them.
`forrester`: regrets of optimization with the lower confidence bound. `order`: Kendall's tau between
the density of the code and that of the target, with and without the loss that preserves the order.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import nnbo_mip as nm
from benchmarks.bayesian_networks.order_preserving import TARGETS, learn_target
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.bnn.data import NetworkData
from nnbo_mip.surrogates.bnn.hmc import BnnHmc

NOISE = 0.1
TOY = BnnHmc(hidden=(50, 50, 50), noise=NOISE, chains=1, burn_in=1000, draws=1000, kept=500)
REGRESSION = (
    "bnn:hidden=(50,50,50),tune=150,draws=150,max_depth=7",
    "bnn_hmc",
    "bnn_sghmc",
    "bnn_sghmc:source",
    "bnn_simple",
    "bnn_hierarchical",
    "ivbnn",
    "gp:kernel=matern",
)
SPREAD = ("bnn_hierarchical", "bnn_simple", "gp", "elm")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the experiments and print its table."""
    options = parser().parse_args(arguments)
    if options.experiment == "toy":
        for seed in range(options.seeds):
            print(toy(seed, options.plot if seed == 0 else None), flush=True)
    elif options.experiment == "regression":
        for spec in ("mean", *(options.surrogates or REGRESSION)):
            for n in options.points:
                errors, seconds = zip(
                    *(regression(spec, n, seed) for seed in range(options.seeds)), strict=True
                )
                listed = ", ".join(f"{error:.3f}" for error in errors)
                print(f"{spec}  n = {n}  {listed}  {np.mean(seconds):.1f} s", flush=True)
    elif options.experiment == "spread":
        for spec in options.surrogates or SPREAD:
            print(spec, *(spread(spec, seed) for seed in range(options.seeds)), flush=True)
    elif options.experiment == "forrester":
        for seed in range(options.seeds):
            regrets = forrester(seed, options.steps)
            print(seed, " ".join(f"{regret:.2g}" for regret in regrets), flush=True)
    else:
        for target in TARGETS:
            for kappa in (0.0, 2.0):
                for seed in range(options.seeds):
                    print(target, f"kappa={kappa:g}", learn_target(target, kappa, seed), flush=True)
    return 0


def truth(X: FloatArray) -> FloatArray:
    """Return sin 7x + cos 17x (n,)."""
    return np.asarray(np.sin(7.0 * X[:, 0]) + np.cos(17.0 * X[:, 0]))


def toy(seed: int, plot: Path | None) -> str:
    """Sample the posterior of the toy; return its figures in a line."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (20, 1))
    y = truth(X) + NOISE * rng.standard_normal(20)
    begin = time.process_time()
    data = NetworkData.of(X, y, TOY.hidden, TOY.activation, False, None)
    theta, noise, acceptance = TOY.sample(data)
    belief = data.belief("bnn_hmc", theta, noise, TOY.kept, "std", False)
    seconds = time.process_time() - begin
    grid = np.linspace(-1.0, 1.0, 801)[:, None]
    mean, std = belief.mean(grid), belief.std(grid)
    away = np.abs(grid - X.T).min(axis=1)
    near, far = std[away < 0.02].mean(), std[away > 0.1].mean()
    if plot is not None:
        from benchmarks.bayesian_networks.plot import draw_toy

        draw_toy(plot, X, y, grid, truth(grid), belief, theta[:, 0])
    return (
        f"seed {seed}: RMSE at the data {np.sqrt(np.square(belief.mean(X) - y).mean()):.3f}, on a "
        f"grid {np.sqrt(np.square(mean - truth(grid)).mean()):.3f}, within 2 std "
        f"{(np.abs(mean - truth(grid)) < 2.0 * std).mean():.2f}, std {near:.3f} near and "
        f"{far:.3f} away (ratio {far / near:.1f}), acceptance "
        f"{acceptance[TOY.burn_in :].mean():.2f}, {seconds:.0f} CPU s"
    )


def regression(spec: str, n: int, seed: int) -> tuple[float, float]:
    """Return the mean relative error on `test1`, and CPU seconds; ``mean`` is a constant."""
    problem = nm.problems.create("test1")

    def values(X: FloatArray) -> FloatArray:
        return np.asarray(problem.function(100.0 * X))

    rng = np.random.default_rng(seed)
    X, fresh = rng.uniform(-1.0, 1.0, (n, 1)), rng.uniform(-1.0, 1.0, (2000, 1))
    y, exact = values(X), values(fresh)
    if spec == "mean":
        return float(np.mean(np.abs(y.mean() - exact) / np.abs(exact))), 0.0
    begin = time.process_time()
    belief = nm.surrogates.create(spec, seed=seed).fit(X, y)
    seconds = time.process_time() - begin
    return float(np.mean(np.abs(belief.mean(fresh) - exact) / np.abs(exact))), seconds


def spread(spec: str, seed: int) -> str:
    """Return the mean std on [-1, 1] after three points of a sinusoid, and the error at them."""
    X = np.array([[-0.7], [0.0], [0.6]])
    y = np.sin(3.0 * X[:, 0])
    begin = time.process_time()
    belief = nm.surrogates.create(spec, seed=seed).fit(X, y)
    seconds = time.process_time() - begin
    std = belief.std(np.linspace(-1.0, 1.0, 201)[:, None]).mean()
    error, noise = np.abs(belief.mean(X) - y).max(), belief.noise_std(X).max()
    return f"std {std:.3f}, error {error:.1e}, noise {noise:.1e}, {seconds:.0f} s;"


def forrester(seed: int, steps: int, surrogate: str = "bnn_hmc") -> list[float]:
    """Return the regret after every evaluation, two random ones first."""
    problem = nm.problems.create("forrester")
    result = nm.optimize(
        problem,
        problem.space,
        n_evals=2 + steps,
        initial=2,
        surrogate=surrogate,
        acquisition="ucb:beta=2",
        seed=seed,
        time_limit=10.0,
    )
    return [float(value) for value in np.minimum.accumulate(result.func_vals) - problem.optimum]


def parser() -> argparse.ArgumentParser:
    """Return the options of the command."""
    made = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    made.add_argument("experiment", choices=("toy", "regression", "spread", "forrester", "order"))
    made.add_argument("--seeds", type=int, default=2)
    made.add_argument("--points", type=int, nargs="+", default=[23, 36])
    made.add_argument("--surrogates", nargs="+")
    made.add_argument("--steps", type=int, default=12)
    made.add_argument("--plot", type=Path)
    return made


if __name__ == "__main__":
    raise SystemExit(main())
