"""From the answer about a head to its certificate.

Where the bound follows from lines that linear problems have proven (the sandwiches), each line
that matters becomes a sub-certificate, as wide as the bound allows: a weighted sum of mean and
std is the claim of a `LinearHead` on the same posterior, one of mean and relu(raw) a claim about
the network's outputs. A bound that was proven in another way stands by itself: linear heads and
ratios are one linear problem, which restates the claim, and boxes have no parts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nnbo_mip.core.terms import Measure, Status
from nnbo_mip.core.version import __version__
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.checking.heads.implication import needed_lines, why_not_following
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.result import SearchResult, Step
from nnbo_mip.scores.base.abstract import Head, Shape
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.storage import head_to_dict, network_of, posterior_to_dict
from nnbo_mip.space.domain import ROW_SLACK, Domain
from nnbo_mip.space.space import Space

WIDEST, NARROWEST = -2, -12
"""Powers of ten, in units of the lines' bounds, by which lines are widened."""


def certificate_of(
    problem: HeadProblem,
    result: SearchResult,
    *,
    space: Space | Domain | Mapping[str, Any] | None = None,
    requested_gap: float,
    seed: int,
    seconds: float,
) -> Certificate:
    """Write down what was proven about a head.

    Parameters
    ----------
    problem : HeadProblem
    result : SearchResult
        An answer to `problem`.
    space : Space, Domain or mapping, optional
        What `problem.domain` came from, or its dict; the domain itself when left out.
    requested_gap : float
        The gap at which the search was to end.
    seed : int
        Of the search.
    seconds : float
        Wall time of the search.

    Raises `UnsupportedError` for heads and posteriors that no certificate can name.
    """
    given = problem.domain if space is None else space
    stored = given.to_dict() if isinstance(given, Space | Domain) else given
    writer = _Writer(problem, stored, requested_gap, seed, seconds)
    return writer.whole(result)


class _Writer:
    """Fills in what all parts of one certificate share."""

    def __init__(
        self,
        problem: HeadProblem,
        space: Mapping[str, Any],
        requested_gap: float,
        seed: int,
        seconds: float,
    ) -> None:
        self.problem, self.space = problem, space
        self.requested_gap, self.seed, self.seconds = requested_gap, seed, seconds
        self.posterior = problem.posterior
        self.network = network_of(problem.posterior)

    def whole(self, result: SearchResult) -> Certificate:
        problem = self.problem
        in_logarithms = result.score == problem.searched.name and result.status != "infeasible"
        objective = problem.sought if in_logarithms else problem.objective
        return self._write(
            objective, result, self.requested_gap, parts=self._parts(objective, result)
        )

    def _parts(self, objective: Objective, result: SearchResult) -> tuple[Certificate, ...]:
        """Return the claims of the lines from which the bound follows; none if it does not."""
        if objective.head.shape is Shape.LINEAR or not math.isfinite(result.bound):
            return ()
        parts = tuple(self._part(step) for step in result.steps if _is_line(step))
        if not parts or why_not_following(parts, objective, result.bound):
            return ()
        return self._loosened(needed_lines(parts), objective, result.bound)

    def _loosened(
        self, parts: tuple[Certificate, ...], objective: Objective, bound: float
    ) -> tuple[Certificate, ...]:
        """Widen lines as far as the bound still follows: weaker claims are proven again faster."""
        size = max(abs(part.bound) / _weight(part) for part in parts)
        for exponent in range(WIDEST, NARROWEST - 1, -1):
            wider = tuple(_widened(part, 10.0**exponent * size * _weight(part)) for part in parts)
            if not why_not_following(wider, objective, bound):
                return wider
        return parts

    def _part(self, step: Step) -> Certificate:
        weights = dict(step.weights)
        head: Head | None = None
        if "relu_raw" not in weights:
            head = LinearHead(weights.get("mean", 0.0), weights.get("std", 0.0))
            objective = Objective(self.posterior, head)
            value = -math.inf if step.x is None else float(objective.score(step.x[None, :])[0])
        else:
            assert self.network is not None
            output = self.network.objective(weights)
            value = -math.inf if step.x is None else float(output.evaluate(step.x[None, :], 0)[0])
        bound = max(step.bound, value)
        status: Status = "feasible"
        if Measure.NATURAL.agrees("optimal", value, bound, 0.0):
            status = "optimal"
        found = replace(step.found, value=value, bound=bound, status=status)
        return self._write(weights if head is None else objective, found, 0.0)

    def _write(
        self,
        about: Objective | Mapping[str, float],
        found: SearchResult,
        requested_gap: float,
        parts: tuple[Certificate, ...] = (),
    ) -> Certificate:
        head = about.head if isinstance(about, Objective) else None
        if isinstance(about, Objective):
            fingerprint = about.fingerprint
        else:
            assert self.network is not None
            fingerprint = self.network.objective(about).fingerprint
        network = self.network
        solver, version = found.proof.solved_by
        measure = Measure.NATURAL if head is None else head.measure
        gap = measure.gap(found.value, found.bound)
        return Certificate(
            direction="maximize",
            status=found.status,
            kind=found.kind,
            value=found.value,
            bound=found.bound,
            gap=math.nan if found.status == "infeasible" else gap,
            x=None if found.x is None else tuple(found.x.tolist()),
            requested_gap=requested_gap,
            row_slack=ROW_SLACK,
            output=None if isinstance(about, Objective) else about,
            engine=str(found.proof),
            solver=solver,
            solver_version=version,
            nnbo_mip_version=__version__,
            network_fingerprint=fingerprint if network is None else network.fingerprint,
            objective_fingerprint=fingerprint,
            space=self.space,
            space_fingerprint=self.problem.domain.fingerprint,
            float32_difference=None if network is None else network.float32_difference,
            seed=self.seed,
            seconds=self.seconds,
            counters={name: int(count) for name, count in found.counters.items()},
            sub_certificates=parts,
            head=None if head is None else head_to_dict(head),
            posterior=None if head is None else posterior_to_dict(self.posterior),
            unverified=None if network is None else network.unverified or None,
        )


def _is_line(step: Step) -> bool:
    """Whether a step proved a finite bound on a sum with weights that make a line."""
    weights = dict(step.weights)
    second = weights.get("std", -weights.get("relu_raw", 0.0))
    known = set(weights) <= {"mean", "std"} or set(weights) <= {"mean", "relu_raw"}
    rises = weights.get("mean", 0.0) >= 0.0 and second >= 0.0
    return known and rises and step.kind != "none" and math.isfinite(step.bound)


def _weight(part: Certificate) -> float:
    """Return the sum of the weights' sizes in the claim of a line."""
    weights = part.output if isinstance(part.output, Mapping) else part.head
    assert weights is not None
    return float(sum(abs(weight) for name, weight in weights.items() if name != "class"))


def _widened(part: Certificate, amount: float) -> Certificate:
    """Return the claim of a line with a larger bound."""
    bound = part.bound + amount
    gap = Measure.NATURAL.gap(part.value, bound)
    closed = Measure.NATURAL.agrees("optimal", part.value, bound, part.requested_gap)
    return replace(
        part, bound=bound, gap=gap, status="optimal" if closed else "feasible", digest=""
    )
