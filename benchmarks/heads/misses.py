"""How often heuristic maximizers miss the optimum of EI and UCB that an exact one certifies.

A miss is a value more than 1e-3 of the optimum below it; for EI the difference of the logarithms
counts. Optima that are not certified in time are counted apart: nobody knows what was missed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import nnbo_mip as nm
from benchmarks.heads.beliefs import FUNCTIONS, fitted
from nnbo_mip.maximizers import Maximizer, Request, Target

MISS = 1e-3

FAMILIES: Mapping[int, tuple[str, ...]] = {
    2: ("nomu clip", "ensemble", "dropout"),
    5: ("nomu clip", "ensemble", "dropout"),
    10: ("nomu (16,)", "nomu clip", "ensemble"),
}

HEADS = ("ei", "ucb")

MAXIMIZERS = ("lbfgs:classic", "botorch", "direct", "pga")

SHOWN = {
    "lbfgs:classic": "L-BFGS-B, 10 starts of 512",
    "botorch": "BoTorch optimize_acqf, 20 of 1024",
    "direct": "DIRECT, 20 000",
    "pga": "gradients and LPs",
}


@dataclass(frozen=True)
class Job:
    """One target."""

    inputs: int
    family: str
    function: str
    head: str
    seed: int

    def __str__(self) -> str:
        return f"{self.inputs} {self.family} {self.function} {self.head} {self.seed}"


@dataclass(frozen=True)
class Outcome:
    """What everybody found on one target.

    Parameters
    ----------
    inputs, family, function, head, seed
        The target.
    certified : bool
        Whether the exact maximizer closed the gap.
    optimum, gap : float
        Its value, the logarithm for EI; its gap.
    seconds : float
        CPU seconds of the exact maximizer.
    values, times : dict of str to float
        Of the others, by name; values as `optimum`.
    """

    inputs: int
    family: str
    function: str
    head: str
    seed: int
    certified: bool
    optimum: float
    gap: float
    seconds: float
    values: dict[str, float]
    times: dict[str, float]

    def misses(self, name: str) -> bool:
        """Whether a maximizer misses the optimum."""
        shortfall = self.optimum - self.values[name]
        return shortfall > (MISS if self.head == "ei" else MISS * abs(self.optimum))


def jobs(seeds: int) -> Iterator[Job]:
    """Yield all targets."""
    for inputs, families in FAMILIES.items():
        for family in families:
            for function in FUNCTIONS[inputs]:
                for seed in range(seeds):
                    for head in HEADS:
                        yield Job(inputs, family, function, head, seed)


def measure(job: Job, limit: float) -> Outcome:
    """Certify one target, and let the others search it."""
    data = fitted(job.family, job.function, job.seed)
    acquisition = nm.acquisitions.create(job.head)
    target = Target(acquisition.scorer(data.belief, data.X, data.y), data.domain)
    request = Request(time_limit=limit, seed=job.seed)
    began = time.process_time()
    exact = nm.maximizers.create("auto").maximize(target, request)
    seconds = time.process_time() - began
    values, times = {}, {}
    for name in MAXIMIZERS:
        began = time.process_time()
        x = _best(name, target, Request(seed=job.seed))
        times[name] = time.process_time() - began
        values[name] = _value(target, x)
    assert exact.x is not None
    return Outcome(
        job.inputs,
        job.family,
        job.function,
        job.head,
        job.seed,
        exact.status == "optimal",
        _value(target, exact.x),
        exact.gap,
        seconds,
        values,
        times,
    )


def _best(name: str, target: Target, request: Request) -> np.ndarray:
    if name == "botorch":
        from benchmarks.peers.botorch_search import optimize

        return optimize(target, request.seed)
    spec: object = "direct:evaluations=20000,time_limit=600.0" if name == "direct" else name
    maximizer: Maximizer = nm.maximizers.create(spec)
    proposal = maximizer.maximize(target, request)
    assert proposal.x is not None
    return np.asarray(proposal.x)


def _value(target: Target, x: np.ndarray) -> float:
    """Return what misses are measured in: the score, its logarithm for EI."""
    return target.problem.value(x)


def table(found: Sequence[Outcome]) -> str:
    """Return the share of misses among certified optima, and of optima that are not certified."""
    head = ("d", "head", *SHOWN.values(), "not certified", "seconds to certify")
    lines = [head, ("---",) * len(head)]
    for inputs in FAMILIES:
        for name in HEADS:
            here = [one for one in found if (one.inputs, one.head) == (inputs, name)]
            sure = [one for one in here if one.certified]
            shares = [_share(sum(o.misses(m) for o in sure), len(sure)) for m in MAXIMIZERS]
            median = float(np.median([one.seconds for one in here])) if here else math.nan
            lines.append(
                (
                    str(inputs),
                    name,
                    *shares,
                    _share(len(here) - len(sure), len(here)),
                    f"{median:.2f}",
                )
            )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _share(count: int, whole: int) -> str:
    return f"{count} of {whole} ({count / whole:.0%})" if whole else "-"
