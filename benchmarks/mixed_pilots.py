"""Pilots on mixed spaces: one length-scale a category (overlap), or one a level, in the process.

    python -m benchmarks.mixed_pilots [--seeds 5] [--problems …] [--ways overlap levels]
        [--evaluations 30] [--out mixed_pilots.jsonl] [--report]

A run is a line of the file, kept as soon as it ends; the same command goes on where it was stopped.
All runs take the Gaussian process everywhere, maximized by ``lbfgs``; a seed has the same starts
either way. The table has the medians of the best value, the seeds in which each way was the better
one, and the CPU seconds of runs. None of the tasks is one by which defaults are judged.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import nnbo_mip as nm
from benchmarks.pilots.__main__ import read
from nnbo_mip.loop.settings.defaults import surrogate_for
from nnbo_mip.problems import Problem

WAYS: Mapping[str, tuple[tuple[int, ...], ...] | None] = {"overlap": None, "levels": ()}
"""What the process is told of categories: what the space has, or nothing."""

PROBLEMS: Mapping[str, Any] = {
    "shifted": "shifted",
    "additive": "additive",
    "pipeline-breast_cancer": "tuning_pipeline:data=breast_cancer",
    "neighbors-wine": "tuning_neighbors:data=wine",
    "boosting-wine": "tuning_boosting:data=wine",
}

STARTS = 8
"""Sobol points of each run."""

SHIFTED = nm.Space(
    [
        nm.Real("a", 0.0, 1.0),
        nm.Real("b", 0.0, 1.0),
        nm.Integer("n", 1, 12),
        nm.Categorical("kind", ["p", "q", "r", "s", "t"]),
    ]
)
"""Each level moves the bowl, and lifts it."""

ADDITIVE = nm.Space(
    [
        nm.Real("a", -1.0, 1.0),
        nm.Real("b", -1.0, 1.0),
        nm.Real("c", -1.0, 1.0),
        nm.Categorical("first", list("abcd")),
        nm.Categorical("second", list("abcdef")),
        nm.Categorical("idle", list("abcd")),
    ]
)
"""Two categories add a number each, the third one does nothing."""


def shifted(x: Any) -> float:
    """Return a bowl whose place and floor depend on the level."""
    level = "pqrst".index(x["kind"])
    centre = np.array([0.2 + 0.15 * level, 0.8 - 0.12 * level])
    bowl = float(np.square(np.array([x["a"], x["b"]]) - centre).sum())
    floor = (0.5, 0.2, 0.0, 0.3, 0.6)[level]
    return 4.0 * bowl + 0.02 * float(x["n"] - 3 - level) ** 2 + floor


def additive(x: Any) -> float:
    """Return a wavy sum of three numbers and of what two levels add."""
    numbers = np.array([x["a"], x["b"], x["c"]])
    wavy = float(np.square(numbers - 0.3).sum() + 0.3 * (1.0 - np.cos(4.0 * (numbers - 0.3))).sum())
    first, second = "abcd".index(x["first"]), "abcdef".index(x["second"])
    added = (0.6, 0.0, 0.9, 0.3)[first] + (0.8, 0.5, 0.0, 1.0, 0.2, 0.6)[second]
    return wavy + added


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, and print the table."""
    options = parser().parse_args(arguments)
    out = Path(options.out)
    found = read(out)
    for seed in range(options.seeds):
        for name in options.problems:
            for way in options.ways:
                cell = {"problem": name, "way": way, "seed": seed, "n": options.evaluations}
                if options.report or any(cell.items() <= row.items() for row in found):
                    continue
                row = {**cell, **run(**cell)}
                found.append(row)
                with out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    print(table([row for row in found if row["n"] == options.evaluations]))
    return 0


def problem_of(name: str, seed: int) -> Problem:
    """Return a problem; the folds of a tuning task are those of the seed."""
    if name == "shifted":
        return Problem(name, SHIFTED, lambda raw: [shifted(x) for x in SHIFTED.from_numeric(raw)])
    if name == "additive":
        return Problem(
            name, ADDITIVE, lambda raw: [additive(x) for x in ADDITIVE.from_numeric(raw)]
        )
    return nm.problems.create(f"{PROBLEMS[name]},seed={seed}")


def run(problem: str, way: str, seed: int, n: int) -> dict[str, Any]:
    """Return the best value of a run and its CPU seconds, those of the function left out."""
    made = problem_of(problem, seed)
    spent = 0.0

    def observed(x: Any) -> float:
        nonlocal spent
        began = time.process_time()
        y = float(made(x))
        spent += time.process_time() - began
        return y

    family: Any = nm.surrogates.create(surrogate_for("gp", made.space.model().n_parameters))
    family = replace(family, categories=WAYS[way])
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nm.ModelWarning)
        result = nm.optimize(
            observed,
            made.space,
            n,
            surrogate=family,
            region=None,
            maximizer="lbfgs",
            initial=STARTS,
            seed=seed,
        )
    seconds = time.process_time() - started - spent
    return {"best": float(np.nanmin(result.func_vals)), "cpu": round(seconds, 2)}


def table(rows: list[dict[str, Any]]) -> str:
    """Return a line a problem: best values of both ways seed by seed, wins, CPU seconds."""
    lines = ["| task | " + " | ".join(WAYS) + " | better in | CPU s |", "|---|---|---|---|---|"]
    for name in PROBLEMS:
        best: dict[str, dict[int, float]] = {way: {} for way in WAYS}
        seconds: dict[str, list[float]] = {way: [] for way in WAYS}
        for row in rows:
            if row["problem"] == name:
                best[row["way"]][row["seed"]] = row["best"]
                seconds[row["way"]].append(row["cpu"])
        seeds = sorted(set.intersection(*(set(values) for values in best.values())))
        if not seeds:
            continue
        cells = [" ".join(f"{best[way][seed]:.3g}" for seed in seeds) for way in WAYS]
        ours, other = (np.array([best[way][seed] for seed in seeds]) for way in WAYS)
        wins = f"{int((ours < other).sum())}, {int((other < ours).sum())} of {len(seeds)}"
        cpu = ", ".join(f"{np.median(seconds[way]):.1f}" for way in WAYS)
        lines.append(f"| {name} | {cells[0]} | {cells[1]} | {wins} | {cpu} |")
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """Return the options of the command."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.mixed_pilots")
    made.add_argument("--seeds", type=int, default=5)
    made.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    made.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    made.add_argument("--evaluations", type=int, default=30)
    made.add_argument("--out", default="mixed_pilots.jsonl")
    made.add_argument("--report", action="store_true", help="only print what the file has")
    return made


if __name__ == "__main__":
    raise SystemExit(main())
