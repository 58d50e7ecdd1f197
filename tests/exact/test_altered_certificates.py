"""Every field of a certificate is proven again or compared; an altered one is not confirmed.

`FIELDS` says how each field is verified. `why_true` has the altered certificates that may be
confirmed all the same, since what they claim is true; every other is refuted, left open, or not
read.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.core.terms import LARGEST_GAP, Measure
from nnbo_mip.exact.certificates.format import KEYS
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.storage import head_from_dict
from nnbo_mip.space import Domain, Grid
from tests.exact.alterations import Place, altered, places, value_at
from tests.exact.checking.head_claims import certified as certified_head
from tests.exact.checking.head_claims import objective_of, problem_of
from tests.exact.claims import certified, tent, two_outputs

PAGE = Path(__file__).parents[2] / "docs" / "theory" / "exactness.md"
OLD = Path(__file__).parents[1] / "assets" / "0.1.0"
SECONDS = 1.0

INFORMATION = "information"
"""What of a field is neither proven nor compared, and repeated nowhere."""

FIELDS = {
    "format": "compared",
    "version": "compared",
    "direction": "proven",
    "status": "compared",
    "kind": "proven",
    "value": "computed",
    "bound": "proven",
    "gap": "computed",
    "x": "computed",
    "requested_gap": "compared",
    "row_slack": "compared",
    "output": "compared",
    "engine": INFORMATION,
    "solver": INFORMATION,
    "solver_version": INFORMATION,
    "nnbo_mip_version": INFORMATION,
    "network_fingerprint": "compared",
    "objective_fingerprint": "compared",
    "space": "compared",
    "space_fingerprint": "compared",
    "float32_difference": INFORMATION,
    "seed": INFORMATION,
    "seconds": INFORMATION,
    "counters": INFORMATION,
    "unverified": INFORMATION,
    "threshold": "computed",
    "sub_certificates": "proven",
    "head": "compared",
    "readout": "compared",
    "digest": "computed",
}


@dataclass(frozen=True, eq=False)
class Case:
    """An honest certificate, what it is about, and the space that is asked about."""

    certificate: nm.Certificate
    subject: Any
    space: Any


def named_space() -> nm.Space:
    row = nm.LinearConstraint({"a": 1.0, "n": 0.5, ("kind", "red"): 0.25}, "<=", 1.5)
    levels = nm.Categorical("kind", ["red", "green"])
    return nm.Space([nm.Real("a", -1.5, 0.5), nm.Integer("n", -2, 4), levels], [row])


def numeric_domain() -> Domain:
    box = Domain([-1.0, 0.5], [2.0, 3.0], [None, Grid.listed([0.5, 1.0, 3.0])])
    return box.away_from([[0.5, 1.0]], 0.25)


def of_network(network: nm.Network, space: Any, **options: Any) -> Case:
    return Case(nm.certify(network, space, **options).certificate, network, space)


def in_a_named_space() -> Case:
    rng = np.random.default_rng(5)
    layers = [(rng.normal(size=(6, 4)), rng.normal(size=6)), (rng.normal(size=(1, 6)), [0.5])]
    return of_network(nm.Network.from_layers(layers), named_space(), method="boxes")


def without_proof() -> Case:
    certificate = replace(
        certified().certificate,
        kind="none",
        status="heuristic",
        bound=math.inf,
        gap=math.inf,
        digest="",
    )
    return Case(certificate, tent(), [(1.0, 7.0)])


def of_head(kind: str, name: str, seed: int, by_sequence: bool = False) -> Case:
    problem = problem_of(kind, name, seed=seed)
    return Case(certified_head(problem, by_sequence), objective_of(problem), problem.domain)


def on_the_sphere() -> Case:
    rng = np.random.default_rng(8)
    X = rng.uniform(-1.0, 1.0, (6, 3))
    belief = nm.surrogates.create("spherical_linear").fit(X, X.sum(axis=1) - 2.0 * X[:, 0] ** 2)
    domain = Domain([-1.0] * 3, [1.0] * 3)
    proposal = nm.maximize(belief, "ts", domain)
    assert proposal.certificate is not None
    return Case(proposal.certificate, proposal.objective, domain)


def of_old_file(file: str, about: str) -> Case:
    certificate = nm.Certificate.load(OLD / file)
    subject: Any = Objective if about.startswith("objective") else nm.Network
    space = certificate.space
    given: Any = Domain if space["format"] == "nnbo_mip.domain" else nm.Space
    return Case(certificate, subject.load(OLD / about), given.from_dict(space))


CASES: dict[str, Callable[[], Case]] = {
    "one output": lambda: Case(certified().certificate, tent(), [(1.0, 7.0)]),
    "one of two outputs": lambda: of_network(
        two_outputs(), [(-1.0, 2.0), (0.5, 3.0)], output="high", method="phases"
    ),
    "a minimum of a sum": lambda: of_network(
        two_outputs(),
        numeric_domain(),
        output={"low": 1.0, "high": -0.5},
        direction="minimize",
        method="boxes",
    ),
    "names, levels and a row": in_a_named_space,
    "by a solver": lambda: of_network(tent(), [(1.0, 7.0)], method="mip"),
    "not closed": lambda: Case(
        fitting(replace(certified().certificate, bound=2.0, digest="")), tent(), [(1.0, 7.0)]
    ),
    "no admissible point": lambda: of_network(
        tent(), nm.Space([nm.Integer("n", 1, 7)], [nm.LinearConstraint({"n": 1.0}, ">=", 7.5)])
    ),
    "no proof": without_proof,
    "a head": lambda: of_head("quadratic", "ei", seed=21),
    "a head by lines": lambda: of_head("plain", "ei", seed=4, by_sequence=True),
    "a draw on the sphere": on_the_sphere,
    "an old one": lambda: of_old_file("network_integer_row.json", "network.npz"),
    "an old one of a head": lambda: of_old_file(
        "certificate_nomu_logei_enumerate.json", "objective_nomu_logei_enumerate.npz"
    ),
}


@cache
def case_of(name: str) -> Case:
    return CASES[name]()


def fitting(certificate: nm.Certificate) -> nm.Certificate:
    """Return a certificate whose gap and status fit its other numbers, as a forger writes it."""
    try:
        head = None if certificate.head is None else head_from_dict(certificate.head)
    except FileFormatError:
        return certificate
    sign = 1.0 if certificate.direction == "maximize" else -1.0
    value, bound = sign * certificate.value, sign * certificate.bound
    if certificate.status in ("optimal", "feasible") and bound > -math.inf:
        measure = Measure.NATURAL if head is None else head.measure
        closed = measure.agrees("optimal", value, bound, certificate.requested_gap)
        status: Any = "optimal" if closed else "feasible"
        gap = measure.gap(value, bound)
        return replace(certificate, status=status, gap=gap, digest="")
    return certificate


def renewed(certificate: nm.Certificate) -> nm.Certificate:
    """Return a certificate all of whose digests are right."""
    parts = tuple(renewed(part) for part in certificate.sub_certificates)
    return replace(certificate, sub_certificates=parts, digest="")


def why_true(case: Case, changed: nm.Certificate, place: Place, reason: str) -> str:
    """Return why an altered certificate claims what is true; empty where it may not.

    Parameters
    ----------
    case : Case
    changed : Certificate
        The altered one.
    place : tuple of str and int
        Where it is another.
    reason : str
        The answer's sentence.
    """
    honest = case.certificate
    field = place[0]
    while field == "sub_certificates" and len(place) > 2:
        if "As a whole, without its parts" in reason:
            return "what is claimed was proven without the part, and the answer says so"
        honest = honest.sub_certificates[place[1]]  # type: ignore[index]
        changed = changed.sub_certificates[place[1]]  # type: ignore[index]
        place = place[2:]
        field = place[0]
    sign = 1.0 if honest.direction == "maximize" else -1.0
    if FIELDS[str(field)] == INFORMATION:
        return "information, which the answer does not repeat"
    if field == "bound" and sign * changed.bound >= sign * honest.value:
        return "a looser bound, or a tighter one that was proven again"
    if field == "requested_gap" and 0.0 <= changed.requested_gap <= LARGEST_GAP:
        return "a request that value and bound fulfil just as well; a larger one promises less"
    if field == "kind" and changed.kind == "solver":
        return "less than a rigorous bound"
    if field == "kind" and "rigorously" in reason:
        return "the bound was proven again, rigorously"
    if field == "threshold" and decides_rightly(changed, honest):
        return "another question, which value and bound, both proven, decide as it says"
    if field == "x" and has_value(case, changed, honest):
        return "another point with the same value"
    on_edge = abs(honest.gap - honest.requested_gap) <= 1e-12
    if field == "status" and changed.head is not None and on_edge:
        return "closed or not, to the rounding of logarithms: either word is true"
    if field == "sub_certificates" and set(changed.sub_certificates) <= {
        honest,
        *honest.sub_certificates,
    }:
        return "other parts, all of which were proven, from which the bound follows"
    if field == "space" and _same_points(honest, changed):
        return "the same points under the same names, or without names"
    if field == "output" and isinstance(case.subject, nm.Network):
        same = case.subject.objective(changed.output).fingerprint_of(changed.version)
        if same == honest.objective_fingerprint:
            return "another name of the same function"
    return ""


def decides_rightly(changed: nm.Certificate, honest: nm.Certificate) -> bool:
    """Whether an altered threshold is decided by the honest value and bound."""
    if changed.threshold is None:
        return changed.decided is None
    sign = 1.0 if honest.direction == "maximize" else -1.0
    is_exceeded = sign * honest.value > sign * changed.threshold
    is_kept = not is_exceeded and sign * honest.bound <= sign * changed.threshold
    return changed.decided == ("violated" if is_exceeded else "holds" if is_kept else "undecided")


def has_value(case: Case, changed: nm.Certificate, honest: nm.Certificate) -> bool:
    """Whether an altered point has the honest value, in the function of that certificate."""
    if changed.x is None or honest.x is None or len(changed.x) != len(honest.x):
        return False
    x = np.array([changed.x])
    if changed.head is not None:
        score = Objective(case.subject.posterior, head_from_dict(changed.head)).score(x)[0]
    else:
        score = case.subject.objective(changed.output).evaluate(x, 0)[0]
    return abs(float(score) - honest.value) <= 1e-10 * max(1.0, abs(honest.value))


def named_points(certificate: nm.Certificate) -> tuple[Any, ...]:
    """Return what tells the points of a space from others, and its names if it has any."""
    if certificate.space["format"] == "nnbo_mip.domain":
        return (Domain.from_dict(certificate.space).fingerprint,)
    space = nm.Space.from_dict(certificate.space)
    points = space.numeric().fingerprint
    return (points, space) if space.is_named else (points,)


def _same_points(honest: nm.Certificate, changed: nm.Certificate) -> bool:
    ours, theirs = named_points(honest), named_points(changed)
    return ours == theirs if len(ours) == len(theirs) else ours[0] == theirs[0]


def read(document: Any) -> nm.Certificate | None:
    """Return the certificate that a document describes, None where it is refused in a sentence."""
    try:
        return nm.Certificate.from_json(json.dumps(document))
    except FileFormatError:
        return None


@pytest.mark.parametrize("name", CASES)
def test_the_honest_one_is_confirmed(name: str) -> None:
    case = case_of(name)
    answer = case.certificate.check(case.subject, case.space)
    assert answer.confirmed, answer


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", CASES)
def test_an_altered_field_is_not_confirmed(name: str, field: str) -> None:
    case = case_of(name)
    document = case.certificate.to_dict()
    document.setdefault(field, None)
    wrong = []
    for place in places(document):
        if place[0] == field and is_looked_at(place):
            own = str(place[2] if field == "sub_certificates" and len(place) > 2 else field)
            step = 7 if FIELDS.get(own) == INFORMATION else 1
            for changed in itertools.islice(altered(document, place), 0, None, step):
                wrong += confirmed_wrongly(case, changed, place)
    assert not wrong


def is_looked_at(place: Place) -> bool:
    """Leave out all parts but the first, and the inside of its space: these are judged alike."""
    if place[0] != "sub_certificates":
        return True
    if place[1:2] not in ((), (0,)):
        return False
    return place[2:3] != ("space",) or len(place) == 3


def confirmed_wrongly(case: Case, document: Any, place: Place) -> list[str]:
    certificate = read(document)
    if certificate is None or certificate.to_json() == case.certificate.to_json():
        return []  # refused, or what was altered means the same: 1 and 1.0, none and null
    wrong = []
    if certificate.check(case.subject, case.space).verdict != "refuted":
        wrong.append(f"{place}: a wrong digest is {certificate.check(case.subject, case.space)}")
    forged = {one.digest: one for one in (renewed(certificate), renewed(fitting(certificate)))}
    forged.pop(case.certificate.digest, None)
    for one in forged.values():
        answer = one.check(case.subject, case.space, time_limit=SECONDS)
        if answer.confirmed and not why_true(case, one, place, answer.reason):
            wrong.append(f"{place} -> {shown(document, place)}: {answer}")
    return wrong


def shown(document: Any, place: Place) -> str:
    try:
        return f"{value_at(document, place)!r:.60}"
    except (KeyError, IndexError):
        return "nothing"


@pytest.mark.parametrize("name", CASES)
def test_an_unknown_field_is_refused(name: str) -> None:
    document = {**case_of(name).certificate.to_dict(), "remark": "trust me"}
    with pytest.raises(FileFormatError, match="remark"):
        nm.Certificate.from_json(json.dumps(document))


def test_the_table_has_every_field() -> None:
    names = [KEYS.get(entry.name, entry.name) for entry in fields(nm.Certificate)]
    assert set(FIELDS) == {"format", *names}


def test_the_page_says_how_each_field_is_verified() -> None:
    rows = re.findall(r"^\| (`[^|]*`) \| (\w+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    said = {name: how for names, how in rows for name in re.findall(r"`(\w+)`", names)}
    assert {name: said.get(name) for name in FIELDS} == FIELDS
