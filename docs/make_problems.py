"""Writes the tables of problems.md from the registry.

    python -m docs.make_problems [--losses]

`--losses` trains the models of the tuning tasks anew, some five minutes of work; without it their
table stays as it is. Needs the extra `bbob`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

import nnbo_mip as nm
from nnbo_mip.core.registry_entries import entries
from nnbo_mip.problems import Problem
from nnbo_mip.problems.catalogue import registry
from nnbo_mip.problems.tuning_data import CLASSIFICATION, REGRESSION
from nnbo_mip.space.abstract import Dimension

PAGE = Path(__file__).parent / "guide" / "problems.md"

FUNCTIONS = (
    "forrester",
    "levy:dimension=1,source=004",
    "levy:dimension=1,source=000",
    "sinone",
    "sine_cosine",
    "sine_parabola",
    "test1",
    "test2",
    "test3",
    "test3b",
    "test4",
    "test4b",
    "bohachevsky",
    "branin",
    "camelback",
    "goldstein_price:source=004",
    "goldstein_price:source=000",
    "mccormick",
    "sintwo",
    "three_hump_camel",
    "hartmann3:source=003",
    "hartmann3:source=000",
    "hartmann6",
    "ackley:dimension=2",
    "ackley:dimension=2,lower=-5,upper=10",
    "g_function:dimension=5",
    "griewank:dimension=2",
    "levy:dimension=5,source=004",
    "levy:dimension=5,source=000",
    "michalewicz:dimension=5",
    "perm:dimension=2",
    "perm:dimension=5",
    "powell:dimension=4",
    "rosenbrock:dimension=2,source=004",
    "rosenbrock:dimension=2,source=002",
    "rosenbrock:dimension=5,source=004",
    "rosenbrock:dimension=5,source=000",
    "styblinski_tang:dimension=2",
    "borehole",
    "cantilever",
    "flood",
    "otl_circuit",
    "piston",
    "robot_arm",
    "short_column",
    "wing_weight",
)

BBOB = {
    "separable": (
        "sphere",
        "ellipsoid",
        "Rastrigin",
        "Büche-Rastrigin",
        "linear slope",
    ),
    "low or moderate conditioning": (
        "attractive sector",
        "step ellipsoid",
        "Rosenbrock",
        "rotated Rosenbrock",
    ),
    "high conditioning, unimodal": (
        "rotated ellipsoid",
        "discus",
        "bent cigar",
        "sharp ridge",
        "sum of different powers",
    ),
    "multimodal, adequate global structure": (
        "rotated Rastrigin",
        "Weierstrass",
        "Schaffers F7",
        "Schaffers F7, ill-conditioned",
        "Griewank-Rosenbrock",
    ),
    "multimodal, weak global structure": (
        "Schwefel",
        "Gallagher, 101 peaks",
        "Gallagher, 21 peaks",
        "Katsuura",
        "Lunacek bi-Rastrigin",
    ),
}

TASKS = (
    "tuning_svm",
    "tuning_mlp",
    "tuning_layers",
    "tuning_forest",
    "tuning_boosting",
    "tuning_pipeline",
    "tuning_logistic",
    "tuning_neighbors",
    "tuning_elastic_net",
)

DATA = {
    **dict.fromkeys(("tuning_svm", "tuning_pipeline", "tuning_logistic"), CLASSIFICATION),
    "tuning_elastic_net": REGRESSION,
}
"""Of the tasks that do not take all data sets."""

WRAPPERS = ("noisy", "constrained", "integer", "embedded")

N_SETTINGS = 100

END = "<!-- end -->"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tables into the page."""
    parser = argparse.ArgumentParser(prog="python -m docs.make_problems", description=__doc__)
    parser.add_argument("--losses", action="store_true", help="train the models anew")
    made = dict(tables())
    if parser.parse_args(arguments).losses:
        made["losses"] = losses()
    page = PAGE.read_text(encoding="utf-8")
    for name, table in made.items():
        before, _, rest = page.partition(_mark(name))
        page = f"{before}{_mark(name)}\n{table}\n{END}{rest.partition(END)[2]}"
    PAGE.write_text(page, encoding="utf-8")
    return 0


def tables() -> Iterable[tuple[str, str]]:
    """Yield the tables that the registry alone decides, by name."""
    yield "functions", functions()
    yield "bbob", bbob()
    yield "settings", settings()
    yield "wrappers", wrappers()


def written(name: str) -> str:
    """Return the table of this name as the page has it."""
    page = PAGE.read_text(encoding="utf-8")
    return page.partition(_mark(name))[2].partition(END)[0].strip()


def functions() -> str:
    """Return the functions: domain, optimum, where it is, and the value that scores -1."""
    rows = []
    for spec in FUNCTIONS:
        problem = nm.problems.create(spec)
        known = problem.known_optimizers
        places = ", ".join(_point(x) for x in known[:2])
        if len(known) > 1:
            places += f"{', …' if len(known) > 2 else ''} ({len(known)})"
        optimum, worst = _number(problem.optimum), _number(problem.worst)
        rows.append([f"`{spec}`", _box(problem), optimum, places, worst])
    return _table(["problem", "domain", "optimum", "at", "scored -1"], rows)


def bbob() -> str:
    """Return the 24 functions, with the optimum of their first instance."""
    rows, number = [], 0
    for group, names in BBOB.items():
        for name in names:
            number += 1
            problem = nm.problems.create("bbob", function=number)
            optimum = _number(problem.optimum)
            rows.append([str(number), name, group, optimum, _point(problem.known_optimizers[0])])
    return _table(["function", "name", "group", "optimum, instance 1", "at, d = 2"], rows)


def settings() -> str:
    """Return what the tuning tasks set."""
    rows = [
        [f"`{name}`", f"`{dimension.name}`", *_kind(dimension)]
        for name in TASKS
        for dimension in nm.problems.create(name).space.dimensions
    ]
    return _table(["task", "setting", "kind", "range"], rows)


def wrappers() -> str:
    """Return what can be put around a problem."""
    listed = {entry.name: entry for entry in entries(registry)}
    rows = [
        [f"`{name}`", listed[name].summary, ", ".join(f"`{o}`" for o in listed[name].options)]
        for name in WRAPPERS
    ]
    return _table(["wrapper", "what it does", "options"], rows)


def losses() -> str:
    """Return what random settings of every task lose, and how long one takes."""
    rows = []
    for name in TASKS:
        for data in DATA.get(name, CLASSIFICATION + REGRESSION):
            problem = nm.problems.create(name, data=data)
            found, times = [], []
            for setting in problem.space.sample(N_SETTINGS, seed=0):
                begun = time.process_time()
                found.append(problem(setting))
                times.append(time.process_time() - begun)
            shares = [f"{share:.4f}" for share in np.quantile(found, [0.0, 0.1, 0.5])]
            spent = [f"{seconds:.2f}" for seconds in (np.mean(times), max(times))]
            rows.append([f"`{name}:data={data}`", *shares, *spent])
    heads = ["task", "best", "10 % quantile", "median", "CPU seconds, mean", "largest"]
    return _table(heads, rows)


def _box(problem: Problem) -> str:
    box = problem.space.numeric()
    ends = [
        f"[{_number(low)}, {_number(high)}]" for low, high in zip(box.lower, box.upper, strict=True)
    ]
    if len(ends) > 1 and len(set(ends)) == 1:
        return f"{ends[0]}^{len(ends)}"
    return " x ".join(ends)


def _point(x: np.ndarray) -> str:
    texts = [f"{value + 0.0:.6g}" for value in x]
    if len(texts) > 2 and len(set(texts)) == 1:
        return f"({texts[0]}, …)"
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"


def _kind(dimension: Dimension) -> tuple[str, str]:
    """Return the kind of a dimension and its range."""
    if isinstance(dimension, nm.Categorical):
        return "categorical", ", ".join(map(str, dimension.levels))
    assert isinstance(dimension, nm.Real | nm.Integer)
    kind = type(dimension).__name__.lower() + (", logarithmic" if dimension.log else "")
    return kind, f"{dimension.lower:.6g} to {dimension.upper:.6g}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _mark(name: str) -> str:
    return f"<!-- {name} -->"


if __name__ == "__main__":
    raise SystemExit(main())
