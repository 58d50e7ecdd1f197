"""Soundness of acquisitions: bounds on fitted beliefs, attacked and proven again.

    python -m benchmarks.soundness_beliefs --n 1000 --seed 0 [--limit 2] [--start 0] [--families gp]

Each case fits a surrogate to awkward data, maximizes an acquisition with a proof and attacks the
bound: with random points, points about the proposal and about the data at many distances, and a
random climb from the best of them. No slack is added. Then the certificate is proven again by other
code. Counts violations: a value above the bound, a point that scores higher than the bound, a
certificate that is refuted, an exception that is no sentence for a user.
"""

from __future__ import annotations

import argparse
import math
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import nnbo_mip as nm
from benchmarks.soundness.beliefs import BeliefCase, draw
from nnbo_mip.acquisitions.base.constrained import constrained_scorer
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import NnboError, UncertifiedWarning
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.surrogates.base.abstract import Belief

PROBES = 4000
NEAR = 300
CLIMB = 60
"""Steps of the random climb, of `COMPANY` points each."""
COMPANY = 24
DISTANCES = (1e-1, 1e-3, 1e-6, 1e-9, 1e-12)

VIOLATION = "violation"


@dataclass(frozen=True)
class Outcome:
    """What became of a case: a word to count by, and a sentence."""

    word: str
    sentence: str = ""


def main(arguments: list[str] | None = None) -> int:
    """Run, print the counts; 1 on any violation."""
    options = _parser().parse_args(arguments)
    counts: Counter[str] = Counter()
    for index in range(options.start, options.start + options.n):
        case = draw(options.seed, index)
        if not case.family.startswith(tuple(options.families)):
            continue
        outcome = judged(case, options.limit)
        counts[outcome.word] += 1
        if outcome.word == VIOLATION:
            print(f"{case}\n    {outcome.sentence}", flush=True)
        if (index + 1) % 100 == 0:
            print(f"{index + 1}: {_shown(counts)}", flush=True)
    print(f"{counts.total()} cases: {_shown(counts)}; violations {counts[VIOLATION]}")
    return int(counts[VIOLATION] > 0)


def judged(case: BeliefCase, limit: float) -> Outcome:
    """Maximize, attack and check one case."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UncertifiedWarning)
            belief = fitted(case)
            proposal = maximized(case, belief, limit)
            broken = attacked(case, belief, proposal)
            if broken:
                return Outcome(VIOLATION, broken)
            if proposal.certificate is None or not math.isfinite(proposal.bound):
                return Outcome(proposal.status)
            check = proposal.check(time_limit=limit)
            if check.refuted:
                return Outcome(VIOLATION, f"{proposal!r} is refuted: {check.reason}")
            return Outcome(f"{proposal.status}, {check.verdict}")
    except NnboError as error:
        return Outcome("refused", str(error))
    except Exception:  # whatever it is must be shown, and the run go on
        return Outcome(VIOLATION, traceback.format_exc(limit=-3))


def fitted(case: BeliefCase, values: FloatArray | None = None) -> Belief:
    """Return the belief of a case, or of other values at its points, its std scaled."""
    surrogate: Any = nm.surrogates.create(case.family)
    if hasattr(surrogate, "seed"):
        surrogate = replace(surrogate, seed=case.index)
    belief: Belief = surrogate.fit(case.X, case.y if values is None else values)
    return belief if case.c == 1.0 or not surrogate.scalable else belief.scaled(case.c)


def maximized(case: BeliefCase, belief: Belief, limit: float) -> nm.Proposal:
    """Return the proposal of a case."""
    return nm.maximize(
        belief,
        case.acquisition,
        case.domain,
        X=case.X,
        y=case.y,
        noise=case.noise,
        gap=case.gap,
        time_limit=limit,
        constraints=constraints_of(case),
        outcomes=case.outcomes,
        **case.limits,
    )


def constraints_of(case: BeliefCase) -> list[Belief]:
    """Return the beliefs of a case's outcomes."""
    return [] if case.outcomes is None else [fitted(case, one) for one in case.outcomes.T]


def attacked(case: BeliefCase, belief: Belief, proposal: nm.Proposal) -> str:
    """Return what contradicts the bound, in a sentence; empty where nothing was found."""
    if not proposal.value <= proposal.bound and proposal.x is not None:
        return f"value {proposal.value!r} > bound {proposal.bound!r} ({proposal.engine})"
    if proposal.bound == math.inf:
        return ""
    target, bound = _target(case, belief), proposal.bound
    if target.searched.is_logarithm and proposal.head != target.searched.name:
        bound = math.nextafter(math.log(bound), math.inf) if bound > 0.0 else -math.inf
    rng = np.random.default_rng(case.index)
    points = np.vstack(list(_probes(case, target, proposal.x, rng)))
    points = points[target.domain.admissible(points)]
    if not len(points):
        return ""
    if proposal.status == "infeasible":
        return f"{points[0].tolist()} is admissible, but the answer was infeasible"
    if np.isnan(target.score(points)).any():
        return "a score is no number"
    best, x = _climbed(target, points, rng)
    if best <= bound:
        return ""
    return (
        f"{x.tolist()} scores {best!r}, {best - bound:.3g} more than the bound {bound!r} "
        f"({proposal.status}, {proposal.engine}, {proposal.kind})"
    )


def _target(case: BeliefCase, belief: Belief) -> Target:
    acquisition = nm.acquisitions.create(case.acquisition)
    if case.outcomes is None:
        scorer = acquisition.scorer(belief, case.X, case.y, case.noise, 0)
    else:
        data = case.X, case.y, case.outcomes, case.noise, 0
        scorer = constrained_scorer(acquisition, belief, constraints_of(case), *data)
    domain, limits = case.domain, case.limits
    if "within" in limits:
        domain = domain.restrict(*limits["within"])
    if "away_from" in limits:
        domain = domain.away_from(limits["away_from"], limits["eps"])
    return Target(scorer, domain)


def _probes(
    case: BeliefCase, target: Target, x: FloatArray | None, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Yield points of the box: everywhere, about the proposal, about the data, and its ends."""
    low, high = target.domain.lower, target.domain.upper
    d = len(low)
    yield low + (high - low) * rng.random((PROBES, d))
    for distance in DISTANCES:
        if x is not None:
            near = distance * (high - low) * rng.standard_normal((NEAR, d))
            yield np.clip(x + near, low, high)
        about = case.X[rng.integers(len(case.X), size=NEAR)]
        yield np.clip(about + distance * rng.standard_normal((NEAR, d)), low, high)
    yield np.vstack([low, high, 0.5 * (low + high), np.clip(case.X, low, high)])
    if x is not None:
        yield x[None, :]


def _climbed(
    target: Target, points: FloatArray, rng: np.random.Generator
) -> tuple[float, FloatArray]:
    """Return the best value that a random climb from the best of the points finds, and where."""
    low, high = target.domain.lower, target.domain.upper
    values = target.values(points)
    best, x = float(values.max()), points[int(values.argmax())]
    step = 0.1 * (high - low)
    for _ in range(CLIMB):
        tried = np.clip(x + step * rng.standard_normal((COMPANY, len(low))), low, high)
        tried = tried[target.domain.admissible(tried)]
        values = target.values(tried) if len(tried) else np.array([-math.inf])
        if values.max() > best:
            best, x = float(values.max()), tried[int(values.argmax())]
        else:
            step = 0.6 * step
    return target.value(x), x  # evaluated alone, as a proposal's value is


def _shown(counts: Counter[str]) -> str:
    return ", ".join(f"{word} {n}" for word, n in sorted(counts.items()))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    made.add_argument("--n", type=int, default=1000)
    made.add_argument("--start", type=int, default=0)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--families", nargs="+", default=[""], help="with which names begin")
    made.add_argument("--limit", type=float, default=2.0, help="seconds of a proof, and of a check")
    return made


if __name__ == "__main__":
    started = time.perf_counter()
    code = main()
    print(f"{time.perf_counter() - started:.0f} s")
    raise SystemExit(code)
