"""One run of a pilot, read on its way."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import nnbo_mip as nm
from benchmarks.everyday.tasks import Everyday
from benchmarks.pilots.others import OTHERS
from benchmarks.pilots.wide import made_known
from nnbo_mip.lab.peers.base import AskTell, MethodTask
from nnbo_mip.lab.peers.catalogue import registry as peers
from nnbo_mip.lab.plan.starts import problem_of
from nnbo_mip.maximizers.heuristics.unit_cube import UnitCube
from nnbo_mip.problems import Problem

STARTS = "starts"
"""Of a way, beside options of `optimize`: [base, per dimension, largest share of the run]."""

PEER = "peer"
"""Of a way: which package makes the run instead, as an experiment's file names it."""

RANDOM = "random"
"""The way of uniform points."""

N_SAMPLES = 1000
"""Points over which the spread of a function is taken."""


def run(
    task: Everyday, way: str, options: Mapping[str, Any], seed: int, readings: Sequence[int]
) -> dict[str, Any]:
    """Return what a run had reached at each reading, and its CPU seconds.

    That is the regret of the point that is reported, without noise and in units of the function's
    spread, or the least loss where an optimum is not known. Maximizers are heuristic unless the
    way says otherwise, so that a run takes seconds.
    """
    made_known(task.spec)
    if way in OTHERS:
        return run_other(task, way, seed, readings)
    problem = problem_of(task.spec, seed)
    unit, rng, n = (1.0 if task.is_loss else spread_of(problem)), _generator(seed), max(readings)
    optimizer = nm.BayesianOptimizer(problem.space, **_options(problem, options, seed, n))
    drawn = problem.space.model().sample(n, np.random.default_rng(seed))
    noise = getattr(problem.noise, "sd", None) if task.told else None
    peer = _peer(options, MethodTask(problem.space, problem.direction, [], n, seed, noise))
    is_model = peer is None and way != RANDOM
    reached, best, asks, proven = [], np.inf, [], 0
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nm.ModelWarning)
        for i in range(n):
            asked = time.process_time()
            suggestion = optimizer.ask() if is_model else None
            if suggestion is not None and not suggestion.is_initial:
                asks.append(time.process_time() - asked)
                proven += suggestion.status == "optimal"
            if suggestion is not None:
                x = suggestion.x
            else:
                x = problem.space.decode(drawn[i]) if peer is None else peer.ask()
            y = float(problem.evaluate(x, rng)[0])
            optimizer.tell(x, y, noise=noise)
            if peer is not None:
                peer.tell(x, y)
            best = min(best, y)
            if i + 1 in readings:
                x = _reported(optimizer, is_model)
                told = best if task.is_loss else float(problem.regret(x)[0])
                reached.append(told / unit)
    cpu = round(time.process_time() - started, 2)
    ask = round(float(np.median(asks)), 3) if asks else 0.0
    return {"reached": reached, "cpu": cpu, "ask": ask, "steps": len(asks), "proven": proven}


def run_other(task: Everyday, way: str, seed: int, readings: Sequence[int]) -> dict[str, Any]:
    """Return what another package had reached at each reading, and its CPU seconds."""
    problem = problem_of(task.spec, seed)
    unit = 1.0 if task.is_loss else spread_of(problem)
    domain = problem.space.model()
    reached, best, started = [], np.inf, time.process_time()
    other = OTHERS[way](domain.dimension, seed)
    for i in range(max(readings)):
        z = domain.lower + other.ask() * (domain.upper - domain.lower)
        y = problem.sign * float(problem.evaluate(problem.space.decode(z[None])[0])[0])
        other.tell(y)
        best = min(best, y)
        if i + 1 in readings:
            told = best if task.is_loss else float(problem.regret_of([problem.sign * best])[0])
            reached.append(told / unit)
    cpu = time.process_time() - started
    return {
        "reached": reached,
        "cpu": round(cpu, 2),
        "ask": round(cpu / max(readings), 3),
        "steps": 0,
        "proven": 0,
    }


def spread_of(problem: Problem) -> float:
    """Return the standard deviation of a function over its space."""
    places = problem.space.model().sample(N_SAMPLES, np.random.default_rng(1))
    return float(np.std(problem.truth(problem.space.decode(places))))


def n_starts(problem: Problem, rule: Sequence[float], n: int) -> int:
    """Return the initial points of a rule, at least two, in a run of n evaluations."""
    base, slope, share = rule
    d = UnitCube(problem.space.model()).n_variables
    return max(2, int(min(base + slope * d, share * n)))


def _options(problem: Problem, options: Mapping[str, Any], seed: int, n: int) -> Mapping[str, Any]:
    own = {key: value for key, value in options.items() if key not in (STARTS, PEER)}
    if STARTS in options:
        own["initial"] = n_starts(problem, options[STARTS], n)
    return {"maximizer": "lbfgs", "seed": seed, "direction": problem.direction, **own}


def _peer(options: Mapping[str, Any], task: MethodTask) -> AskTell | None:
    return peers.create(options[PEER]).begin(task) if PEER in options else None


def _reported(optimizer: nm.BayesianOptimizer, is_model: bool) -> Any:
    """Return the point that is reported; without a model of ours the luckiest one."""
    found = optimizer.recommend() if is_model else optimizer.best
    assert found is not None
    return found.x


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 1])
