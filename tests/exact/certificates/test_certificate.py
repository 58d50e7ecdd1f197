"""Certificates as values and as files."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnbo_mip import Certificate, FileFormatError
from nnbo_mip.exact.certificates.format import MAX_BYTES
from tests.exact.alterations import nested
from tests.exact.claims import certified

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return certified().certificate


def altered(certificate: Certificate, **changes: Any) -> str:
    return json.dumps({**json.loads(certificate.to_json()), **changes})


def test_it_states_what_was_asked(certificate: Certificate) -> None:
    assert certificate.direction == "maximize"
    assert certificate.kind == "rigorous"
    assert certificate.status == "optimal"
    assert certificate.value == 1.5
    assert 1.5 <= certificate.bound <= 1.5 + 1.6e-4
    assert certificate.gap == certificate.bound - certificate.value
    assert certificate.x == (3.0,)
    assert certificate.engine == "boxes"
    assert (certificate.solver, certificate.solver_version) == (None, None)
    assert certificate.requested_gap == 1e-4
    assert certificate.row_slack == 1e-9
    assert certificate.space["dimensions"][0]["upper"] == 7.0


def test_a_file_restores_it_whole(certificate: Certificate, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    certificate.save(path)
    loaded = Certificate.load(path)
    assert loaded == certificate
    assert all(
        getattr(loaded, entry.name) == getattr(certificate, entry.name)
        for entry in fields(Certificate)
    )
    assert loaded.digest == loaded.content_digest()


@given(FLOATS, FLOATS, FLOATS, st.dictionaries(st.text(max_size=4), FLOATS, max_size=3))
def test_every_float_survives_the_file(
    value: float, bound: float, x: float, weights: dict[str, float]
) -> None:
    original = replace(
        certified().certificate,
        value=value,
        bound=bound,
        gap=math.nan,
        x=(x, -x),
        output=weights or None,
        digest="",
    )
    loaded = Certificate.from_json(original.to_json())
    assert loaded.to_json() == original.to_json()
    assert (loaded.value, loaded.bound, loaded.x) == (value, bound, (x, -x))
    assert math.copysign(1.0, loaded.value) == math.copysign(1.0, value)
    assert math.isnan(loaded.gap)


def test_infinities_are_written_as_text(certificate: Certificate) -> None:
    text = replace(certificate, value=-math.inf, bound=math.inf, x=None, digest="").to_json()
    assert json.loads(text)["bound"] == "inf"
    assert Certificate.from_json(text).value == -math.inf


def test_certificates_within_certificates_survive(certificate: Certificate) -> None:
    outer = replace(certificate, sub_certificates=(certificate, certificate), digest="")
    loaded = Certificate.from_json(outer.to_json())
    assert loaded == outer
    assert loaded.sub_certificates[1] == certificate


@pytest.mark.parametrize(
    "change",
    [
        {"value": 1.25},
        {"bound": 1.5},
        {"status": "feasible"},
        {"kind": "solver"},
        {"x": [2.0]},
        {"seed": 1},
        {"seconds": 0.0},
        {"counters": {}},
        {"engine": "phases"},
        {"nnbo_mip_version": "9.9"},
        {"float32_difference": 0.0},
        {"row_slack": 1e-6},
    ],
)
def test_the_digest_covers_every_change(certificate: Certificate, change: dict[str, Any]) -> None:
    loaded = Certificate.from_json(altered(certificate, **change))
    assert loaded.digest != loaded.content_digest()


def test_print_says_claim_and_prover(certificate: Certificate) -> None:
    text = str(certificate)
    assert f"no admissible point scores above {certificate.bound!r}" in text
    assert "rigorous" in text
    assert "boxes" in text


HOSTILE = {
    "empty": "",
    "not text": b"\xff\xfe\x00",
    "truncated": '{"format": "nnbo_mip.certificate", "ver',
    "a list": "[]",
    "a number": "3",
    "another format": '{"format": "something.else"}',
    "deep nesting": "[" * 200_000,
    "deep objects": '{"a":' * 200_000,
    "NaN": '{"format": NaN}',
    "Infinity": '{"format": Infinity}',
    "repeated field": '{"format": "nnbo_mip.certificate", "format": "nnbo_mip.certificate"}',
    "endless integer": '{"format": ' + "9" * 10_000 + "}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_no_certificate_is_refused(text: str | bytes) -> None:
    with pytest.raises(FileFormatError):
        Certificate.from_json(text)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 3),
        ("version", True),
        ("version", 1.0),
        ("status", "certain"),
        ("status", ["optimal"]),
        ("kind", None),
        ("direction", "up"),
        ("value", "1.5"),
        ("value", "Infinity"),
        ("value", True),
        ("value", None),
        ("bound", 10**400),
        ("gap", [0.0]),
        ("x", "3.0"),
        ("x", [3.0, "inf"]),
        ("x", [None]),
        ("x", {"0": 3.0}),
        ("requested_gap", "inf"),
        ("output", 3),
        ("output", {"y": "inf"}),
        ("engine", 7),
        ("solver", 7),
        ("network_fingerprint", "abc"),
        ("network_fingerprint", "G" * 64),
        ("objective_fingerprint", None),
        ("space", []),
        ("space_fingerprint", 3),
        ("seed", 1.5),
        ("seed", True),
        ("seconds", "nan"),
        ("counters", {"boxes": 1.5}),
        ("counters", [1]),
        ("sub_certificates", None),
        ("sub_certificates", [3]),
        ("digest", ""),
        ("digest", None),
    ],
)
def test_a_field_of_the_wrong_kind_is_refused(
    certificate: Certificate, field: str, value: Any
) -> None:
    with pytest.raises(FileFormatError, match=field if field != "sub_certificates" else None):
        Certificate.from_json(altered(certificate, **{field: value}))


def test_missing_and_unknown_fields_are_named(certificate: Certificate) -> None:
    document = json.loads(certificate.to_json())
    with pytest.raises(FileFormatError, match="remark"):
        Certificate.from_json(json.dumps({**document, "remark": "trust me"}))
    del document["kind"]
    with pytest.raises(FileFormatError, match=r"missing.*kind"):
        Certificate.from_json(json.dumps(document))


def test_a_tower_of_certificates_is_refused(certificate: Certificate) -> None:
    tower = certificate
    for _ in range(4):
        tower = replace(tower, sub_certificates=(tower,), digest="")
    with pytest.raises(FileFormatError, match="nest"):
        Certificate.from_json(tower.to_json())


def test_a_space_that_nests_deep_is_refused(certificate: Certificate) -> None:
    document = certificate.to_dict()
    document["space"]["remark"] = nested()
    with pytest.raises(FileFormatError, match="space of a certificate must nest at most 16 deep"):
        Certificate.from_json(json.dumps(document))


def test_a_file_that_is_too_large_is_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(FileFormatError, match="at most"):
        Certificate.load(path)


def test_a_file_that_is_missing_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Certificate.load(tmp_path / "none.json")
