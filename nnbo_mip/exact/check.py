"""Checks of certificates: nothing is believed that is not computed again.

In this order: the certificate is the one that was written (digest), it is about this
network and this space (fingerprints), its numbers fit each other, its point is admissible
and scores what it says, and no admissible point scores beyond the bound (`reproof`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.core.progress import Progress, ProgressCallback, ProgressOption, reporting
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.checking.heads.judge import Inquiry, judge_head
from nnbo_mip.exact.checking.recheck_bounds import BoxBounder
from nnbo_mip.exact.checking.reproof import reprove
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import gap_closed
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.readouts import NetworkReadout
from nnbo_mip.scores.storage import head_from_dict
from nnbo_mip.space.domain import ROW_SLACK, Domain
from nnbo_mip.space.space import Space

Verdict: TypeAlias = Literal["confirmed", "refuted", "undecided"]


@dataclass(frozen=True, eq=False)
class CheckResult:
    """What a check found; true in conditions only when the claim is confirmed.

    Parameters
    ----------
    verdict : {"confirmed", "refuted", "undecided"}
        Also what the result compares equal to: ``result == "confirmed"``.
    reason : str
        A sentence.
    seconds : float
        Wall time of the check.
    """

    verdict: Verdict
    reason: str
    seconds: float = 0.0

    @property
    def confirmed(self) -> bool:
        """Whether the claim was proven again."""
        return self.verdict == "confirmed"

    @property
    def refuted(self) -> bool:
        """Whether the claim is wrong or was altered."""
        return self.verdict == "refuted"

    def __bool__(self) -> bool:
        return self.confirmed

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CheckResult):
            return (self.verdict, self.reason) == (other.verdict, other.reason)
        return self.verdict == other

    def __hash__(self) -> int:
        return hash(self.verdict)

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}"


def check(
    certificate: Certificate,
    network: Network | Objective | str | Path,
    space: object = None,
    *,
    time_limit: float = 60.0,
    seed: int = 0,
    progress: ProgressOption = None,
) -> CheckResult:
    """Prove the claim of a certificate again; see `Certificate.check`."""
    from nnbo_mip.core.inputs import as_seed, as_time_limit

    started = time.perf_counter()
    deadline = started + as_time_limit(time_limit)
    given = None if space is None else _domain(Space.coerce(space))
    subject, seed = _subject(certificate, network), as_seed(seed)
    with reporting(progress, _sign(certificate)) as callback:
        whole = None if callback is None else _clocked(callback, started, deadline)
        verdict, reason = _judge(certificate, subject, given, deadline, seed, whole)
    if isinstance(subject, Network) and subject.unverified:
        reason = f"{reason} Warning: {subject.unverified}"
    return CheckResult(verdict, reason, time.perf_counter() - started)


def _subject(certificate: Certificate, given: object) -> Network | Objective:
    """Return what the certificate should be about, read from a file where a path is given."""
    from nnbo_mip.network.inputs import as_network

    if certificate.head is None:
        return as_network(given)
    if isinstance(given, str | Path):
        return Objective.load(given)
    if isinstance(given, Objective):
        return given
    raise InputError(
        "the certificate of a head is checked against an Objective or the file of one; got a "
        f"{type(given).__name__}; pass Objective(readout, head)."
    )


def _clocked(callback: ProgressCallback, started: float, deadline: float) -> ProgressCallback:
    """Return a callback that reports the time of the whole check, not of one prover."""

    def call(progress: Progress) -> None:
        now = time.perf_counter()
        callback(
            replace(
                progress,
                engine=f"check by {progress.engine}",
                seconds=now - started,
                remaining=max(0.0, deadline - now),
            )
        )

    return call


def _sign(certificate: Certificate) -> float:
    return 1.0 if certificate.direction == "maximize" else -1.0


def _judge(
    certificate: Certificate,
    subject: Network | Objective,
    given: Domain | None,
    deadline: float,
    seed: int,
    callback: ProgressCallback | None,
) -> tuple[Verdict, str]:
    if certificate.digest != certificate.content_digest():
        return "refuted", "the certificate was altered after it was written: its digest is wrong."
    try:
        stored = _domain(_stored_space(certificate.space))
    except FileFormatError as error:
        return "refuted", f"the space in the certificate is not one: {error}"
    if stored.fingerprint != certificate.space_fingerprint:
        return "refuted", "the space in the certificate is not the one it names."
    if given is not None and given.fingerprint != stored.fingerprint:
        return "refuted", "the certificate is about another space: the fingerprints differ."
    if certificate.row_slack != ROW_SLACK:
        slack = f"{ROW_SLACK:g}, not {certificate.row_slack:g}"
        return "refuted", f"rows count as satisfied within {slack}."
    if certificate.head is None:
        if isinstance(subject, Objective):
            return "refuted", "the certificate is about an output of a network, not about a head."
        return _judge_output(certificate, subject, stored, deadline, seed, callback)
    if isinstance(subject, Network):
        return "refuted", "the certificate is about a head, not about an output of a network."

    def judge(sub: Certificate, objective: Objective, until: float) -> tuple[Verdict, str]:
        part = _part_of(sub, objective)
        if part is None:
            return "refuted", "it is about another network or another kind of head."
        return _judge(sub, part, stored, until, seed, callback)

    return judge_head(certificate, subject, Inquiry(stored, deadline, seed, callback, judge))


def _part_of(sub: Certificate, objective: Objective) -> Network | Objective | None:
    """Return what a part of a claim about an objective is about: a sum of outputs, or a head."""
    if sub.head is None:
        readout = objective.readout
        return readout.network if isinstance(readout, NetworkReadout) else None
    try:
        return Objective(objective.readout, head_from_dict(sub.head))
    except FileFormatError:
        return None


def _judge_output(
    certificate: Certificate,
    network: Network,
    stored: Domain,
    deadline: float,
    seed: int,
    callback: ProgressCallback | None,
) -> tuple[Verdict, str]:
    objective = _objective(certificate, network)
    if objective is None:
        return "refuted", "the certificate is about another network: the fingerprints differ."
    if stored.dimension != objective.n_inputs:
        return "refuted", "the space in the certificate does not fit the network."
    sign = _sign(certificate)
    problem = Problem(objective if sign > 0.0 else objective.negated(), stored)
    for contradiction in _contradictions(certificate, problem, sign):
        return "refuted", contradiction
    for position, sub in enumerate(certificate.sub_certificates):
        verdict, reason = _judge(sub, network, stored, deadline, seed, callback)
        if verdict != "confirmed":
            return verdict, f"sub-certificate {position} is {verdict}: {reason}"
    if certificate.status == "heuristic":
        return "confirmed", "the value is right; the certificate claims no bound."
    x = None if certificate.x is None else np.array(certificate.x)
    level, claimant = sign * certificate.bound, certificate.prover
    return reprove(problem, level, sign, x, claimant, deadline, seed, callback)


def _domain(space: Space | Domain) -> Domain:
    return space if isinstance(space, Domain) else space.numeric()


def _stored_space(data: Any) -> Space | Domain:
    from nnbo_mip.space.storage import DOMAIN_FORMAT

    return Domain.from_dict(data) if data.get("format") == DOMAIN_FORMAT else Space.from_dict(data)


def _objective(certificate: Certificate, network: Network) -> Network | None:
    """Return the function that was optimized, None if the network is not the one named."""
    if network.fingerprint == certificate.objective_fingerprint and network.n_outputs == 1:
        return network
    if network.fingerprint != certificate.network_fingerprint:
        return None
    try:
        objective = network.objective(certificate.output)
    except InputError:
        return None
    same = objective.fingerprint == certificate.objective_fingerprint
    return objective if same else None


def _contradictions(certificate: Certificate, problem: Problem, sign: float) -> Iterator[str]:
    """Yield what is wrong with the numbers, in sentences."""
    value, bound = sign * certificate.value, sign * certificate.bound
    yield from _status_contradictions(certificate, value, bound)
    if certificate.x is None:
        if value != -math.inf:
            yield "it names a value but no point that has it."
        return
    x = np.array(certificate.x)
    if x.size != problem.dimension or not problem.domain.admissible(x[None, :])[0]:
        yield "its point is not admissible."
        return
    domain = problem.domain
    error = BoxBounder(problem.network, domain.lower, domain.upper).output_error
    computed = problem.value(x)
    # Another machine may sum in another order, so equality is up to rounding.
    if not abs(computed - value) <= 2.0 * error:
        yield f"the network scores {sign * computed!r} at its point, not {certificate.value!r}."


def _status_contradictions(certificate: Certificate, value: float, bound: float) -> Iterator[str]:
    status, closed = certificate.status, gap_closed(value, bound, certificate.requested_gap)
    distance = bound - value if math.isfinite(bound - value) else None
    if certificate.requested_gap < 0.0 or math.isnan(value) or math.isnan(bound):
        yield "its numbers are not ordered."
    elif value > bound:
        yield "its value lies beyond its bound."
    elif (certificate.kind == "none") != (status == "heuristic"):
        yield f"a bound of kind {certificate.kind!r} does not make the status {status!r}."
    elif status == "heuristic" and bound != math.inf:
        yield "a heuristic result claims no bound, but a finite one is written."
    elif status == "infeasible" and not (certificate.x is None and bound == -math.inf):
        yield "where no admissible point exists there is no value and no bound."
    elif status == "optimal" and not closed:
        yield "value and bound are farther apart than the gap that 'optimal' promises."
    elif status == "feasible" and closed:
        yield "value and bound are as close as 'optimal' asks, but the status says otherwise."
    elif distance is not None and certificate.gap != distance:
        yield f"the distance of value and bound is {distance!r}, not {certificate.gap!r}."
