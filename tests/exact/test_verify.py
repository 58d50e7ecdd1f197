"""`verify`: properties in VNN-LIB, reduced to networks, decided with certificates and witnesses."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.exact.property_certificate import PropertyCertificate, read_certificate
from nnbo_mip.exact.verification.property import Case, Property, Row
from nnbo_mip.exact.verification.reduction import margin_rows, reduce_case
from nnbo_mip.exact.verification.vnnlib import parse_property, read_property
from nnbo_mip.exact.verify import verify
from nnbo_mip.network.graph.graph import Network

TENT = Network.from_layers(
    [([[1.0], [-1.0]], [0.0, 0.0]), ([[-1.0, -1.0], [1.0, -1.0]], [1.0, 0.0])]
)
"""Outputs 1 - |x| and x."""

HEAD = """
(declare-const X_0 Real) ; the input
(declare-const Y_0 Real)
(declare-const Y_1 Real)
(assert (<= X_0 2.0))
(assert (>= X_0 -1.0))
"""


def _answer(conditions: str, **options: object) -> str:
    return verify(TENT, parse_property(HEAD + conditions), **options).answer  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("conditions", "answer"),
    [
        ("(assert (>= Y_0 1.001))", "holds"),
        ("(assert (>= Y_0 1.0))", "violated"),  # at 0, exactly
        ("(assert (<= Y_0 -1.0))", "violated"),  # at 2, exactly
        ("(assert (<= Y_0 -1.001))", "holds"),
        ("(assert (>= Y_0 0.5)) (assert (>= Y_1 0.6))", "holds"),  # x <= 0.5 and x >= 0.6
        ("(assert (>= Y_0 0.5)) (assert (>= Y_1 0.4))", "violated"),
        ("(assert (or (>= Y_0 1.5) (and (>= Y_1 1.9) (<= Y_0 Y_1))))", "violated"),
        ("(assert (or (>= Y_0 1.5) (and (>= Y_1 1.9) (>= Y_0 Y_1))))", "holds"),
        ("(assert (>= (+ (* 2.0 Y_0) Y_1 (- X_0)) 2.5))", "holds"),
        ("(assert (>= (+ (* 2.0 Y_0) Y_1 (- X_0)) 1.5))", "violated"),
        ("(assert (= Y_1 0.25)) (assert (>= Y_0 0.5))", "violated"),
        ("(assert (>= X_0 3.0)) (assert (>= Y_0 -100.0))", "holds"),  # no inputs at all
        ("", "violated"),  # every output is unsafe
    ],
)
def test_answers_of_small_questions(conditions: str, answer: str) -> None:
    result = verify(TENT, parse_property(HEAD + conditions), time_limit=20.0)
    assert result.answer == answer
    assert result.verdict == {"holds": "unsat", "violated": "sat"}[answer]
    assert f"{answer} ({result.verdict})" in str(result)
    assert result.certificate.check(TENT) == "confirmed"
    if result.x is not None:
        assert result.outputs is not None
        assert (result.outputs == TENT.evaluate(result.x[None, :])[0]).all()


def test_strict_rows_are_proven_as_weak_ones_and_met_as_strict_ones() -> None:
    assert _answer("(assert (> Y_0 1.001))") == "holds"
    assert _answer("(assert (> Y_0 0.999))", time_limit=float("inf")) == "violated"
    # 1 is reached, but not exceeded: neither is a witness, nor does the weak version hold
    result = verify(TENT, parse_property(HEAD + "(assert (> Y_0 1.0))"), time_limit=10.0)
    assert result.answer == "undecided"
    assert "not exactly" in str(result)


@pytest.mark.parametrize("method", ["boxes", "phases", "mip", "enumerate"])
def test_every_engine_decides(method: str) -> None:
    assert _answer("(assert (>= Y_0 0.5)) (assert (>= Y_1 0.6))", method=method) == "holds"
    assert _answer("(assert (>= Y_0 0.5)) (assert (>= Y_1 0.4))", method=method) == "violated"


def test_random_properties_agree_with_dense_sampling() -> None:
    rng = np.random.default_rng(3)
    decided = {"holds": 0, "violated": 0}
    for _ in range(12):
        layers = [
            (rng.normal(size=(6, 2)), rng.normal(size=6)),
            (rng.normal(size=(5, 6)), rng.normal(size=5)),
            (rng.normal(size=(3, 5)), rng.normal(size=3)),
        ]
        net = Network.from_layers(layers)
        points = rng.uniform(-1.0, 1.0, (20_000, 2))
        outputs = net.evaluate(points)
        cases, reached = [], False
        for _ in range(2):
            weights, rows = rng.normal(size=(3, 3)), []
            sums = outputs @ weights.T
            limits = np.quantile(sums, 0.3, axis=0) - rng.exponential(1.0)
            for row, limit in zip(weights, limits, strict=True):
                exact = {j: Fraction(float(weight)) for j, weight in enumerate(row)}
                rows.append(Row({}, exact, Fraction(float(limit))))
            cases.append(Case(np.full(2, -1.0), np.full(2, 1.0), tuple(rows)))
            reached |= bool((sums <= limits).all(axis=1).any())
        result = verify(net, Property(2, 3, tuple(cases)), time_limit=30.0)
        assert result.answer != "undecided"
        assert result.answer == "violated" or not reached
        assert result.certificate.check(net) == "confirmed"
        decided[result.answer] += 1
    assert min(decided.values()) > 0


def test_the_reduction_is_the_largest_row() -> None:
    rng = np.random.default_rng(5)
    net = Network.from_layers(
        [(rng.normal(size=(7, 3)), rng.normal(size=7)), (rng.normal(size=(4, 7)), np.ones(4))]
    )
    rows = tuple(
        Row(
            {i: Fraction(float(rng.normal())) for i in range(3)},
            {j: Fraction(float(rng.normal())) for j in range(4)},
            Fraction(float(rng.normal())),
        )
        for _ in range(5)
    )
    case = Case(-np.ones(3), np.ones(3), rows)
    reduction = reduce_case(net, case)
    x = rng.uniform(-1.0, 1.0, (200, 3))
    y = net.evaluate(x)
    expected = np.max(
        [
            x @ [float(row.inputs[i]) for i in range(3)]
            + y @ [float(row.outputs[j]) for j in range(4)]
            - float(row.limit)
            for row in margin_rows(case)
        ],
        axis=0,
    )
    assert np.allclose(reduction.network.evaluate(x, 0), expected, atol=1e-12)
    assert 0.0 < reduction.least < 1e-12  # the rows were rounded, by no more than that


def test_rows_that_float64_has_cost_nothing() -> None:
    row = Row({}, {0: Fraction(1), 1: Fraction(-1)}, Fraction(0))
    reduction = reduce_case(TENT, Case([-1.0], [2.0], (row,)))
    assert reduction.least == 5e-324


def test_rows_of_inputs_alone_become_rows_of_the_domain() -> None:
    net = Network.from_layers([(np.eye(2), [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    head = "".join(
        f"(declare-const X_{i} Real) (assert (<= 0.0 X_{i})) (assert (<= X_{i} 1.0))"
        for i in range(2)
    )
    head += "(declare-const Y_0 Real) (assert (<= (+ X_0 X_1) 0.5))"
    inside = parse_property(head + "(assert (>= Y_0 0.75))")
    assert len(reduce_case(net, inside.cases[0]).domain.b) == 1
    assert verify(net, inside).answer == "holds"
    assert verify(net, parse_property(head + "(assert (>= Y_0 0.25))")).answer == "violated"


# -- certificates ---------------------------------------------------------------------------


def test_certificates_survive_files_and_notice_alterations(tmp_path: Path) -> None:
    text = HEAD + "(assert (or (>= Y_0 1.5) (>= Y_1 2.5)))"
    certificate = verify(TENT, parse_property(text)).certificate
    assert len(certificate.certificates) == 2
    path = tmp_path / "certificate.json"
    certificate.save(path)
    again = read_certificate(path)
    assert isinstance(again, PropertyCertificate)
    assert again.to_json() == certificate.to_json()
    assert again.check(TENT) == "confirmed"
    other = Network.from_layers([([[2.0], [-1.0]], [0.0, 0.0]), (-np.eye(2), [1.0, 0.0])])
    assert again.check(other) == "refuted"
    content = json.loads(path.read_text())
    del content["digest"]
    easier = json.loads(json.dumps(content))
    easier["property"]["cases"][0]["rows"][0]["limit"] = "-9/10"  # y_0 >= 0.9 is reached
    assert PropertyCertificate.from_json(json.dumps({**easier, "digest": ""})).check(TENT) == (
        "refuted"
    )
    fewer = {**content, "certificates": content["certificates"][:1], "digest": ""}
    assert PropertyCertificate.from_json(json.dumps(fewer)).check(TENT) == "refuted"
    with pytest.raises(FileFormatError, match=r"a property's certificate must be JSON"):
        PropertyCertificate.from_json("{}")


def test_a_witness_that_is_none_is_refuted() -> None:
    certificate = verify(TENT, parse_property(HEAD + "(assert (>= Y_0 0.5))")).certificate
    content = json.loads(certificate.to_json())
    content["witness"], content["digest"] = [1.5], ""
    assert PropertyCertificate.from_json(json.dumps(content)).check(TENT) == "refuted"


# -- VNN-LIB ----------------------------------------------------------------------------------


def test_packed_files_are_read(tmp_path: Path) -> None:
    text = HEAD + "(assert (>= Y_0 1.5))"
    (tmp_path / "a.vnnlib").write_text(text)
    (tmp_path / "a.vnnlib.gz").write_bytes(gzip.compress(text.encode()))
    plain, packed = (read_property(tmp_path / name) for name in ("a.vnnlib", "a.vnnlib.gz"))
    assert plain.to_dict() == packed.to_dict()
    assert verify(TENT, tmp_path / "a.vnnlib.gz").answer == "holds"
    (tmp_path / "b.vnnlib.gz").write_text(text)
    with pytest.raises(FileFormatError, match="must be packed by gzip"):
        read_property(tmp_path / "b.vnnlib.gz")


def test_tensors_of_version_2_are_read() -> None:
    text = """
    (vnnlib-version <2.0>)
    (declare-network f
      (declare-input X Real [1,1]) (declare-output Y float32 [2]))
    (assert (and (<= X[0,0] 2.0) (>= X [0, 0] -1.0)))
    (assert (>= Y[0] 1.5))
    """
    version_1 = parse_property(HEAD + "(assert (>= Y_0 1.5))")
    assert parse_property(text).to_dict() == version_1.to_dict()


def test_cases_are_multiplied_out_and_ends_are_intersected() -> None:
    text = (
        HEAD
        + """
    (assert (or (and (<= X_0 1.0) (>= X_0 0.0)) (<= (* 3.0 X_0) 1.0)))
    (assert (or (<= Y_0 Y_1) (< Y_0 0.1)))
    """
    )
    prop = parse_property(text)
    assert len(prop.cases) == 4
    assert (prop.cases[0].lower[0], prop.cases[0].upper[0]) == (0.0, 1.0)
    third = prop.cases[2]
    assert Fraction(third.upper[0]) > Fraction(1, 3)  # rounded outward, and kept as a row
    assert any(row.is_end for row in third.rows)
    assert Property.from_dict(json.loads(json.dumps(prop.to_dict()))).to_dict() == prop.to_dict()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEAD + "(assert (>= Y_0 1.0)", "close every bracket"),
        (HEAD + "(assert (>= Y_0 1.0)))", "open every bracket"),
        (HEAD + "(assert (>= Y_7 1.0))", "Y_7, which is not declared"),
        (HEAD + "(assert (>= Y_0 one))", "numbers and declared variables only"),
        (HEAD + "(assert (>= Y_0 nan))", "numbers and declared variables only"),
        (HEAD + "(assert (>= (* Y_0 Y_1) 1.0))", "be linear"),
        (HEAD + "(assert (>= (max Y_0 Y_1) 1.0))", "linear terms"),
        (HEAD + "(assert (not (>= Y_0 1.0)))", "assert and, or"),
        (HEAD + "(assume (>= Y_0 1.0))", "declare-const and assert"),
        (HEAD + "(declare-const Z_0 Real)", "declare real X_0"),
        (HEAD + "(declare-const X_2 Real)", "without a hole"),
        ("(declare-const X_0 Real) (declare-const Y_0 Real) (assert (<= X_0 1))", "lower and an"),
        ("(declare-const X_0 Real)", "got none"),
        ("hello", "commands in brackets"),
        ("(" * 100, "nest at most"),
        ("[", "consist of words"),
    ],
)
def test_malformed_properties_get_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(FileFormatError, match=sentence) as caught:
        parse_property(text)
    message = str(caught.value)
    assert message.startswith("a VNN-LIB property must ")
    assert "; got " in message
    assert "\n" not in message


def test_networks_that_do_not_fit_are_refused() -> None:
    prop = parse_property(HEAD + "(assert (>= Y_1 1.0))")
    wide = Network.from_layers([(np.eye(2), [0.0, 0.0]), (np.eye(2), [0.0, 0.0])])
    with pytest.raises(InputError, match=r"must have the 1 inputs of the property; got 2"):
        verify(wide, prop)
    single = Network.from_layers([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    with pytest.raises(InputError, match=r"got Y_1, which does not exist"):
        verify(single, prop)
    with pytest.raises(InputError, match="property must be a Property or the path"):
        verify(TENT, 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must be a file that exists"):
        verify(TENT, "no.vnnlib")
