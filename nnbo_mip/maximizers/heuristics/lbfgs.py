"""Multistart L-BFGS: many raw samples, the promising ones ascended by their gradients.

References
----------
Byrd et al. (1995), L-BFGS-B [Byrd1995].
Balandat et al. (2020), BoTorch, the preset `botorch` [Balandat2020].
Papenmeier et al. (2025), what points around the best one do in many inputs [Papenmeier2025].
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_number
from nnbo_mip.maximizers.base.abstract import Abilities, Request
from nnbo_mip.maximizers.heuristics.heuristic import Heuristic
from nnbo_mip.maximizers.heuristics.local_ascent import ascend, exchange, settle
from nnbo_mip.maximizers.heuristics.nearby import nearby
from nnbo_mip.maximizers.heuristics.search import Search
from nnbo_mip.maximizers.heuristics.sobol import sobol_points

CHOICES = ("boltzmann", "best")

MANY_INPUTS = 20
"""Free inputs beyond which points around the best ones are scored too."""


@dataclass(frozen=True)
class Lbfgs(Heuristic):
    """Ascend from the promising ones of many Sobol points.

    Parameters
    ----------
    raw_samples : int
        Sobol points that are scored first.
    starts : int
        How many of them are ascended; the request's own starts come first, and on top.
    choice : {"boltzmann", "best"}
        ``boltzmann`` draws starts with probabilities that grow with the score, the best one
        among them, as BoTorch does; ``best`` takes the best ones.
    eta : float
        How fast they grow: ``exp(eta * standardized score)``.
    around : int, optional
        Points that are scored beside them, in each of which few coordinates of one of the request's
        starts, the best observed points, are moved a little; half of `starts` more ascents begin at
        the best of them. Left out, as many as `raw_samples` beyond 20 free inputs, else none.
    iterations : int
        Steps of each ascent at most.
    log : bool
        Ascend log EI and log PI in place of EI and PI, whose gradients vanish wherever
        improvement is unlikely, which is nearly everywhere. False is for comparison.
    evaluations : int
        Points that are scored at most, beside the given starts.
    time_limit : float
        Wall seconds.

    Notes
    -----
    Integers ascend as if they were continuous, are rounded, and then improved one value at a
    time; categories are improved one level at a time. Rows are respected on the way (SLSQP).
    """

    name: ClassVar[str] = "lbfgs"
    abilities: ClassVar[Abilities] = Abilities(needs_gradient=True)

    raw_samples: int = 1024
    starts: int = 20
    choice: str = "boltzmann"
    eta: float = 1.0
    around: int | None = None
    iterations: int = 200
    log: bool = True
    evaluations: int = 20_000

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        for name in ("raw_samples", "starts", "iterations"):
            check_count(name, getattr(self, name))
        if self.around is not None:
            check_count("around", self.around, least=0)
        check_choice("choice", self.choice, CHOICES)
        check_number("eta", self.eta, above=0.0)
        check_flag("log", self.log)

    @property
    def shows_logarithms(self) -> bool:
        """Whether the search is shown log EI and log PI for EI and PI."""
        return self.log

    def _search(self, search: Search, request: Request) -> None:
        raw = sobol_points(search.domain, self.raw_samples, request.seed, search.expired)
        chosen = self._choose(search.values(raw, late=True), np.random.default_rng(request.seed))
        starts = raw[chosen]
        if len(request.starts):
            near = self._around(search, request)
            best = np.argsort(-search.values(near), kind="stable")[: max(1, self.starts // 2)]
            starts = np.vstack([request.starts, starts, near[best]])
        search.counters["starts"] += len(starts)
        levels = np.isin(np.arange(search.domain.dimension), list(search.domain.one_hot_members))
        ends = settle(search, ascend(search, starts, ~levels, self.iterations))
        search.values(ends)
        exchange(search, np.vstack([ends, starts]), self.iterations)

    def _around(self, search: Search, request: Request) -> FloatArray:
        """Return admissible points (n, d) around the request's starts."""
        domain, count = search.domain, self.around
        if count is None:
            is_wide = np.count_nonzero(domain.lower < domain.upper) > MANY_INPUTS
            count = self.raw_samples if is_wide else 0
        return settle(search, nearby(domain, request.starts, count, request.seed))

    def _choose(self, values: FloatArray, rng: np.random.Generator) -> npt.NDArray[np.intp]:
        """Return the numbers of the starts among raw samples with values (n,)."""
        count = min(self.starts, len(values))
        order = np.argsort(-values, kind="stable")
        spread = values.std() if len(values) else 0.0
        if self.choice == "best" or count == len(values) or not 0.0 < spread < np.inf:
            return order[:count]
        # The largest of score + Gumbel noise are draws without replacement from the softmax.
        standardized = (values - values.mean()) / spread
        noisy = self.eta * standardized + rng.gumbel(size=len(values))
        noisy[order[0]] = np.inf
        return np.argsort(-noisy, kind="stable")[:count]


def preset(**fixed: object) -> Callable[..., Lbfgs]:
    """Return what makes an `Lbfgs` with other defaults."""
    return functools.partial(Lbfgs, **fixed)  # type: ignore[arg-type]


classic = preset(raw_samples=512, starts=10, choice="best")
"""The usual default of Bayesian optimization: ten ascents from the best of 512 points."""

botorch = preset(raw_samples=1024, starts=20, iterations=2000)
"""The budget that BoTorch's documentation and Ax use."""

weak = preset(raw_samples=16, starts=2, iterations=10)
"""The budget of a well-known comparison of Bayesian neural networks as surrogates."""
