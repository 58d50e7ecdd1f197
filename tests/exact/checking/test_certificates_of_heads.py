"""What a check of the certificate of a head confirms, refutes and leaves open."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import nnbo_mip as nm
from nnbo_mip.cli.app import app
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.heads.certification import certificate_of
from nnbo_mip.exact.heads.maximize_head import Ways, maximize_head
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.readouts import NetworkReadout
from nnbo_mip.space.domain import Domain
from tests.exact.checking.head_claims import (
    certified,
    objective_of,
    problem_of,
    solved,
)
from tests.exact.heads.random_heads import MEMBER_HEADS, MOMENT_HEADS, READOUTS

SERVED = [
    (kind, name)
    for kind in READOUTS
    for name in (*MOMENT_HEADS, *(MEMBER_HEADS if kind in ("members", "variance", "noisy") else ()))
]


# -- true claims --------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "name"), SERVED)
def test_every_head_on_every_readout_is_confirmed(kind: str, name: str) -> None:
    problem = problem_of(kind, name, seed=33)
    certificate = certified(problem)
    assert certificate.status == "optimal"
    answer = certificate.check(objective_of(problem), problem.domain)
    assert answer.confirmed, answer
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.digest == certificate.digest


@pytest.mark.parametrize("domain", ["grid", "rows", "one-hot", "degenerate"])
@pytest.mark.parametrize(("kind", "name"), [("smooth", "ei"), ("members", "aei"), ("plain", "pi")])
def test_other_domains_are_confirmed(kind: str, name: str, domain: str) -> None:
    problem = problem_of(kind, name, seed=12, domain=domain)
    assert certified(problem).check(objective_of(problem)).confirmed


@pytest.mark.parametrize("family", ["elm:n_hidden=20", "elm:n_hidden=9,activation=relu"])
@pytest.mark.parametrize("acquisition", ["logei", "ei", "pi"])
def test_a_score_of_nothing_is_not_refuted(family: str, acquisition: str) -> None:
    """Without a spread, below the incumbent, the logarithm is -inf and counts as -1e9."""
    y = [0.0, 0.0, 0.0]
    belief = nm.surrogates.create(family).fit([[-1.0], [0.0], [1.0]], y)
    given = {"name": acquisition, "incumbent": 5.0}
    space = nm.Space.box([-1.0], [1.0]).model()
    proposal = nm.maximize(belief, given, space, y=y, time_limit=2.0)
    assert (proposal.head[:3], proposal.value) == ("log", -1e9)
    assert not proposal.check(time_limit=2.0).refuted


@pytest.mark.parametrize("kind", ["plain", "quadratic"])
def test_a_domain_with_holes_is_confirmed(kind: str) -> None:
    whole = problem_of(kind, "ei", seed=13)
    best = solved(whole).x
    problem = HeadProblem(whole.objective, whole.domain.away_from(best[None, :], 0.2))
    certificate = certified(problem)
    assert certificate.value < solved(whole).value
    assert certificate.check(objective_of(problem)).confirmed


@pytest.mark.parametrize(
    ("kind", "name", "seed"),
    [("plain", "ei", 4), ("plain", "ei", 2), ("smooth", "ei", 2), ("smooth", "mes", 8)],
)
def test_a_sandwich_is_confirmed_line_by_line(kind: str, name: str, seed: int) -> None:
    problem = problem_of(kind, name, seed=seed, far=-0.1 if name == "mes" else 0.1)
    certificate = certified(problem, by_sequence=True)
    assert certificate.sub_certificates
    answer = certificate.check(objective_of(problem))
    assert answer.confirmed, answer
    assert f"{len(certificate.sub_certificates)} lines" in answer.reason


def test_a_ratio_sandwich_stays_where_relu_is_not_negative() -> None:
    # The second coordinate, -relu(raw), is only proven to be at most 4e-7 there.
    result = solved(problem_of("smooth", "mes", seed=2, far=-0.1), by_sequence=True)
    assert result.bound > result.value


def test_tiny_improvements_are_certified_as_logarithms() -> None:
    problem = problem_of("plain", "ei", seed=5, far=60.0)
    certificate = certified(problem)
    assert certificate.head == {
        "class": "ExpectedImprovement",
        "threshold": problem.head.threshold,  # type: ignore[attr-defined]
        "log": True,
    }
    assert certificate.value < math.log(1e-12)
    assert certificate.check(objective_of(problem)).confirmed
    assert certificate.check(Objective(problem.readout, problem.searched)).confirmed


def test_the_gap_of_ei_is_that_of_the_logarithms() -> None:
    certificate = certified(problem_of("smooth", "ei", seed=33))
    assert certificate.gap == math.log(certificate.bound) - math.log(certificate.value)
    assert "ExpectedImprovement(threshold=" in str(certificate)


def test_an_empty_space_is_certified_and_confirmed() -> None:
    whole = problem_of("plain", "ei", seed=3)
    nowhere = Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 1.0]], b=[-3.0])
    problem = HeadProblem(whole.objective, nowhere)
    certificate = certified(problem)
    assert certificate.status == "infeasible"
    assert certificate.check(objective_of(problem)).confirmed


def test_a_certificate_of_a_network_is_written_as_before() -> None:
    network = nm.Network.from_layers([([[1.0], [1.0]], [-2.0, -3.0]), ([[1.0, -2.0]], [0.5])])
    content = nm.certify(network, [(1.0, 7.0)], method="boxes").certificate.to_dict()
    assert not {"head", "readout"} & set(content)


# -- doors ---------------------------------------------------------------------------------

PROBLEM = problem_of("quadratic", "ei", seed=21)
OTHER = problem_of("quadratic", "ei", seed=22)
CERTIFICATE = certified(PROBLEM)


def test_a_check_from_files(tmp_path: Path) -> None:
    CERTIFICATE.save(tmp_path / "certificate.json")
    objective_of(PROBLEM).save(tmp_path / "objective.npz")
    objective_of(OTHER).save(tmp_path / "other.npz")
    PROBLEM.readout.network.save(tmp_path / "network.npz")
    loaded = Certificate.load(tmp_path / "certificate.json")
    assert loaded.check(tmp_path / "objective.npz").confirmed
    runner = CliRunner()
    files = {"objective": 0, "other": 3, "network": 2}
    for name, code in files.items():
        command = ["check", str(tmp_path / "certificate.json"), str(tmp_path / f"{name}.npz")]
        answer = runner.invoke(app, command)
        assert answer.exit_code == code, answer.output
    assert (
        "ExpectedImprovement"
        in runner.invoke(
            app, ["check", str(tmp_path / "certificate.json"), str(tmp_path / "objective.npz")]
        ).output
    )


def test_what_is_given_has_to_be_an_objective() -> None:
    with pytest.raises(InputError, match="an Objective"):
        CERTIFICATE.check(PROBLEM.readout.network)


def test_time_that_runs_out_is_undecided() -> None:
    assert not CERTIFICATE.check(objective_of(PROBLEM), time_limit=1e-9).confirmed


def test_a_check_reports_its_progress() -> None:
    seen: list[Any] = []
    assert CERTIFICATE.check(objective_of(PROBLEM), progress=seen.append).confirmed
    assert seen
    assert seen[0].bound == CERTIFICATE.bound


def test_a_readout_that_no_certificate_can_name_is_refused() -> None:
    class Strange(NetworkReadout):
        def std_from(self, read: Any) -> Any:
            return read[:, 0]

        def std_slopes(self, read: Any) -> Any:
            return np.eye(read.shape[1])[:1].repeat(len(read), axis=0)

        def _reads(self) -> tuple[str, ...]:
            return ("mean",)

    whole = problem_of("plain", "ei", seed=2)
    problem = HeadProblem(Objective(Strange(whole.readout.network), whole.head), whole.domain)
    result = maximize_head(Ways(whole), SequenceOptions(), Monitor(whole, 1e-3, 5.0))
    with pytest.raises(UnsupportedError, match="stored"):
        certificate_of(problem, result, requested_gap=1e-3, seed=0, seconds=0.0)
