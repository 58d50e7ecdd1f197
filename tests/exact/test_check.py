"""What `check` confirms, refutes and leaves open."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.exact.check import CheckResult
from nnbo_mip.exact.checking import reproof
from nnbo_mip.exact.checking.sweep import Recheck
from nnbo_mip.exact.methods import METHODS
from nnbo_mip.exact.search.result import Proof
from nnbo_mip.network.graph.affine import Affine
from tests.exact.claims import certified, tent, two_outputs

BOX = nm.Space.box([1.0], [7.0])


def claim(**changes: Any) -> nm.Certificate:
    """A certificate that somebody edited and gave a fitting digest."""
    certificate = certified().certificate
    changed = replace(certificate, **changes)
    distance = abs(changed.bound - changed.value)
    gap = changes.get("gap", distance if math.isfinite(distance) else changed.gap)
    return replace(changed, gap=gap, digest="")


def random_network(seed: int, sizes: tuple[int, ...]) -> nm.Network:
    rng = np.random.default_rng(seed)
    shapes = zip(sizes[1:], sizes[:-1], strict=True)
    return nm.Network.from_layers([(rng.normal(size=s), rng.normal(size=s[0])) for s in shapes])


# -- true claims ------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_true_claim_is_confirmed(direction: str, method: str) -> None:
    certificate = certified(direction=direction, method=method).certificate
    assert certificate.check(tent()).confirmed
    assert certificate.check(tent(), BOX) == "confirmed"
    assert certificate.check(tent(), [(1.0, 7.0)], time_limit=20.0)


def test_a_claim_from_a_file_is_confirmed_with_files(tmp_path: Path) -> None:
    certified().certificate.save(tmp_path / "claim.json")
    tent().save(tmp_path / "tent.npz")
    loaded = nm.Certificate.load(tmp_path / "claim.json")
    assert loaded.check(tmp_path / "tent.npz").confirmed
    assert loaded.check(str(tmp_path / "tent.npz"), BOX).confirmed


@pytest.mark.parametrize("output", ["high", {"low": 1.0, "high": -0.5}])
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_claim_about_an_output_is_confirmed(output: Any, direction: Any) -> None:
    network = two_outputs()
    space = [(-1.0, 2.0), (0.5, 3.0)]
    result = nm.certify(network, space, output=output, direction=direction, method="boxes")
    assert result.status == "optimal"
    assert result.certificate.check(network, space).confirmed


def test_of_the_output_alone_it_cannot_be_seen_whose_it_is() -> None:
    network = two_outputs()
    certificate = nm.certify(network, [(-1.0, 2.0), (0.5, 3.0)], output="high").certificate
    answer = certificate.check(network.objective("high"))
    assert answer == "undecided"
    assert "pass the network that was certified" in answer.reason


def test_a_weaker_bound_is_true_too() -> None:
    assert claim(bound=2.0, status="feasible").check(tent()).confirmed


def test_the_maximum_itself_is_a_bound_that_can_be_confirmed() -> None:
    assert claim(bound=1.5, requested_gap=0.0).check(tent()).confirmed


def test_a_claim_over_a_mixed_space_is_confirmed() -> None:
    network = random_network(4, (5, 8, 8, 1))
    space = nm.Space(
        [
            nm.Real("a", -1.5, 0.5),
            nm.Integer("n", -2, 4),
            nm.Categorical("kind", ["red", "green", "blue"]),
        ],
        [nm.LinearConstraint({"a": 2.0, "n": 1.0, ("kind", "red"): 1.0}, "<=", 1.5)],
    )
    for direction in ("maximize", "minimize"):
        result = nm.certify(network, space, direction=direction, method="boxes")
        assert result.status == "optimal"
        assert result.certificate.check(network, space).confirmed


def many_inputs() -> tuple[nm.Network, nm.Certificate]:
    network = random_network(9, (12, 10, 1))
    result = nm.certify(network, nm.Space.box(np.full(12, -0.5), np.full(12, 1.0)))
    assert result.status == "optimal"
    loose = result.value + 1e-3
    certificate = replace(
        result.certificate, bound=loose, gap=loose - result.value, requested_gap=1e-2, digest=""
    )
    return network, certificate


def test_many_inputs_are_confirmed_over_phases() -> None:
    network, certificate = many_inputs()
    answer = certificate.check(network)
    assert answer.confirmed
    assert "ReLU phases" in answer.reason
    best = certificate.value - 1e-6
    below = replace(certificate, bound=best, value=best, gap=0.0, digest="")
    assert below.check(network).refuted


@pytest.mark.parametrize("claimant", ["phases", "boxes", "mip:scip"])
def test_other_engines_confirm_where_the_searches_cannot(
    claimant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproof, "MOST_RELUS", 0)
    monkeypatch.setattr(reproof, "FEW_INPUTS", 0)
    network, certificate = many_inputs()
    answer = replace(certificate, engine=claimant, kind="solver", digest="").check(network)
    assert answer.confirmed
    asked = "(mip, scip), up to its tolerances" if claimant == "phases" else "(phases)"
    assert f"by the code of an engine {asked}" in answer.reason


def test_a_solver_does_not_confirm_that_a_bound_is_rigorous(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reproof, "MOST_RELUS", 0)
    monkeypatch.setattr(reproof, "FEW_INPUTS", 0)
    monkeypatch.setattr(reproof, "recheck", lambda *_: Recheck("time", None, 0, 0.0))
    network, certificate = many_inputs()
    answer = replace(certificate, engine="phases", kind="rigorous", digest="").check(network)
    assert answer == "undecided"
    assert "scip proved it up to its tolerances" in answer.reason
    assert "the claim is a rigorous one" in answer.reason


def test_the_other_solver_is_never_the_claimant() -> None:
    both = Proof("sandwich", problems=(Proof("mip", "scip"), Proof("mip", "highs")))
    assert reproof._other_solver(Proof("mip", "highs"), 0)[0] == "scip"
    assert reproof._other_solver(Proof("mip", "scip"), 0)[0] == "highs"
    assert reproof._other_solver(Proof("mip", "gurobi"), 0)[0] == "scip"
    assert reproof._other_solver(both, 0)[0] == "highs without presolve"


def test_a_heuristic_result_claims_no_bound() -> None:
    certificate = claim(kind="none", status="heuristic", bound=math.inf, gap=math.inf)
    answer = certificate.check(tent())
    assert answer.confirmed
    assert "no bound" in answer.reason


# -- false claims -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bound": 1.5 - 1e-9, "value": 1.5 - 1e-9}, "scores 1.5"),
        ({"bound": 1.25, "value": 1.25, "x": (2.75,)}, "admissible and scores"),
        ({"bound": 1.25, "value": 1.5}, "beyond its bound"),
        ({"x": (2.5,)}, "scores 1.0"),
        ({"x": (8.0,)}, "not admissible"),
        ({"x": (3.0, 1.0)}, "not admissible"),
        ({"x": (3.0,), "value": 1.5, "bound": 3.0}, "farther apart"),
        ({"requested_gap": -1.0}, "not ordered"),
        ({"requested_gap": 0.0}, "farther apart"),
        ({"requested_gap": 1e308}, "requested gap"),
        ({"network_fingerprint": "0" * 64}, "another network"),
        ({"output": "another output"}, "no output of the network"),
        ({"objective_fingerprint": "0" * 64}, "another output"),
        ({"bound": math.inf, "gap": math.inf, "status": "feasible"}, "an infinite bound is none"),
        ({"posterior": {"kind": "plain"}}, "not about a head"),
        ({"status": "feasible"}, "as close as"),
        ({"status": "heuristic"}, "kind"),
        ({"kind": "none"}, "kind"),
        ({"status": "infeasible"}, "no value and no bound"),
        ({"status": "heuristic", "kind": "none"}, "no bound, but a finite one"),
        ({"gap": 1e-12}, "distance of value and bound"),
        ({"x": None}, "no point"),
        ({"row_slack": 1.0}, "rows count"),
        ({"direction": "minimize"}, ""),
    ],
)
def test_a_false_claim_is_refuted(changes: dict[str, Any], reason: str) -> None:
    answer = claim(**changes).check(tent())
    assert answer.refuted
    assert reason in answer.reason


def test_a_maximum_between_samples_refutes_a_bound_just_below_it() -> None:
    # A spike of width 1e-7, which neither samples nor gradients find.
    spike = nm.Network.from_layers(
        [
            ([[1e7], [1e7], [1e7]], [-1e7 * 0.3141592, -1e7 * 0.3141592 - 1, -1e7 * 0.3141592 - 2]),
            ([[1.0, -2.0, 1.0]], [0.25]),
        ]
    )
    box = nm.Space.box([-0.5], [2.0])
    honest = nm.certify(spike, box, method="boxes")
    assert honest.value > 1.2
    forged = replace(
        honest.certificate, x=(1.5,), value=0.25, bound=0.25 + 2e-5, gap=2e-5, digest=""
    )
    forged = replace(forged, gap=forged.bound - forged.value, digest="")
    assert forged.check(spike).refuted
    assert honest.certificate.check(spike).confirmed


def test_an_edited_file_is_refuted() -> None:
    document = json.loads(certified().certificate.to_json())
    document["seconds"] = 0.001
    answer = nm.Certificate.from_json(json.dumps(document)).check(tent())
    assert answer.refuted
    assert "digest" in answer.reason


def test_another_network_is_refuted() -> None:
    layers = [([[1.0], [1.0]], [-2.0, -3.0]), ([[1.0, -2.0]], [0.5 + 1e-16 + 2e-16])]
    assert certified().certificate.check(nm.Network.from_layers(layers)).refuted
    assert certified().certificate.check(two_outputs()).refuted


@pytest.mark.parametrize(
    "space", [[(1.0, 7.5)], nm.Space([nm.Integer("x", 1, 7)]), [(1.0, 7.0), (0.5, 2.0)]]
)
def test_another_space_is_refuted(space: Any) -> None:
    answer = certified().certificate.check(tent(), space)
    assert answer.refuted
    assert "space" in answer.reason


def edited_space(**changes: Any) -> dict[str, Any]:
    space = json.loads(certified().certificate.to_json())["space"]
    space["dimensions"][0].update(changes)
    return dict(space)


def test_an_edited_space_is_refuted() -> None:
    assert claim(space=edited_space(upper=2.5)).check(tent()).refuted
    assert claim(space=edited_space(lower=9.0)).check(tent()).refuted
    assert claim(space={}).check(tent()).refuted
    other = nm.Space.box([1.0], [2.5])
    both = claim(space=other.to_dict(), space_fingerprint=other.numeric().fingerprint)
    assert both.check(tent(), BOX).refuted
    two = nm.Space.box([1.0, 1.0], [7.0, 2.0])
    unfit = claim(space=two.to_dict(), space_fingerprint=two.numeric().fingerprint)
    assert unfit.check(tent()).refuted


def test_another_output_is_refuted() -> None:
    space = [(-1.0, 2.0), (0.5, 3.0)]
    honest = nm.certify(two_outputs(), space, output="high", method="boxes").certificate
    assert replace(honest, output="low", digest="").check(two_outputs()).refuted
    assert replace(honest, output="none", digest="").check(two_outputs()).refuted


def test_other_names_of_the_space_are_refuted() -> None:
    network, space = (
        random_network(4, (2, 3, 1)),
        nm.Space([nm.Real("a", 0, 1), nm.Real("b", 0, 1)]),
    )
    certificate = nm.certify(network, space).certificate
    assert certificate.check(network, space).confirmed
    assert certificate.check(network, [(0, 1), (0, 1)]).confirmed  # these have no names
    swapped = nm.Space([nm.Real("b", 0, 1), nm.Real("a", 0, 1)])
    assert certificate.check(network, swapped).refuted


def test_a_part_of_another_version_is_refuted() -> None:
    answer = claim(sub_certificates=(claim(version=1),)).check(tent())
    assert answer.refuted
    assert "another version" in answer.reason


def test_a_false_part_refutes_the_whole() -> None:
    false = claim(bound=1.25, value=1.25, x=(2.75,))
    answer = claim(sub_certificates=(claim(), false)).check(tent())
    assert answer.refuted
    assert "sub-certificate 1" in answer.reason
    assert claim(sub_certificates=(claim(), claim())).check(tent()).confirmed


# -- empty spaces -----------------------------------------------------------------------


def empty_claim(bound: float) -> tuple[nm.Network, nm.Certificate]:
    """The claim that ``3 x0 + x1 >= bound`` holds nowhere on [1, 2] x [0.5, 4]."""
    network = random_network(1, (2, 3, 1))
    space = nm.Space(
        [nm.Real("a", 1.0, 2.0), nm.Real("b", 0.5, 4.0)],
        [nm.LinearConstraint({"a": 3.0, "b": 1.0}, ">=", bound)],
    )
    certificate = replace(
        certified().certificate,
        status="infeasible",
        value=-math.inf,
        bound=-math.inf,
        gap=math.nan,
        x=None,
        network_fingerprint=network.fingerprint,
        objective_fingerprint=network.fingerprint,
        space=space.to_dict(),
        space_fingerprint=space.numeric().fingerprint,
        digest="",
    )
    return network, certificate


def test_emptiness_is_confirmed() -> None:
    network, certificate = empty_claim(10.1)
    answer = certificate.check(network)
    assert answer.confirmed
    assert "no admissible point exists" in answer.reason


def test_false_emptiness_is_refuted() -> None:
    network, certificate = empty_claim(9.9)
    assert certificate.check(network).refuted


# -- neither ----------------------------------------------------------------------------


def test_too_little_time_is_undecided() -> None:
    network = random_network(2, (14, 60, 60, 1))
    box = nm.Space.box(np.full(14, -1.0), np.full(14, 2.0))
    quick = nm.certify(network, box, method="boxes", time_limit=0.2)
    assert quick.status == "feasible"
    tighter = quick.value + 0.3 * (quick.bound - quick.value)
    guess = replace(quick.certificate, bound=tighter, gap=tighter - quick.value, digest="")
    answer = guess.check(network, time_limit=0.5)
    assert answer == "undecided"
    assert not answer
    assert "neither proven nor disproven" in answer.reason


def test_the_result_reads_like_a_sentence() -> None:
    answer = certified().certificate.check(tent())
    assert str(answer).startswith("confirmed: no admissible point scores above 1.5")
    assert answer.seconds > 0.0
    assert answer == CheckResult("confirmed", answer.reason)
    assert answer != "refuted"


@pytest.mark.parametrize(
    "arguments",
    [
        {"time_limit": 0.0},
        {"time_limit": "soon"},
        {"seed": -1},
        {"space": [(7.0, 1.0)]},
        {"network": "missing.onnx"},
        {"network": 3},
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(nm.InputError):
        certified().certificate.check(**{"network": tent(), **arguments})


def test_a_network_that_reads_nothing_is_confirmed() -> None:
    """A classifier of one class is a constant: its output has no weights, on no layer."""
    constant = nm.Network(2, (), Affine(np.array([0.25, 0.0]), {}), ("mean", "std"))
    result = nm.certify(constant, nm.Space.box([-1.0, -1.0], [1.0, 1.0]), output="mean")
    assert (result.status, result.value) == ("optimal", 0.25)
    assert result.certificate.check(constant).confirmed
    belief = nm.surrogates.create("bore").fit([[0.0, 0.5]], [1.0])
    domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
    proposal = nm.maximize(belief, "ratio", domain, X=[[0.0, 0.5]], y=[1.0])
    assert proposal.check().confirmed
