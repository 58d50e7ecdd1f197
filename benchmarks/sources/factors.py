"""Which kernel source 004 means by "default parameters", told by the factors that it prints.

    python -m benchmarks.sources.factors [--problems sinone]

Mean and 95 % half-width of the factor c of the first step, budget 0.1, over 30 sets of eight
uniform points, for a Gaussian process with amplitude 1 on values as they are, and for one whose
amplitude is searched on standardized values; beside table 6.3.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

import nnbo_mip as nm
from benchmarks.regret.table import markdown
from benchmarks.sources.published import FACTORS_GP
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.lab.plan.starts import shared_starts
from nnbo_mip.lab.statistics.intervals import t_interval_of
from nnbo_mip.loop.designs.designs import design_of
from nnbo_mip.loop.policies.width_scaling import scaling_of

PROBLEMS = {name: name for name in FACTORS_GP} | {"levy": "levy:dimension=1,source=004"}

READINGS: dict[str, dict[str, Any]] = {
    "amplitude 1": {"amplitude_bounds": "fixed", "normalize": False, "alpha": 1e-10},
    "amplitude searched": {},
}

INSTANCES, STARTS = 30, "uniform:n=8"


def factors(problem: str, options: dict[str, Any], instances: int = INSTANCES) -> FloatArray:
    """Return the factors (n,) of the first step, one an instance."""
    made = nm.problems.create(PROBLEMS[problem])
    scaled, domain = made.scaled(), made.space.model()
    scaling = scaling_of("mean_width:budget=0.1,unit=1")
    found = []
    for instance in range(instances):
        X = shared_starts(design_of(STARTS), made.space, instance)
        y = np.asarray(scaled.score(X))
        belief = nm.surrogates.create("gp", kernel="rbf", n_restarts=0, **options).fit(X, y)
        found.append(scaling.factor(belief, domain, y))
    return np.array(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sources.factors")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    rows = []
    for problem in parser.parse_args(arguments).problems:
        cells = [f"{center:g} ± {reach:g}" for center, reach in FACTORS_GP[problem][:1]]
        for options in READINGS.values():
            mean = t_interval_of(factors(problem, options))
            cells.append(f"{mean.value:.3g} ± {mean.high - mean.value:.2g}")
        rows.append([problem, *cells])
    print(markdown(["function", "published", *READINGS], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
