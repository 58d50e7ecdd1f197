"""Claims about random Gaussian processes, their maxima known from a search by samples."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.attack import high_points
from nnbo_mip.exact.checking.heads.reproof import HeadClaim, reprove_head
from nnbo_mip.exact.checking.reproof import Outcome
from nnbo_mip.exact.search.result import Proof
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.heads.curved_cases import random_process
from tests.exact.heads.random_heads import domain_of, head_of


@dataclass(frozen=True, eq=False)
class ProcessCase:
    """An objective on a Gaussian process over a domain, and the best point that was seen."""

    objective: Objective
    domain: Domain
    x: FloatArray
    value: float

    @property
    def posterior(self) -> ProcessPosterior:
        """The Gaussian process."""
        assert isinstance(self.objective.posterior, ProcessPosterior)
        return self.objective.posterior

    def judged(self, level: float, seconds: float = 20.0) -> Outcome:
        """Try to prove that no score is above a level."""
        claim = HeadClaim(self.objective, self.domain, level, Proof("nobody"), None, rigorous=True)
        return reprove_head(claim, time.perf_counter() + seconds, seed=1)


def random_case(
    name: str, seed: int, d: int = 2, kernel: Any = ("matern", 2.5), domain: str = "box"
) -> ProcessCase:
    """Return a random one; its threshold is a tenth of a std above the largest mean seen."""
    rng = np.random.default_rng(seed)
    space = domain_of(domain, d)
    posterior = random_process(rng, space.dimension, 3 * d + 2, kernel, noise=1e-6)
    points = space.sample(1000, rng)
    threshold = float(posterior.mean(points).max() + 0.1 * posterior.std(points).max())
    return asked(Objective(posterior, head_of(name, threshold)), space)


def asked(objective: Objective, domain: Domain) -> ProcessCase:
    """Return the case with the best point that a search finds."""
    x = high_points(objective, domain, np.empty((0, domain.dimension)), seed=0)[0]
    return ProcessCase(objective, domain, x, float(objective.score(x[None, :])[0]))
