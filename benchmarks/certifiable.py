"""What training for the certificate buys and costs, against the same training without it.

    python -m benchmarks.certifiable [--limit 60] [--seeds 2] [--families NAME …] [--json out]

Every family, function and seed is trained at each level with equally many epochs on the same
60 points an input. Of each belief the table has: the error on 4000 fresh points over the
deviation of y; the negative log likelihood there, with the std as it is and after one factor
that was fitted on 500 other points (loops scale uncertainty, so its scale is not the
family's business); ReLUs that take both signs; CPU seconds to certify the acquisition at a
gap of 1e-4, a time-out counting as the limit and times under 0.02 s as 0.02 s. The
acquisition is mean + std where the std compiles, else the mean. Rows are geometric means.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.surrogates import Belief, create

LEVELS = ("off", "light", "strong")
FAMILIES = ("nomu", "deep_ensemble", "mc_dropout")
FUNCTIONS = (
    "branin",
    "camelback",
    "levy:dimension=5",
    "rosenbrock:dimension=5",
    "levy:dimension=10",
    "rosenbrock:dimension=10",
)
POINTS_PER_INPUT = 60
SHORTEST = 0.02
STD_FLOOR = 1e-3
"""Added to the std, in deviations of y, so that a likelihood is finite where it is zero."""

GAIN, ERROR_RATIO, LARGEST_ERROR = 5.0, 1.03, 0.8
"""Targets at ten inputs: certified so much faster, error at most so much larger, and at most
this part of the deviation of y."""


@dataclass(frozen=True)
class Outcome:
    """One belief.

    Parameters
    ----------
    family, function, level : str
        What was trained on what, and how.
    seed, inputs : int
        Seed of data and training; number of inputs.
    error : float
        Root mean square error over the deviation of y.
    likelihood, scaled_likelihood : float
        Negative log likelihood, y in deviations, as it is and after one fitted factor.
    unstable : int
        ReLUs of the acquisition that take both signs on 5000 points.
    seconds : float
        CPU seconds to certify it; the limit if it did not end.
    certified : bool
        Whether it ended.
    """

    family: str
    function: str
    level: str
    seed: int
    inputs: int
    error: float
    likelihood: float
    scaled_likelihood: float
    unstable: int
    seconds: float
    certified: bool


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table and the targets."""
    options = parser().parse_args(arguments)
    known = read(options.json)
    outcomes = []
    nm.certify(Network.from_layers([([[1.0]], [0.0])]), [(0.0, 1.0)])  # loads the kernels
    for job in jobs(options.families, options.functions, options.seeds):
        if job not in known:
            known[job] = measure(*job, options.limit, options.wall_factor * options.limit)
            print(*job, known[job], flush=True)
            if options.json:
                rows = [asdict(outcome) for outcome in known.values()]
                options.json.write_text(json.dumps(rows, indent=1))
        outcomes.append(known[job])
    print(markdown(outcomes))
    for line in targets(outcomes):
        print(line)
    return 0


Job = tuple[str, str, str, int]


def jobs(families: Sequence[str], functions: Sequence[str], seeds: int) -> Iterator[Job]:
    """Yield family, function, level and seed of every belief."""
    for family in families:
        for function in functions:
            for seed in range(seeds):
                for level in LEVELS:
                    yield family, function, level, seed


def measure(
    family: str, function: str, level: str, seed: int, limit: float, patience: float
) -> Outcome:
    """Train one belief, judge it on fresh points, certify its acquisition.

    `limit` is in CPU seconds; the engines are told `patience` wall seconds.
    """
    problem = nm.problems.create(function).scaled()
    d = problem.problem.dimension
    rng = np.random.default_rng([seed, d])
    X, fitting, test = (rng.uniform(-1.0, 1.0, (n, d)) for n in (POINTS_PER_INPUT * d, 500, 4000))
    belief = create(family, certifiable=level, seed=seed).fit(X, problem.score(X))
    deviation = float(problem.score(test).std())
    factor = math.sqrt(float(np.mean(_residuals(belief, fitting, problem.score(fitting)) ** 2)))
    network = acquisition(belief)
    started = time.process_time()
    result = nm.certify(network, [(-1.0, 1.0)] * d, gap=1e-4, time_limit=patience)
    seconds = time.process_time() - started
    certified = result.status == "optimal" and seconds < limit
    truth = problem.score(test)
    return Outcome(
        family,
        function,
        level,
        seed,
        d,
        float(np.sqrt(np.mean((belief.mean(test) - truth) ** 2))) / deviation,
        likelihood(belief, test, truth, deviation, 1.0),
        likelihood(belief, test, truth, deviation, factor),
        unstable(network),
        max(SHORTEST, seconds) if certified else limit,
        certified,
    )


def acquisition(belief: Belief) -> Network:
    """Return mean + std where the std compiles, else the mean, as a network of one output."""
    network = belief.network()
    weights = {"mean": 1.0} | ({"std": 1.0} if "std" in network.output_names else {})
    return network.objective(weights)


def likelihood(
    belief: Belief, X: FloatArray, y: FloatArray, deviation: float, factor: float
) -> float:
    """Return the mean negative log likelihood of y in deviations, its constant left out."""
    std = factor * (belief.std(X) / deviation + STD_FLOOR)
    errors = (belief.mean(X) - y) / deviation
    return float(np.mean(0.5 * (errors / std) ** 2 + np.log(std)))


def _residuals(belief: Belief, X: FloatArray, y: FloatArray) -> FloatArray:
    deviation = float(y.std())
    std = belief.std(X) / deviation + STD_FLOOR
    return np.asarray((belief.mean(X) - y) / deviation / std)


def unstable(network: Network) -> int:
    """Count the ReLUs that take both signs at random points of the box."""
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (5000, network.n_inputs))
    return sum(
        int(((z > 0.0).any(axis=0) & (z < 0.0).any(axis=0)).sum())
        for z in network.preactivations(points)
    )


def markdown(outcomes: Sequence[Outcome]) -> str:
    """Return a line a family, number of inputs and level."""
    heads = ("family", "d", "level", "unstable ReLUs", "RMSE / sd", "NLL", "NLL scaled")
    lines = [(*heads, "seconds", "certified"), ("---",) * 9]
    for key in sorted({(o.family, o.inputs, LEVELS.index(o.level)) for o in outcomes}):
        rows = [o for o in outcomes if (o.family, o.inputs, LEVELS.index(o.level)) == key]
        lines.append(
            (
                key[0],
                str(key[1]),
                LEVELS[key[2]],
                f"{np.mean([o.unstable for o in rows]):.0f}",
                f"{geometric_mean([o.error for o in rows]):.3f}",
                f"{np.mean([o.likelihood for o in rows]):.2f}",
                f"{np.mean([o.scaled_likelihood for o in rows]):.2f}",
                f"{geometric_mean([o.seconds for o in rows]):.3g}",
                f"{sum(o.certified for o in rows)} of {len(rows)}",
            )
        )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def targets(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield what was aimed at for ten inputs, and what each family and level reached."""
    for family in dict.fromkeys(o.family for o in outcomes):
        wide = [o for o in outcomes if o.family == family and o.inputs == 10]
        off = [o for o in wide if o.level == "off"]
        for level in LEVELS[1:]:
            rows = [o for o in wide if o.level == level]
            if not rows:
                continue
            gain = geometric_mean([o.seconds for o in off]) / geometric_mean(
                [o.seconds for o in rows]
            )
            ratio = geometric_mean([o.error for o in rows]) / geometric_mean([o.error for o in off])
            largest = max(o.error for o in rows)
            raw = np.mean([o.likelihood for o in rows]) - np.mean([o.likelihood for o in off])
            scaled = np.mean([o.scaled_likelihood for o in rows]) - np.mean(
                [o.scaled_likelihood for o in off]
            )
            met = gain >= GAIN and ratio <= ERROR_RATIO and largest <= LARGEST_ERROR
            met = bool(met and raw <= 0.0)
            yield (
                f"{'met   ' if met else 'MISSED'}  {family} {level}, d = 10: certified "
                f"{gain:.1f} times faster (5), error {ratio:.3f} times (1.03), at most "
                f"{largest:.2f} deviations (0.8), NLL {raw:+.2f} as it is (0), "
                f"{scaled:+.2f} scaled"
            )


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers."""
    return float(np.exp(np.mean(np.log(values))))


def read(path: Path | None) -> dict[Job, Outcome]:
    """Return the beliefs that a killed run has finished."""
    if path is None or not path.exists():
        return {}
    outcomes = [Outcome(**row) for row in json.loads(path.read_text())]
    return {(o.family, o.function, o.level, o.seed): o for o in outcomes}


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(prog="python -m benchmarks.certifiable", description=__doc__)
    result.add_argument("--limit", type=float, default=60.0, help="seconds to certify")
    result.add_argument(
        "--wall-factor",
        type=float,
        default=1.0,
        help="wall seconds a second; more on busy machines",
    )
    result.add_argument("--seeds", type=int, default=2)
    result.add_argument("--families", nargs="*", default=list(FAMILIES), choices=FAMILIES)
    result.add_argument("--functions", nargs="*", default=list(FUNCTIONS))
    result.add_argument("--json", type=Path, help="keep the rows here, and resume from here")
    return result


if __name__ == "__main__":
    raise SystemExit(main())
