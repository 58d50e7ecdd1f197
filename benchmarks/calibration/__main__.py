"""How well surrogates know what they do not know: coverage, NLL and CRPS, a table a dimension.

    python -m benchmarks.calibration [--seeds 3] [--surrogates SPEC …] [--functions NAME …]
                                     [--json out]

Every surrogate learns each function from the same random points (as many as `POINTS` says for
its number of inputs), a seed after the other, and is judged on 2000 fresh ones as
`calibration_metrics` describes, in deviations of y. Figures come in pairs: with the std as it is,
and, under *, after the one factor of least CRPS on 500 points that are neither learned from nor
judged on: the scale of a std is a loop's business, its shape the family's. RMSE, CRPS and factor
are geometric means, coverage is an average and NLL a median over functions and seeds. The line
`none` is a forecast without inputs: average and deviation of the values that were observed.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import nnbo_mip as nm
from benchmarks.calibration.metrics import LEVELS, Scores, fitted_factor, geometric_mean
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates import create

NONE = "none"
SURROGATES = (
    "nomu",
    "deep_ensemble",
    "deep_ensemble:noisy=True,include_noise=True",
    "deep_ensemble:anchored=True",
    "mc_dropout",
    "brvfl",
    "brvfl:activation=tanh",
    "brvfl:n_hidden=50",
    "ervfl",
    "ervfl:n_members=5,n_hidden=20",
    "elm",
    "elm:rcond=0.01",
    "gp",
    "gp:kernel=matern",
    NONE,
)
FUNCTIONS = (
    "forrester",
    "levy:dimension=1",
    "sinone",
    "branin",
    "rosenbrock:dimension=2",
    "camelback",
    "perm:dimension=2",
    "goldstein_price",
    "levy:dimension=5",
    "rosenbrock:dimension=5",
    "g_function:dimension=5",
    "levy:dimension=10",
    "rosenbrock:dimension=10",
)
POINTS: Mapping[int, int] = MappingProxyType({1: 8, 2: 40, 5: 100, 10: 200})
"""Observations by number of inputs."""
N_FITTING, N_TEST = 500, 2000
SHOWN = (0.5, 0.9, 0.95)

Forecast = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class Outcome:
    """One surrogate on one function.

    Parameters
    ----------
    surrogate, function : str
        What learned what.
    seed, inputs, points : int
        Seed of data and training; number of inputs; observations.
    error : float
        Root mean square error on fresh points over the deviation of y.
    plain : Scores
        With the std as it is.
    factor : float
        What the std is multiplied by for `scaled`.
    scaled : Scores
        After that factor.
    seconds : float
        CPU seconds to learn.
    """

    surrogate: str
    function: str
    seed: int
    inputs: int
    points: int
    error: float
    plain: Scores
    factor: float
    scaled: Scores
    seconds: float

    @staticmethod
    def of(row: Mapping[str, Any]) -> Outcome:
        """Return the outcome that `asdict` described."""
        plain, scaled = (
            Scores(**{**row[name], "coverage": tuple(row[name]["coverage"])})
            for name in ("plain", "scaled")
        )
        return Outcome(**{**row, "plain": plain, "scaled": scaled})


Job = tuple[str, str, int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not in the file yet and print the tables."""
    options = parser().parse_args(arguments)
    known = read(options.json)
    wanted = list(jobs(options.surrogates, options.functions, options.seeds))
    for job in wanted:
        if job not in known:
            known[job] = rounded(measure(*job))
            print(*job, f"{known[job].error:.3f}", f"{known[job].seconds:.2f} s", flush=True)
            if options.json:
                write(options.json, list(known.values()))
    outcomes = [known[job] for job in wanted]
    for inputs in sorted({outcome.inputs for outcome in outcomes}):
        print("\n" + markdown([outcome for outcome in outcomes if outcome.inputs == inputs]))
    return 0


def jobs(surrogates: Sequence[str], functions: Sequence[str], seeds: int) -> Iterator[Job]:
    """Yield surrogate, function and seed of every forecast."""
    for function in functions:
        for seed in range(seeds):
            for surrogate in surrogates:
                yield surrogate, function, seed


def measure(surrogate: str, function: str, seed: int) -> Outcome:
    """Learn one function and judge the forecasts."""
    problem = nm.problems.create(function).scaled()
    d = problem.problem.dimension
    rng = np.random.default_rng([seed, d])
    X, fitting, test = (rng.uniform(-1.0, 1.0, (n, d)) for n in (POINTS[d], N_FITTING, N_TEST))
    started = time.process_time()
    forecast = learn(surrogate, X, problem.score(X), seed)
    seconds = time.process_time() - started
    deviation = float(problem.score(test).std())

    def judged(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, std = forecast(points)
        return (problem.score(points) - mean) / deviation, std / deviation

    factor = fitted_factor(*judged(fitting))
    errors, std = judged(test)
    return Outcome(
        surrogate,
        function,
        seed,
        d,
        len(X),
        float(np.sqrt(np.mean(np.square(errors)))),
        Scores.of(errors, std),
        factor,
        Scores.of(errors, factor * std),
        seconds,
    )


def learn(surrogate: str, X: FloatArray, y: FloatArray, seed: int) -> Forecast:
    """Return what forecasts value and deviation (n,) at points (n, d)."""
    if surrogate == NONE:
        center, spread = float(y.mean()), float(y.std())
        return lambda points: (np.full(len(points), center), np.full(len(points), spread))
    belief = create(surrogate, seed=seed).fit(X, y)
    return lambda points: (belief.mean(points), belief.std(points))


def markdown(outcomes: Sequence[Outcome]) -> str:
    """Return the table of one number of inputs, a line a surrogate."""
    first = outcomes[0]
    functions = len({outcome.function for outcome in outcomes})
    seeds = len({outcome.seed for outcome in outcomes})
    title = f"d = {first.inputs}, {first.points} observations; {functions} functions, {seeds} seeds"
    covered = [f"{100 * level:g} %" for level in SHOWN]
    pair = [*covered, "NLL", "CRPS"]
    heads = ["surrogate", "RMSE", *pair, "factor", *(f"{name} *" for name in pair)]
    lines = [heads, ["---"] * len(heads)]
    for surrogate in dict.fromkeys(outcome.surrogate for outcome in outcomes):
        rows = [outcome for outcome in outcomes if outcome.surrogate == surrogate]
        lines.append(
            [
                f"`{surrogate}`",
                f"{geometric_mean([row.error for row in rows]):.3g}",
                *_cells([row.plain for row in rows]),
                f"{geometric_mean([row.factor for row in rows]):.3g}",
                *_cells([row.scaled for row in rows]),
            ]
        )
    return f"{title}\n\n" + "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cells(scores: Sequence[Scores]) -> list[str]:
    covered = np.mean([made.coverage for made in scores], axis=0)
    return [
        *(f"{100.0 * covered[LEVELS.index(level)]:.0f}" for level in SHOWN),
        f"{np.median([made.likelihood for made in scores]):.3g}",
        f"{geometric_mean([made.crps for made in scores]):.3g}",
    ]


def read(path: Path | None) -> dict[Job, Outcome]:
    """Return what an earlier run, maybe a killed one, has measured."""
    if path is None or not path.exists():
        return {}
    outcomes = [Outcome.of(row) for row in json.loads(path.read_text())]
    return {(o.surrogate, o.function, o.seed): o for o in outcomes}


def write(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write a row a line; the file is replaced in one step, so that a kill cannot tear it."""
    rows = [json.dumps(asdict(outcome), separators=(",", ":")) for outcome in outcomes]
    temporary = path.with_suffix(path.suffix + ".part")
    temporary.write_text("[\n" + ",\n".join(rows) + "\n]\n")
    os.replace(temporary, path)


def rounded(outcome: Outcome) -> Outcome:
    """Return the outcome with four digits of every figure, which keep the file small."""

    def short(value: Any) -> Any:
        if isinstance(value, float):
            return float(f"{value:.4g}")
        if isinstance(value, dict):
            return {key: short(part) for key, part in value.items()}
        return [short(part) for part in value] if isinstance(value, tuple) else value

    return Outcome.of(short(asdict(outcome)))


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    result.add_argument("--seeds", type=int, default=3)
    result.add_argument("--surrogates", nargs="*", default=list(SURROGATES))
    result.add_argument("--functions", nargs="*", default=list(FUNCTIONS))
    result.add_argument("--json", type=Path, help="keep the rows here, and resume from here")
    return result


if __name__ == "__main__":
    raise SystemExit(main())
