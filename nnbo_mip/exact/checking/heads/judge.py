"""Checks of certificates of heads: nothing is believed that is not computed again.

The head and the posterior are those it names, its numbers fit each other, its point is admissible
and scores what it says. A certificate with sub-certificates follows from them (`implication`),
and each of them is proven again; one without is proven again as it is (`reproof`).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.control import ProgressCallback
from nnbo_mip.core.errors import FileFormatError, NnboError
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.checking.heads.choice import score_bounder
from nnbo_mip.exact.checking.heads.implication import why_not_following
from nnbo_mip.exact.checking.heads.reproof import HeadClaim, reprove_head
from nnbo_mip.exact.checking.numbers import contradictions
from nnbo_mip.exact.checking.reproof import Outcome
from nnbo_mip.scores.logarithms import LEAST_LOG
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.storage import head_from_dict, head_to_dict, network_of, posterior_to_dict
from nnbo_mip.space.domain import Domain

SUBS_SHARE = 0.8
"""Share of the time that sub-certificates may take; the rest is for the claim itself."""

VALUE_ROUNDING = 1e-11
"""Relative difference of scores that two machines may compute at one point, beside what the
rounding of their networks' passes explains."""

UNKNOWN_ROUNDING = 1e-6
"""The same where nothing bounds these passes; such claims are not confirmed."""


@dataclass(frozen=True, eq=False)
class Inquiry:
    """What all certificates of one check share.

    Parameters
    ----------
    domain : Domain
        The space of the certificate.
    rigorous : bool
        Whether a proof up to the tolerances of a solver is too little.
    deadline : float
        A time of `time.perf_counter`.
    seed : int
    callback : callable or None
    judge : callable
        Judges a sub-certificate about the given function until a deadline.
    """

    domain: Domain
    rigorous: bool
    deadline: float
    seed: int
    callback: ProgressCallback | None
    judge: Callable[[Certificate, Objective, float], Outcome]


def judge_head(certificate: Certificate, given: Objective, inquiry: Inquiry) -> Outcome:
    """Prove the claim of a certificate about an objective again.

    Parameters
    ----------
    certificate : Certificate
        Its digest and space are right; it has a head.
    given : Objective
        What it should be about; EI and PI stand for their logarithms as well.
    inquiry : Inquiry
    """
    try:
        head = head_from_dict(certificate.head)
        objective = Objective(given.posterior, head)
        mismatch = _mismatch(certificate, given, objective, inquiry.domain)
    except FileFormatError as error:
        return "refuted", f"the head in the certificate is not one: {error}"
    except NnboError as error:
        return "undecided", f"the objective cannot be compared with the certificate: {error}"
    if mismatch:
        return "refuted", mismatch
    for contradiction in _contradictions(certificate, objective, inquiry.domain):
        return "refuted", contradiction
    if certificate.status == "heuristic":
        return "confirmed", "the value is right; the certificate claims no bound."
    without = ""
    if certificate.sub_certificates:
        verdict, reason = _judge_parts(certificate, objective, inquiry)
        if verdict != "undecided":
            return verdict, reason
        without = f" As a whole, without its parts, of which {reason}"
    x = None if certificate.x is None else np.array(certificate.x)
    level, claimant = certificate.bound, certificate.proof
    claim = HeadClaim(objective, inquiry.domain, level, claimant, x, inquiry.rigorous)
    verdict, reason = reprove_head(claim, inquiry.deadline, inquiry.seed, inquiry.callback)
    return verdict, reason if verdict == "refuted" else reason + without


def _mismatch(
    certificate: Certificate, given: Objective, objective: Objective, domain: Domain
) -> str:
    """Return why the certificate is not about what was given, in a sentence; empty if it is."""
    heads = (head_to_dict(given.head), head_to_dict(given.head.searched))
    if _text(certificate.head) not in map(_text, heads):
        return "the certificate is about another head: the numbers differ."
    if _text(certificate.posterior) != _text(posterior_to_dict(given.posterior)):
        return "the certificate is about another posterior: the numbers or matrices differ."
    whole = objective.fingerprint_in(certificate.version)
    if whole != certificate.objective_fingerprint:
        return "the certificate is about another objective: the fingerprints differ."
    network = network_of(objective.posterior)
    named = whole if network is None else network.fingerprint_of(certificate.version)
    if named != certificate.network_fingerprint:
        return "the certificate is about another network: the fingerprints differ."
    if domain.dimension != objective.dimension:
        return "the space in the certificate does not fit the objective."
    return ""


def _text(content: Mapping[str, object] | None) -> str:
    """Return JSON in which true is not 1, and zeros have signs."""
    return json.dumps(content, sort_keys=True, default=dict)


# -- numbers ------------------------------------------------------------------------------


def _contradictions(
    certificate: Certificate, objective: Objective, domain: Domain
) -> Iterator[str]:
    """Yield what is wrong with the numbers, in sentences."""
    if certificate.direction != "maximize" or certificate.output is not None:
        yield "a head is maximized, and stands for the output itself."
    yield from contradictions(certificate, objective.head)
    if certificate.x is None:
        return
    x = np.array(certificate.x)
    if x.size != domain.dimension or not domain.admissible(x[None, :])[0]:
        yield "its point is not admissible."
        return
    low, high = _score_interval(objective, domain, x)
    if not low <= certificate.value <= high:
        computed = float(objective.score(x[None, :])[0])
        yield f"the score at its point is {computed!r}, not {certificate.value!r}."


def _score_interval(
    objective: Objective, domain: Domain, x: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> tuple[float, float]:
    """Return between what a float64 evaluation of the score at a point lies on any machine."""
    scores = score_bounder(objective, domain)
    least = LEAST_LOG if objective.head.is_logarithm else -math.inf  # as in what is searched
    low = high = max(float(objective.score(x[None, :])[0]), least)
    share = UNKNOWN_ROUNDING
    if scores is not None:
        # In real arithmetic; a float64 pass may be as far from it as its bounds are.
        real_low, real_high = (max(float(end[0]), least) for end in scores.interval(x[None, :]))
        width = real_high - real_low
        low, high = min(low, real_low - width), max(high, real_high + width)
        share = VALUE_ROUNDING
    rounding = share * max(abs(low), abs(high))
    return max(low - rounding, least), high + rounding


# -- parts --------------------------------------------------------------------------------


def _judge_parts(certificate: Certificate, objective: Objective, inquiry: Inquiry) -> Outcome:
    """Check that the bound follows from the sub-certificates, and prove each again."""
    reason = why_not_following(certificate.sub_certificates, objective, certificate.bound)
    if reason:
        return "refuted", f"the bound does not follow from its sub-certificates: {reason}"
    end = inquiry.deadline
    left = len(certificate.sub_certificates)
    undecided = ""
    for position, sub in enumerate(certificate.sub_certificates):
        now = time.perf_counter()
        deadline = now + SUBS_SHARE * max(0.0, end - now) / left
        verdict, reason = inquiry.judge(sub, objective, deadline)
        if verdict == "refuted":
            return verdict, f"sub-certificate {position} is {verdict}: {reason}"
        if verdict == "undecided":
            undecided = f"sub-certificate {position} is {verdict}: {reason}"
        left -= 1
    if undecided:
        return "undecided", undecided
    count = len(certificate.sub_certificates)
    return (
        "confirmed",
        f"no admissible point scores above {certificate.bound!r}: it follows from {count} lines, "
        "each of which was proven again.",
    )
