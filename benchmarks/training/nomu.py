"""NOMU in the training benchmark: the time of a fit, and what its epochs are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.certify.functions import FUNCTIONS
from benchmarks.training.nomu_ways import by_hand, by_modules
from benchmarks.training.rows import Row, duration, median_cpu_seconds
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.nomu.nomu import Nomu, thesis

SHIPPED = Nomu(hidden=(64, 64))
POINTS, INPUTS = 50, 5
FIT_LIMIT = 2.0
MANY_EPOCHS = 1024
ERROR_RATIO = 1.05
FRESH_POINTS = 4000
FITTED = ("levy", "rosenbrock", "ackley")
SEEDS = (0, 1, 2)


def nomu_rows(
    shipped: Nomu = SHIPPED,
    points: int = POINTS,
    many_epochs: int = MANY_EPOCHS,
    seeds: Sequence[int] = SEEDS,
) -> list[Row]:
    """Return the rows of NOMU.

    Parameters
    ----------
    shipped : Nomu
        Default options, apart from the widths of the nets.
    points : int
        n, the number of observations, in five dimensions.
    many_epochs : int
        What the shipped number of epochs is compared with.
    seeds : sequence of int
        Seeds of data and training.
    """
    described = f"nomu {shipped.hidden}, n = {points}, d = {INPUTS}"
    rows = [*_time_rows(shipped, points, described)]
    own = errors(shipped, points, seeds)
    rivals = {
        f"the same options and {many_epochs} epochs": replace(shipped, epochs=many_epochs),
        f"the preset of the source, {many_epochs} epochs": thesis(
            hidden=shipped.hidden, epochs=many_epochs
        ),
    }
    for rival, options in rivals.items():
        theirs = errors(options, points, seeds)
        ratios = np.exp(np.log(own / theirs).mean(axis=1))
        overall = float(np.exp(np.log(ratios).mean()))
        each = ", ".join(f"{f} {r:.3f}" for f, r in zip(FITTED, ratios, strict=True))
        rows.append(
            Row(
                f"{described}: test RMSE of {shipped.epochs} epochs over that of {rival}",
                f"{overall:.3f} ({each}; {len(seeds)} seeds each)",
                f"<= {ERROR_RATIO:g}",
                overall <= ERROR_RATIO,
            )
        )
    return rows


def errors(options: Nomu, points: int, seeds: Sequence[int]) -> FloatArray:
    """Return root mean square errors (functions, seeds) at fresh points, relative to y's std."""
    table = np.empty((len(FITTED), len(seeds)))
    for row, name in enumerate(FITTED):
        for column, seed in enumerate(seeds):
            random = np.random.default_rng([seed, INPUTS])
            X = random.uniform(-1.0, 1.0, (points, INPUTS))
            fresh = random.uniform(-1.0, 1.0, (FRESH_POINTS, INPUTS))
            wanted = FUNCTIONS[name](fresh)
            belief = replace(options, seed=seed).fit(X, FUNCTIONS[name](X))
            misses = belief.mean(fresh) - wanted
            table[row, column] = np.sqrt(np.mean(misses**2)) / wanted.std()
    return table


def _time_rows(shipped: Nomu, points: int, described: str) -> list[Row]:
    """Time of a fit, and of the same number of epochs written in other ways."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (points, INPUTS))
    y = FUNCTIONS["rosenbrock"](X)
    v = (y - y.mean()) / y.std()
    more = replace(shipped, n_augmented=500)
    ours, wide, modules, hand = median_cpu_seconds(
        lambda: shipped.fit(X, y),
        lambda: more.fit(X, y),
        lambda: by_modules(shipped, X, v),
        lambda: by_hand(shipped, X, v),
    )
    epochs = f"{shipped.epochs} epochs"
    ways = {
        "by plain modules, two passes an epoch": modules,
        "by hand in NumPy": hand,
        "with 500 augmented points": wide,
    }
    return [
        Row.below(f"{described}: fit, shipped {epochs}", ours, FIT_LIMIT),
        *(Row(f"{described}: {epochs} {way}", duration(s)) for way, s in ways.items()),
    ]
