"""One run: the default optimizer, and after every value what each rule would have said.

All rules see the same run, the same model and the same band; they differ in how the largest upper
end of the band is found: proven, or as the best of 2048 uniform points and the known ones, which is
what other tools do. After the last rule said stop, nothing more is evaluated.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.stopping.tasks import Task
from nnbo_mip.acquisitions.base.schedules import Confidence
from nnbo_mip.acquisitions.ucb import UpperConfidenceBound
from nnbo_mip.core.control import kept_by
from nnbo_mip.loop.judging.model import LONGEST, Model
from nnbo_mip.loop.judging.regret import regret_bound
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.settings.settings import Purpose, seed_for
from nnbo_mip.problems.problem import Problem

SAMPLES = 2048
"""Uniform points of a sampled bound."""

DELTA = 0.1

CHECK_SECONDS = 30.0

NAMES = ("certified", "sampled", "uncalibrated")


@dataclass(frozen=True)
class Band:
    """The width of the band.

    Parameters
    ----------
    nu : float
    longest : float
        Of the length-scales of a careful model.
    """

    nu: float = 0.2
    longest: float = LONGEST


def run(task: Task, seed: int, band: Band, time_limit: float) -> dict[str, Any]:
    """Make a run and return what is known of it, JSON-able; limits are CPU seconds."""
    began = time.process_time()
    problem, tolerance = task.problem(), task.tolerance()
    rng = np.random.default_rng([seed, 7])
    deviation = 0.5 * tolerance if task.noisy else 0.0
    stops: dict[str, dict[str, Any]] = {}
    trace: list[dict[str, float]] = []
    with kept_by(time.process_time):
        optimizer = BayesianOptimizer(
            problem.space, direction=problem.direction, seed=seed, time_limit=time_limit
        )
        for number in range(1, task.budget + 1):
            asked = optimizer.ask()
            value = problem.truth(asked.x)[0] + deviation * rng.standard_normal()
            optimizer.tell(asked, float(value), noise=deviation or None)
            if number < optimizer.starts:
                continue
            row = _judged(optimizer, tolerance, band, seed, stops)
            row |= {"n": number, "regret": _regret(problem, optimizer)}
            trace.append(row)
            for name in NAMES:
                if name not in stops and row[name] <= tolerance:
                    stops[name] = {"n": number, "regret": row["regret"], "bound": row[name]}
                    if name == "certified":
                        stops[name]["check"] = row.pop("check", "")
            row.pop("check", None)
            if len(stops) == len(NAMES):
                break
    return {
        "task": task.label,
        "seed": seed,
        "nu": band.nu,
        "longest": band.longest,
        "tolerance": tolerance,
        "budget": task.budget,
        "stops": stops,
        "final": _regret(problem, optimizer),
        "made": len(optimizer.history),
        "trace": trace,
        "cpu": time.process_time() - began,
    }


def _judged(
    optimizer: BayesianOptimizer, tolerance: float, band: Band, seed: int, stops: dict[str, Any]
) -> dict[str, Any]:
    """Return the regret bounds of the rules that did not stop yet."""
    settings, told = optimizer.settings, optimizer.history
    model, plain = Model.of(settings, told, True, band.longest), Model.of(settings, told)
    assert model is not None
    assert plain is not None
    row: dict[str, Any] = dict.fromkeys(NAMES, math.nan)
    if "certified" not in stops:
        proven = regret_bound(model, DELTA, band.nu, True, enough=tolerance)
        row["calibration"] = proven.calibration
        row["certified"] = proven.regret
        row["reached"] = proven.reached_regret
        row["status"] = proven.status
        if proven.regret <= tolerance and proven.proposal is not None:
            row["check"] = proven.proposal.check(time_limit=CHECK_SECONDS).verdict
    if "sampled" not in stops:
        row["sampled"] = _sampled(model, band, seed)
    if "uncalibrated" not in stops:
        proven = regret_bound(plain, DELTA, band.nu, False, enough=tolerance)
        row["uncalibrated"] = proven.regret
    return {name: _number(value) for name, value in row.items()}


def _number(value: Any) -> Any:
    return 1e300 if isinstance(value, float) and math.isinf(value) else value


def _sampled(model: Model, band: Band, seed: int) -> float:
    """Return the regret bound of a sample; the lower end is that of the proven one."""
    sample, settings = model.sample, model.settings
    beta = Confidence(DELTA, band.nu).value(model.observations - 1, sample.X.shape[1])
    belief = model.belief.scaled(model.calibration())
    rng = np.random.default_rng(seed_for(seed, model.observations, Purpose.EXTRA))
    points = np.vstack([settings.search.model().sample(SAMPLES, rng), sample.X])
    highest = float(UpperConfidenceBound(beta).score(belief, points).max())
    if sample.is_noisy:
        told = sample.X[sample.told]
        means = belief.mean(told)
        place = int(means.argmax())
        low = float(means[place] - beta * belief.std(told[place : place + 1])[0])
    else:
        low = float(sample.y[sample.told].max())
    ends = sample.outward([low, max(low, highest)])
    return float(ends[1] - ends[0])


def _regret(problem: Problem, optimizer: BayesianOptimizer) -> float:
    """Return the true regret of the point that the run would return."""
    found = optimizer.recommend()
    assert found is not None
    return float(problem.regret(found.x)[0])
