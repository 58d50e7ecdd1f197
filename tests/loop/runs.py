"""Small runs that the tests of the loop share."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator
from typing import Any

import numpy as np

from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.space import Space

BOX = Space.box([99.0, -3.0], [101.0, -1.0])
"""No side begins at 0 and none has the length 1."""

QUICK: dict[str, Any] = {
    "surrogate": "brvfl:n_hidden=12",
    "acquisition": "ei",
    "maximizer": "random:evaluations=200",
    "initial": 4,
}


def bowl(x: Any) -> float:
    """Return a value of a function whose minimum, 0.5, is at (99.5, -1.5)."""
    return 0.5 + float((x[0] - 99.5) ** 2 + 2.0 * (x[1] + 1.5) ** 2)


def optimizer(space: object = BOX, **options: Any) -> BayesianOptimizer:
    """Return an optimizer whose steps take milliseconds."""
    return BayesianOptimizer(space, **{**QUICK, **options})


def advance(run: BayesianOptimizer, n: int, f: Any = bowl) -> list[Suggestion]:
    """Ask and tell n times, one after another."""
    asked = []
    for _ in range(n):
        asked.append(run.ask())
        run.tell(asked[-1], f(asked[-1].x))
    return asked


def figures(suggestion: Suggestion) -> dict[str, Any]:
    """Return everything of a suggestion but what took time, to be compared to the last bit."""
    plain = suggestion.to_dict()
    del plain["seconds"], plain["fit_seconds"]
    if plain["certificate"] is not None:
        for timed in ("seconds", "digest"):
            del plain["certificate"][timed]
    return plain


def same(first: Any, second: Any) -> bool:
    """Whether two points are the same to the last bit."""
    if isinstance(first, np.ndarray):
        return bool(np.array_equal(first, second))
    return bool(first == second)


@contextlib.contextmanager
def no_space() -> Iterator[None]:
    """Let no file of this process grow, as a full disk does; nothing may be printed within."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def proposal_at(x: Any) -> Proposal:
    """Return the answer of a maximizer that proves nothing: this point, or none."""
    found = SearchResult(
        x=None if x is None else np.atleast_1d(np.asarray(x, dtype=np.float64)),
        value=0.0,
        status="infeasible" if x is None else "heuristic",
        proof=Proof("stub"),
        score="ucb",
    )
    return Proposal(found=found, maximizer="stub", seconds=0.0, evaluations=1)
