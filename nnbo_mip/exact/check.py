"""Checks of certificates: nothing is believed that is not computed again.

In this order: the certificate is the one that was written (digest), it is about this
network and this space (fingerprints), its numbers fit each other (`checking.numbers`), its point
is admissible and scores what it says, and no admissible point scores beyond the bound (`reproof`).
Fields that are information alone, such as `seconds`, are believed nowhere and repeated nowhere.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from nnbo_mip.core.control import (
    Progress,
    ProgressCallback,
    ProgressOption,
    reporting,
)
from nnbo_mip.core.errors import FileFormatError, InputError, NnboError
from nnbo_mip.core.rebuilt import Rebuilt
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.checking.heads.judge import Inquiry, judge_head
from nnbo_mip.exact.checking.numbers import contradictions
from nnbo_mip.exact.checking.recheck_bounds import BoxBounder
from nnbo_mip.exact.checking.reproof import reprove
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.storage import head_from_dict, network_of
from nnbo_mip.space.domain import ROW_SLACK, Domain
from nnbo_mip.space.space import Space

Verdict: TypeAlias = Literal["confirmed", "refuted", "undecided"]


@dataclass(frozen=True, eq=False)
class CheckResult(Rebuilt):
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
    from nnbo_mip.core.checks import as_seed, as_time_limit

    started = time.perf_counter()
    deadline = started + as_time_limit(time_limit)
    given = None if space is None else Space.coerce(space)
    subject, seed = _subject(certificate, network), as_seed(seed)
    with reporting(progress, _sign(certificate)) as callback:
        whole = None if callback is None else _clocked(callback, started, deadline)
        asked = _Asked(given, certificate.version, False, deadline, seed, whole)
        verdict, reason = _judge(certificate, subject, asked)
    if isinstance(subject, Network) and subject.unverified:
        reason = f"{reason} Warning: {subject.unverified}"
    return CheckResult(verdict, reason, time.perf_counter() - started)


def _subject(certificate: Certificate, given: object) -> Network | Objective:
    """Return what the certificate should be about, read from a file where a path is given."""
    from nnbo_mip.network.inputs import as_network

    if isinstance(given, Objective):
        return given
    if certificate.head is None:
        return as_network(given)
    if isinstance(given, str | Path):
        return Objective.load(given)
    raise InputError(
        "the certificate of a head is checked against an Objective or the file of one; got a "
        f"{type(given).__name__}; pass Objective(posterior, head)."
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


@dataclass(frozen=True, eq=False)
class _Asked:
    """What a certificate, or a part of one, has to be.

    Parameters
    ----------
    space : Space, Domain or None
        What it has to be about; None for whatever it names.
    version : int
        Of its form; parts have that of the whole.
    rigorous : bool
        Whether it is a part of a claim that is rigorous.
    deadline : float
        A time of `time.perf_counter`.
    seed : int
    callback : callable or None
    """

    space: Space | Domain | None
    version: int
    rigorous: bool
    deadline: float
    seed: int
    callback: ProgressCallback | None


def _judge(
    certificate: Certificate, subject: Network | Objective, asked: _Asked
) -> tuple[Verdict, str]:
    if certificate.digest != certificate.content_digest():
        return "refuted", "the certificate was altered after it was written: its digest is wrong."
    if certificate.version != asked.version:
        return "refuted", "the certificate is of another version than the one that it is a part of."
    try:
        stored = _stored_space(certificate.space)
        domain = _domain(stored)
    except NnboError as error:
        return "refuted", f"the space in the certificate is not one: {error}"
    if domain.fingerprint != certificate.space_fingerprint:
        return "refuted", "the space in the certificate is not the one it names."
    if asked.space is not None and not _same(stored, asked.space):
        return "refuted", "the certificate is about another space: the fingerprints differ."
    if certificate.row_slack != ROW_SLACK:
        slack = f"{ROW_SLACK:g}, not {certificate.row_slack:g}"
        return "refuted", f"rows count as satisfied within {slack}."
    rigorous = asked.rigorous or certificate.kind == "rigorous"
    asked = replace(asked, space=stored, rigorous=rigorous)
    if certificate.head is None:
        if isinstance(subject, Objective) or certificate.posterior is not None:
            return "refuted", "the certificate is about an output of a network, not about a head."
        return _judge_output(certificate, subject, domain, asked)
    if isinstance(subject, Network):
        return "refuted", "the certificate is about a head, not about an output of a network."

    def judge(sub: Certificate, objective: Objective, until: float) -> tuple[Verdict, str]:
        part = _part_of(sub, objective)
        if part is None:
            return "refuted", "it is about another network or another kind of head."
        return _judge(sub, part, replace(asked, deadline=until))

    inquiry = Inquiry(domain, rigorous, asked.deadline, asked.seed, asked.callback, judge)
    return judge_head(certificate, subject, inquiry)


def _part_of(sub: Certificate, objective: Objective) -> Network | Objective | None:
    """Return what a part of a claim about an objective is about: a sum of outputs, or a head."""
    if sub.head is None:
        return network_of(objective.posterior)
    try:
        return Objective(objective.posterior, head_from_dict(sub.head))
    except FileFormatError:
        return None


def _judge_output(
    certificate: Certificate, network: Network, domain: Domain, asked: _Asked
) -> tuple[Verdict, str]:
    if (mismatch := _mismatch(certificate, network)) is not None:
        return mismatch
    objective = network.objective(certificate.output)
    if domain.dimension != objective.n_inputs:
        return "refuted", "the space in the certificate does not fit the network."
    sign = _sign(certificate)
    problem = Problem(objective if sign > 0.0 else objective.negated(), domain)
    for contradiction in _contradictions(certificate, problem, sign):
        return "refuted", contradiction
    for position, sub in enumerate(certificate.sub_certificates):
        verdict, reason = _judge(sub, network, asked)
        if verdict != "confirmed":
            return verdict, f"sub-certificate {position} is {verdict}: {reason}"
    if certificate.status == "heuristic":
        return "confirmed", "the value is right; the certificate claims no bound."
    x = None if certificate.x is None else np.array(certificate.x)
    level, claimant = sign * certificate.bound, certificate.proof
    deadline, seed, callback = asked.deadline, asked.seed, asked.callback
    return reprove(problem, level, sign, x, claimant, deadline, seed, callback, asked.rigorous)


def _domain(space: Space | Domain) -> Domain:
    return space if isinstance(space, Domain) else space.numeric()


def _stored_space(data: Any) -> Space | Domain:
    from nnbo_mip.space.storage import DOMAIN_FORMAT

    return Domain.from_dict(data) if data.get("format") == DOMAIN_FORMAT else Space.from_dict(data)


def _same(stored: Space | Domain, given: Space | Domain) -> bool:
    """Whether two spaces have the same points, and the same names where both have names."""
    if (
        isinstance(stored, Space)
        and isinstance(given, Space)
        and stored.is_named
        and given.is_named
    ):
        return stored == given
    return _domain(stored).fingerprint == _domain(given).fingerprint


def _mismatch(certificate: Certificate, network: Network) -> tuple[Verdict, str] | None:
    """Return why the certificate is not about the network, None if it is."""
    version = certificate.version
    given = network.fingerprint_of(version)
    if given != certificate.network_fingerprint:
        if certificate.output is not None and given == certificate.objective_fingerprint:
            return "undecided", (
                "the network that was given is the output that was optimized, but of which network "
                "that is an output cannot be seen from it; pass the network that was certified."
            )
        return "refuted", "the certificate is about another network: the fingerprints differ."
    try:
        objective = network.objective(certificate.output)
    except InputError as error:
        return "refuted", f"the certificate names no output of the network: {error}"
    if objective.fingerprint_of(version) != certificate.objective_fingerprint:
        return "refuted", "the certificate is about another output: the fingerprints differ."
    return None


def _contradictions(certificate: Certificate, problem: Problem, sign: float) -> Iterator[str]:
    """Yield what is wrong with the numbers or with the point, in sentences."""
    yield from contradictions(certificate, None)
    if certificate.x is None:
        return
    x = np.array(certificate.x)
    if x.size != problem.dimension or not problem.domain.admissible(x[None, :])[0]:
        yield "its point is not admissible."
        return
    domain = problem.domain
    error = BoxBounder(problem.network, domain.lower, domain.upper).output_error
    computed, value = problem.value(x), sign * certificate.value
    # Another machine may sum in another order, so equality is up to rounding.
    if not abs(computed - value) <= 2.0 * error:
        yield f"the network scores {sign * computed!r} at its point, not {certificate.value!r}."
