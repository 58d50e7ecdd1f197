"""Points of criteria that choose them: no maximizer is asked, and nothing is proven."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.acquisitions.base.context import Context
from nnbo_mip.acquisitions.base.criterion import Criterion
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.maximizers.heuristics.search import is_empty
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates.base.abstract import Belief

NAME = "propose"
"""Stands for the maximizer."""


def check_chooses(criterion: str, maximizer: str) -> None:
    """Refuse a maximizer beside a criterion that chooses its point itself."""
    if maximizer != "auto":
        raise UnsupportedError(
            f"{criterion} chooses its point itself, so that no maximizer is asked; got "
            f"{maximizer!r}; leave the maximizer out."
        )


def proposed(
    criterion: Criterion,
    belief: Belief,
    domain: Domain,
    X: npt.ArrayLike | None,
    y: npt.ArrayLike | None,
    noise: npt.ArrayLike | None,
    step: int,
    seed: int,
) -> Proposal:
    """Return the point that a criterion chooses; parameters as those of `maximize`."""
    started = time.perf_counter()
    criterion.check_served(belief.family, belief.capabilities)
    if belief.n_inputs != domain.dimension:
        raise InputError(
            f"the domain must have the {belief.n_inputs} coordinates that the belief was fitted "
            f"on; got {domain.dimension}; pass space.model()."
        )
    context = Context.of(belief, X, y, noise, step)
    context.observations()  # refuses a call without any, whatever the domain
    rng = np.random.default_rng(seed)
    choice = None if is_empty(domain) else criterion.choose(belief, domain, context, rng)
    empty = choice is None and is_empty(domain)
    found = SearchResult(
        bound=-math.inf if empty else math.inf,
        gap=math.nan if empty else math.inf,
        status="infeasible" if empty else "heuristic",
        proof=Proof(NAME),
        score=criterion.name,
        message="" if choice is not None else "no admissible point was found.",
    )
    if choice is not None:
        found = replace(found, x=choice.x, value=choice.value)
    return Proposal(
        found=found,
        maximizer=NAME,
        seconds=time.perf_counter() - started,
        evaluations=0 if choice is None else choice.evaluations,
    )
