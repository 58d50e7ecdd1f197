"""A journal of every schema that was ever written can be opened and continued."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import nnbo_mip as nm
from nnbo_mip.loop.record.journal import SCHEMA

ASSETS = Path(__file__).parents[1] / "assets"


@pytest.fixture(params=range(1, SCHEMA + 1))
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copy(ASSETS / f"journal_schema_{request.param}.db", tmp_path / "run.db"))


def test_everything_is_there(copy: Path) -> None:
    run = nm.BayesianOptimizer.open(copy, pending="keep")
    facts = [(told.y, told.reason, told.noise) for told in run.history]
    assert facts == [
        (1.25, "", 0.125),
        (0.5, "", None),
        (None, "out of memory", None),
        (-0.75, "", None),
        (2.0, "", None),
    ]
    assert run.history[0].x == {"rate": 0.01, "layers": 2, "act": "relu"}
    assert [told.suggestion and told.suggestion.number for told in run.history] == [
        None,
        0,
        1,
        2,
        4,
    ]
    assert run.history[3].x == {"rate": 0.06335977662408802, "layers": 1, "act": "relu"}
    assert [one.number for one in run.pending] == [5]
    assert [one.status for one in run.suggestions] == ["initial"] * 2 + ["optimal"] * 4
    assert run.suggestions[4].value == 7.195687660202054
    assert run.suggestions[4].bound == 7.196407228968071
    assert (run.direction, run.settings.seed) == ("maximize", 11)
    assert run.best is run.history[4]


def test_why_it_was_stopped_is_kept_from_schema_6_on(copy: Path) -> None:
    schema = copy.read_bytes()[63]  # the header's user version, before it is migrated
    run = nm.BayesianOptimizer.open(copy)
    said = "the best value is 2, the target 1.5" if schema >= 6 else None
    assert (run.stopped and run.stopped.reason) == said
    assert not run.should_stop()  # its settings have no rule: somebody took it away


def test_its_certificates_are_whole(copy: Path) -> None:
    run = nm.BayesianOptimizer.open(copy)
    for step in run.suggestions[2:]:
        assert step.certificate is not None
        assert step.certificate.digest == step.certificate.content_digest()
        assert step.certificate.bound == step.bound


def test_it_goes_on(copy: Path) -> None:
    run = nm.BayesianOptimizer.open(copy)
    assert run.ask().number == 5
    asked = run.ask()
    assert asked.number == 6
    run.tell(asked, 0.125)
    assert nm.BayesianOptimizer.open(copy).history[-1].y == 0.125


def test_a_region_and_an_embedding_of_schema_2(tmp_path: Path) -> None:
    path = Path(shutil.copy(ASSETS / "journal_schema_2_embedded.db", tmp_path / "run.db"))
    run = nm.BayesianOptimizer.open(path, pending="keep")
    step = run.suggestions[3]
    assert step.region is not None
    assert step.region.length == 0.5
    assert step.region.lower.tolist() == [0.1556235235184431, 0.019371643662452698]
    assert step.z is not None
    assert step.z.tolist() == [1.0, 0.019371643662452698]
    assert [told.z.tolist() for told in run.history] == [
        [-0.18835773691534996, 0.16612942330539227],
        [0.10798082314431667, -0.8265296816825867],
        [0.6556235235184431, 0.5193716436624527],
        [1.0, 0.019371643662452698],
        [0.12499999999999993, -0.24999999999999986],
    ]
    embedded = run.settings.embedded
    assert embedded is not None
    assert embedded.matrix[2].tolist() == [1.1160566845030653, -2.065616798904669]
    assert embedded.decode(step.z) == step.x
    assert [one.number for one in run.pending] == [4]
    run.tell(run.pending[0], 0.25)
    assert nm.BayesianOptimizer.open(path).history[-1].z.tolist() == run.suggestions[4].z.tolist()
