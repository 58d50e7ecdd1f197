"""How fast surrogates train: one table, each row with its target.

    python -m benchmarks.training [--only GROUP …]

Groups run one after the other, each in a process of its own with one thread, so that peak
memory is that of the group. Times are CPU seconds, medians of calls that take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.certify.functions import FUNCTIONS
from benchmarks.certify.measure import THREAD_VARIABLES
from benchmarks.training.rows import Row, cpu_seconds, duration, markdown, median_cpu_seconds
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates import create
from nnbo_mip.surrogates.ensembles.deep_ensemble import DeepEnsemble
from nnbo_mip.surrogates.ensembles.mc_dropout import McDropout
from nnbo_mip.surrogates.nomu.nomu import Nomu

BATCH_GAIN = 3.0
REFIT_LIMIT, EVIDENCE_LIMIT = 0.020, 0.100
THESIS_EPOCHS = 10
THESIS_POINTS = 16


def ensemble_rows() -> list[Row]:
    """Five members in one batched pass, and one after the other."""
    X, y = data("rosenbrock", n=50, d=5)
    rows = []
    for hidden in ((16, 16), (32, 32), (64, 64)):
        together = DeepEnsemble(hidden=hidden)
        alone = [replace(together, n_members=1, seed=seed) for seed in range(5)]
        batched, sequential, plain = median_cpu_seconds(
            partial(together.fit, X, y),
            partial(_fit_in_turn, alone, X, y),
            partial(_plain_ensemble, together, X, y),
        )
        default = hidden == DeepEnsemble().hidden
        for rival, seconds in (("fits of one member", sequential), ("torch modules", plain)):
            what = f"deep_ensemble 5 x {hidden} in one pass against five {rival}, n = 50, d = 5"
            gain = seconds / batched
            reached = f"{gain:.2f} times ({duration(batched)} against {duration(seconds)})"
            target = f">= {BATCH_GAIN:g} times" if default else ""
            rows.append(Row(what, reached, target, gain >= BATCH_GAIN if default else None))
    return rows


def _fit_in_turn(members: Sequence[DeepEnsemble], X: FloatArray, y: FloatArray) -> None:
    for member in members:
        member.fit(X, y)


def _plain_ensemble(options: DeepEnsemble, X: FloatArray, y: FloatArray) -> None:
    """Train as many modules as anybody would write them, with the same number of steps."""
    import torch

    u = torch.from_numpy(X.astype(np.float32))
    v = torch.from_numpy(((y - y.mean()) / y.std()).astype(np.float32))[:, None]
    for _ in range(options.n_members):
        layers: list[torch.nn.Module] = []
        for n_in, n_out in pairwise((X.shape[1], *options.hidden, 1)):
            layers += [torch.nn.Linear(n_in, n_out), torch.nn.ReLU()]
        net = torch.nn.Sequential(*layers[:-1])
        optimizer = torch.optim.Adam(net.parameters(), lr=options.learning_rate, fused=True)
        for _ in range(options.epochs):
            optimizer.zero_grad()
            loss = (net(u) - v).square().mean()
            loss.backward()
            optimizer.step()


def nomu_rows() -> list[Row]:
    """Time of a NOMU fit, and what its epochs are worth."""
    from benchmarks.training import nomu as training_nomu

    return training_nomu.nomu_rows()


def thesis_rows(spec: str, weights: int, predictions: int = 1000, **options: Any) -> list[Row]:
    """Train a network of the source's size for some epochs and predict.

    Parameters
    ----------
    spec : str
        Name of the surrogate.
    weights : int
        How many it must have with one input.
    predictions : int
        Points of mean and std; the time is given for 1000.
    **options
        Of the surrogate.
    """
    X, y = data("levy", n=THESIS_POINTS, d=1)
    short, long = (
        create(spec, epochs=epochs, learning_rate=1e-4, decay="constant", **options)
        for epochs in (2, 2 + THESIS_EPOCHS)
    )
    a_short, a_long = median_cpu_seconds(lambda: short.fit(X, y), lambda: long.fit(X, y), repeats=3)
    started, belief = (made.fit(X, y) for made in (short, long))
    probes = np.linspace(-1.0, 1.0, predictions)[:, None]
    predicting = 1000.0 / predictions * cpu_seconds(lambda: belief.predict(probes, return_std=True))
    errors = [np.sqrt(np.mean((fitted.mean(X) - y) ** 2)) for fitted in (started, belief)]
    assert isinstance(short, DeepEnsemble | McDropout | Nomu)
    counted = short.count_parameters(1)
    finite = bool(np.isfinite(belief.std(probes[:50])).all())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    described = ", ".join(f"{key}={value}".replace(" ", "") for key, value in options.items())
    reached = (
        f"{duration((a_long - a_short) / THESIS_EPOCHS)} an epoch, "
        f"{duration(predicting)} for 1000 predictions, peak {peak:.0f} MB, "
        f"RMSE {errors[0]:.3g} after 2 epochs, {errors[1]:.3g} after {2 + THESIS_EPOCHS}"
    )
    met = counted == weights and finite and bool(errors[1] < errors[0])
    what = f"{spec} {described}: {counted:,} weights, n = {THESIS_POINTS}, d = 1"
    return [Row(what, reached, f"{weights:,} weights train and predict", met)]


def brvfl_rows() -> list[Row]:
    """Refit of 300 features to 200 values, with given and with learned prior precision."""
    X, y = data("rosenbrock", n=200, d=5)
    fits = {
        "refit, alpha given, svd": create("brvfl", n_hidden=300, alpha=1.0),
        "refit, alpha given, cholesky": create("brvfl", n_hidden=300, alpha=1.0, solver="cholesky"),
        "refit, alpha of largest evidence": create("brvfl", n_hidden=300),
    }
    calls = [lambda made=made: made.fit(X, y) for made in fits.values()]
    times = median_cpu_seconds(*calls, repeats=15)
    limits = (REFIT_LIMIT, REFIT_LIMIT, EVIDENCE_LIMIT)
    return [
        Row.below(f"brvfl 300 units, n = 200, d = 5: {what}", seconds, limit)
        for what, seconds, limit in zip(fits, times, limits, strict=True)
    ]


def data(function: str, n: int, d: int) -> tuple[FloatArray, FloatArray]:
    """Return n random points and their values."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (n, d))
    return X, FUNCTIONS[function](X)


DROPOUT = partial(thesis_rows, "mc_dropout", 4_200_449, hidden=(1024, 2048, 1024))

GROUPS: Mapping[str, Callable[[], list[Row]]] = MappingProxyType(
    {
        "ensemble": ensemble_rows,
        "nomu": nomu_rows,
        "thesis-nomu": lambda: thesis_rows("nomu", 4_205_570, hidden=(1024, 1024, 1024)),
        "thesis-dropout": lambda: DROPOUT(p=0.2, passes=10),
        "thesis-dropout-500": lambda: DROPOUT(predictions=100, p=0.5, passes=500),
        "thesis-ensemble": lambda: thesis_rows("deep_ensemble", 3_944_965, hidden=(256, 1024, 512)),
        "brvfl": brvfl_rows,
    }
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the groups and print the table; return 1 if a target was missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--inside", action="store_true", help="run here and print JSON")
    chosen = parser.parse_args(arguments)
    if chosen.inside:
        import torch

        torch.set_num_threads(1)
        rows = [row for name in chosen.only for row in GROUPS[name]()]
        print(json.dumps([asdict(row) for row in rows]))
        return 0
    rows = [row for name in chosen.only for row in _in_a_process(name)]
    print(markdown(rows))
    return int(any(row.met is False for row in rows))


def _in_a_process(group: str) -> list[Row]:
    command = [sys.executable, "-m", "benchmarks.training", "--inside", "--only", group]
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
    run = subprocess.run(command, check=False, env=environment, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        return [Row(group, f"ended with status {run.returncode}", "rows", met=False)]
    return [Row(**row) for row in json.loads(run.stdout)]


if __name__ == "__main__":
    sys.exit(main())
