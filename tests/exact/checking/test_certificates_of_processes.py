"""Certificates on Gaussian processes, from the proposal to its check."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import nnbo_mip as nm
from nnbo_mip.cli.app import app
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.checking.head_claims import forged


def data_of(d: int, n: int) -> tuple[FloatArray, FloatArray]:
    X = np.random.default_rng(d).uniform(-1.0, 1.0, (n, d))
    return X, -np.square(X - 0.3).sum(axis=1) - 0.2 * np.cos(5.0 * X).sum(axis=1)


def proposed(d: int, acquisition: Any = "ei", **options: Any) -> Proposal:
    """Return a proposal of a belief in 4 d observations."""
    X, y = data_of(d, 4 * d)
    family = {"kernel": "matern", "n_restarts": 0, **options}
    imposed = {key: family.pop(key) for key in ("within", "away_from", "eps") if key in family}
    belief = nm.surrogates.create("gp", **family).fit(X, y)
    domain = Domain(-np.ones(d), np.ones(d))
    return nm.maximize(belief, acquisition, domain, y=y, gap=1e-3, **imposed)


PROPOSAL = proposed(2)
CERTIFICATE = PROPOSAL.certificate
OBJECTIVE = PROPOSAL.objective


@pytest.mark.parametrize(
    ("d", "options"),
    [
        (1, {"kernel": "rbf"}),
        (1, {"nu": 1.5}),
        (2, {"kernel": "rbf", "ard": True, "alpha": 1e-10}),
        (2, {"ard": True, "noise": 0.01}),
        (2, {"standardize_inputs": True}),
        (2, {"kernel": "rational_quadratic"}),
        (3, {"ard": True}),
    ],
    ids=str,
)
def test_proposals_are_confirmed(d: int, options: dict[str, Any]) -> None:
    answer = proposed(d, **options).check()
    assert answer.confirmed, answer


@pytest.mark.parametrize("acquisition", ["ucb", "mean"])
def test_acquisitions_are_confirmed(acquisition: str) -> None:
    answer = proposed(2, acquisition).check()
    assert answer.confirmed, answer


def test_a_probability_with_a_margin_is_confirmed() -> None:
    assert proposed(2, nm.acquisitions.create("pi", xi=0.05)).check().confirmed


def test_exclusions_and_trust_regions_are_confirmed() -> None:
    away = proposed(2, away_from=np.array([PROPOSAL.x]), eps=0.1)
    within = proposed(2, within=([-0.5, -1.0], [0.0, 0.2]))
    for proposal in (away, within):
        assert proposal.check().confirmed
        assert proposal.value < PROPOSAL.value


def test_the_command_confirms_and_refutes(tmp_path: Path) -> None:
    OBJECTIVE.save(tmp_path / "objective.npz")
    lower = forged(CERTIFICATE, x=None, value=-math.inf, bound=0.99 * CERTIFICATE.value)
    for made, code in ((CERTIFICATE, 0), (lower, 3)):
        made.save(tmp_path / "certificate.json")
        command = ["check", str(tmp_path / "certificate.json"), str(tmp_path / "objective.npz")]
        answer = CliRunner().invoke(app, command)
        assert answer.exit_code == code, answer.output


def test_a_lower_bound_is_refuted() -> None:
    for share in (1e-2, 1e-6):
        bound = CERTIFICATE.value * (1.0 - share)
        lower = forged(CERTIFICATE, x=None, value=-math.inf, bound=bound)
        assert lower.check(OBJECTIVE).refuted


@pytest.mark.parametrize("part", ["points", "factor", "weights", "length_scale", "x_scale"])
def test_an_altered_matrix_is_refuted(part: str) -> None:
    posterior = OBJECTIVE.posterior
    assert isinstance(posterior, ProcessPosterior)
    changed = np.array(getattr(posterior, part))
    changed.flat[0] = np.nextafter(changed.flat[0], 1e9)
    other = replace(posterior, **{part: changed})
    assert CERTIFICATE.check(Objective(other, OBJECTIVE.head)).refuted


@pytest.mark.parametrize("number", ["amplitude", "reach", "y_scale", "y_center", "nu"])
def test_an_altered_number_is_refuted(number: str) -> None:
    posterior = OBJECTIVE.posterior
    assert isinstance(posterior, ProcessPosterior)
    value = 1.5 if number == "nu" else np.nextafter(getattr(posterior, number), 1e9)
    other = Objective(replace(posterior, **{number: value}), OBJECTIVE.head)
    assert CERTIFICATE.check(other).refuted


def test_the_value_is_computed_again() -> None:
    for factor in (1.0 + 1e-8, 1.0 - 1e-8):
        wrong = forged(CERTIFICATE, value=CERTIFICATE.value * factor, bound=2.0 * CERTIFICATE.bound)
        assert wrong.check(OBJECTIVE).refuted
