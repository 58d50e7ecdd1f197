"""Networks with mean and std, dense grids, and what a result has to satisfy on them."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import (
    MembersPosterior,
    PlainPosterior,
    Posterior,
    SmoothPosterior,
)
from nnbo_mip.space.domain import Domain

L_MIN, L_MAX = 0.05, 1.5
GAP = 1e-4


def chain(
    builder: GraphBuilder, rng: np.random.Generator, widths: tuple[int, ...], outputs: int
) -> Affine:
    """Return the outputs of a random net on the builder's input."""
    value = builder.input
    for width in widths:
        weights = rng.normal(size=(width, value.width)) * np.sqrt(2.0 / value.width)
        value = builder.relu(builder.affine(value, weights, 0.5 * rng.normal(size=width)))
    weights = rng.normal(size=(outputs, value.width)) / np.sqrt(value.width)
    return builder.affine(value, weights, 0.3 * rng.normal(size=outputs))


def nomu_network(
    seed: int,
    inputs: int,
    widths: tuple[int, ...] = (6, 6),
    factor: float = 1.0,
    mean_shift: float = 0.0,
    raw_shift: float = 0.0,
) -> Network:
    """Return a random pair of main and side net, read as NOMU reads it."""
    rng = np.random.default_rng(seed)
    builder = GraphBuilder(inputs)
    main = chain(builder, rng, widths, 2)
    raw = builder.add(builder.select(main, [1]), chain(builder, rng, widths, 1))
    raw = builder.shift(raw, raw_shift)
    return builder.finish(
        {
            "mean": builder.shift(builder.select(main, [0]), mean_shift),
            "raw": raw,
            "relu_raw": builder.relu(raw),
            "std": builder.scale(builder.clip(raw, L_MIN, L_MAX), factor),
        }
    )


def ensemble_network(seed: int, inputs: int, members: int = 3) -> Network:
    """Return random members, their mean and their mean absolute deviation."""
    rng = np.random.default_rng(seed)
    builder = GraphBuilder(inputs)
    together = builder.concatenate([chain(builder, rng, (5, 5), 1) for _ in range(members)])
    average = np.full((members, members), 1.0 / members)
    off = builder.affine(together, np.eye(members) - average)
    deviation = builder.affine(builder.absolute(off), average[:1])
    mean = builder.affine(together, average[:1])
    return builder.finish({"mean": mean, "member": together, "std": deviation})


def clip_posterior(seed: int, inputs: int, **options: float) -> PlainPosterior:
    return PlainPosterior(nomu_network(seed, inputs, **options))  # type: ignore[arg-type]


def smooth_posterior(
    seed: int, inputs: int, factor: float = 1.0, **shifts: float
) -> SmoothPosterior:
    network = nomu_network(seed, inputs, **shifts)  # type: ignore[arg-type]
    return SmoothPosterior(network, L_MIN, L_MAX, factor)


def mad_posterior(seed: int, inputs: int) -> PlainPosterior:
    return PlainPosterior(ensemble_network(seed, inputs))


def members_posterior(seed: int, inputs: int) -> MembersPosterior:
    return MembersPosterior(ensemble_network(seed, inputs))


def small_domain(seed: int, inputs: int) -> Domain:
    """Return a box that is neither centred at 0 nor a cube."""
    rng = np.random.default_rng(1000 + seed)
    lower = rng.uniform(-1.5, 0.5, inputs)
    return Domain(lower, lower + rng.uniform(0.8, 2.0, inputs))


def grid(domain: Domain) -> FloatArray:
    """Return a dense grid of a box of one or two inputs, its ends included."""
    count = 4001 if domain.dimension == 1 else 121
    axes = [np.linspace(a, b, count) for a, b in zip(domain.lower, domain.upper, strict=True)]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes)], axis=1)


def threshold_near(posterior: Posterior, domain: Domain, offset: float) -> float:
    """Return the largest mean on a grid plus so many times its range."""
    mean = posterior.mean(grid(domain))
    return float(mean.max() + offset * (mean.max() - mean.min()))


def case(
    posterior: Posterior, head: Head, domain: Domain, gap: float = GAP
) -> tuple[HeadProblem, Monitor]:
    """Return a problem and a monitor for it."""
    problem = HeadProblem(Objective(posterior, head), domain)
    return problem, Monitor(problem, gap, 60.0)


OPTIONS = SequenceOptions()


def check(problem: HeadProblem, monitor: Monitor, result: SearchResult, points: FloatArray) -> None:
    """Demand what is true of every result, against points that no engine has seen."""
    scores = problem.values(points)
    assert monitor.bound >= scores.max()
    assert result.x is not None
    assert problem.domain.admissible(result.x[None, :])[0]
    assert problem.value(result.x) == monitor.best_value <= monitor.bound
    in_logarithms = problem.searched.is_logarithm and result.score == problem.searched.name
    attained = problem.value(result.x) if in_logarithms else problem.score(result.x)
    assert result.value == attained <= result.bound
    for step in result.steps:
        check_step(problem, step.weights, step.bound, points)


def check_step(
    problem: HeadProblem, weights: dict[str, float] | object, bound: float, points: FloatArray
) -> None:
    """Demand that a sum of moments, computed from the posterior, stays below its bound."""
    assert hasattr(weights, "items")
    posterior = problem.posterior
    known = {"mean": posterior.mean(points)}
    if "std" in weights:
        known["std"] = posterior.std(points)
    if "relu_raw" in weights:
        known["relu_raw"] = posterior.network.evaluate(points, "relu_raw")
    if "score" in weights:
        known["score"] = problem.values(points)
    total = sum(weight * known[name] for name, weight in weights.items())
    assert bound >= np.max(total)


def check_closed(
    problem: HeadProblem, monitor: Monitor, result: SearchResult, points: FloatArray
) -> None:
    """Demand a closed gap beside all else."""
    check(problem, monitor, result, points)
    assert result.status == "optimal", result
    allowed = problem.measure.allowance(monitor.best_value, GAP)
    assert monitor.bound - monitor.best_value <= allowed
    assert monitor.best_value >= problem.values(points).max() - allowed
