"""Certificates of heads on small random networks, and others that somebody forged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nnbo_mip.core.terms import Measure
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.heads import linear, ratio, sandwich, tangents
from nnbo_mip.exact.heads.certification import certificate_of
from nnbo_mip.exact.heads.maximize_head import Ways, maximize_head
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.storage import head_from_dict
from tests.exact.heads.random_heads import domain_of, head_of, points_of, random_readout

GAP = 1e-4
SEQUENCES = (linear, tangents, sandwich, ratio)


def problem_of(
    kind: str, name: str, seed: int, dimension: int = 2, domain: str = "box", far: float = 0.1
) -> HeadProblem:
    """Return a random question; `far` is how far the threshold is above the best mean seen."""
    rng = np.random.default_rng(seed)
    space = domain_of(domain, dimension)
    readout = random_readout(kind, rng, space.dimension, (6, 6))
    threshold = float(readout.mean(points_of(space, rng)).max()) + far
    return HeadProblem(Objective(readout, head_of(name, threshold)), space)


def solved(problem: HeadProblem, by_sequence: bool = False, gap: float = GAP) -> SearchResult:
    """Return the answer of what `auto` chooses, or of the sequence of linear problems."""
    monitor = Monitor(problem, gap, 20.0)
    if not by_sequence:
        return maximize_head(Ways(problem), SequenceOptions(), monitor)
    way = next(way for way in SEQUENCES if not way.why_not(problem))
    return way.solve(problem, SequenceOptions(), monitor)


def certified(problem: HeadProblem, by_sequence: bool = False) -> Certificate:
    """Return the certificate of an answer."""
    result = solved(problem, by_sequence)
    return certificate_of(problem, result, requested_gap=GAP, seed=0, seconds=0.1)


def objective_of(problem: HeadProblem) -> Objective:
    """Return what the question maximizes."""
    return Objective(problem.readout, problem.head)


def forged(certificate: Certificate, **changes: Any) -> Certificate:
    """Return an edited certificate whose gap, status and digest fit its numbers."""
    changed = replace(certificate, **changes)
    head = None if changed.head is None else head_from_dict(changed.head)
    if not {"gap", "status"} & set(changes):
        value, bound = changed.value, changed.bound
        measure = Measure.NATURAL if head is None else head.measure
        closed = measure.agrees("optimal", value, bound, changed.requested_gap)
        status = "optimal" if closed else "feasible"
        changed = replace(changed, gap=measure.gap(value, bound), status=status)  # type: ignore[arg-type]
    return replace(changed, digest="")


def moved(certificate: Certificate, problem: HeadProblem, x: Any) -> dict[str, Any]:
    """Return the changes that make another point the best one."""
    assert certificate.head is not None
    objective = Objective(problem.readout, head_from_dict(certificate.head))
    value = float(objective.score(np.asarray(x)[None, :])[0])
    return {"x": tuple(np.asarray(x).tolist()), "value": value}
