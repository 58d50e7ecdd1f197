"""Heads, posteriors and objectives as data and as files."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nnbo_mip.core.errors import FileFormatError, InputError, UnsupportedError
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import QuadraticPosterior, SmoothPosterior
from nnbo_mip.scores.storage import head_from_dict, head_to_dict, posterior_to_dict
from tests.exact.heads.random_heads import (
    MEMBER_HEADS,
    MOMENT_HEADS,
    POSTERIORS,
    head_of,
    heads_on,
    random_posterior,
)


def objective(kind: str, name: str = "ei", seed: int = 3) -> Objective:
    posterior = random_posterior(kind, np.random.default_rng(seed), 2, (4, 3))
    return Objective(posterior, head_of(name, 0.5))


@pytest.mark.parametrize("name", [*MOMENT_HEADS, *MEMBER_HEADS])
def test_a_head_comes_back_from_json(name: str) -> None:
    head = head_of(name, 0.1 + 0.2)
    assert head_from_dict(json.loads(json.dumps(head_to_dict(head)))) == head


@pytest.mark.parametrize("kind", POSTERIORS)
def test_an_objective_comes_back_from_its_file(kind: str, tmp_path: Path) -> None:
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (5, 2))
    for name in heads_on(objective(kind).posterior):
        before = objective(kind, name)
        before.save(tmp_path / "objective.npz")
        after = Objective.load(tmp_path / "objective.npz")
        assert after.fingerprint == before.fingerprint
        assert (after.score(points) == before.score(points)).all()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"class": "Greedy"}, "must be one of"),
        ({"class": ["LinearHead"]}, "must be one of"),
        ({"class": "ExpectedImprovement"}, "missing"),
        ({"class": "ExpectedImprovement", "threshold": 1.0, "xi": 0.1}, "unknown"),
        ({"class": "ExpectedImprovement", "threshold": math.nan}, "threshold"),
        ({"class": "ExpectedImprovement", "threshold": "1"}, "threshold"),
        ({"class": "LinearHead", "mean_weight": -1.0}, "mean_weight"),
        ("ei", "mapping"),
    ],
)
def test_what_is_no_head_is_refused_in_a_sentence(data: Any, sentence: str) -> None:
    with pytest.raises(FileFormatError, match=sentence):
        head_from_dict(data)


def test_a_head_of_somebody_else_is_not_stored() -> None:
    class Mine(LinearHead):
        pass

    with pytest.raises(UnsupportedError, match="LinearHead"):
        head_to_dict(Mine())


def test_a_fingerprint_tells_networks_posteriors_and_heads_apart() -> None:
    first = objective("quadratic")
    assert isinstance(first.posterior, QuadraticPosterior)
    head, network, root = first.head, first.posterior.network, first.posterior.root
    assert isinstance(head, ExpectedImprovement)
    others = [
        Objective(first.posterior, replace(head, threshold=math.nextafter(0.5, 1.0))),
        Objective(first.posterior, replace(head, log=True)),
        Objective(first.posterior, ProbabilityOfImprovement(head.threshold)),
        Objective(QuadraticPosterior(network, root, first.posterior.noise + 1e-12), head),
        Objective(
            QuadraticPosterior(network, np.nextafter(root, 9.0), first.posterior.noise), head
        ),
        objective("quadratic", seed=4),
    ]
    assert len({first.fingerprint, *(other.fingerprint for other in others)}) == 7
    again = Objective(QuadraticPosterior(network, root.copy(), first.posterior.noise), head)
    assert again.fingerprint == first.fingerprint


def test_a_posterior_names_its_matrices_by_digest() -> None:
    data = posterior_to_dict(objective("quadratic").posterior)
    assert data["kind"] == "quadratic"
    assert len(data["matrices"]["root"]) == 64


def rewritten(path: Path, change: Any) -> None:
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].item())
    change(header, arrays)
    arrays["header"] = np.array(json.dumps(header))
    np.savez(path, **arrays)


def set_number(name: str, value: Any) -> Any:
    return lambda header, arrays: header["readout"]["numbers"].update({name: value})


@pytest.mark.parametrize(
    "change",
    [
        set_number("l_max", 0.0),
        set_number("l_min", -1.0),
        set_number("factor", "1"),
        set_number("extra", 1.0),
        lambda header, arrays: header["readout"].update(kind="gp"),
        lambda header, arrays: header["readout"].update(numbers=[]),
        lambda header, arrays: header.pop("readout"),
        lambda header, arrays: header.update(version=2),
        lambda header, arrays: header["head"].update(threshold=[1.0]),
        lambda header, arrays: header["network"].update(output_names=["mean", "other"]),
        lambda header, arrays: arrays.pop("array_0"),
    ],
)
def test_a_damaged_file_is_refused(change: Any, tmp_path: Path) -> None:
    path = tmp_path / "objective.npz"
    assert isinstance(objective("smooth").posterior, SmoothPosterior)
    objective("smooth").save(path)
    rewritten(path, change)
    with pytest.raises(FileFormatError):
        Objective.load(path)


def test_other_files_and_endings_are_refused(tmp_path: Path) -> None:
    one = objective("plain")
    with pytest.raises(InputError, match="npz"):
        one.save(tmp_path / "objective.json")
    one.posterior.network.save(tmp_path / "network.npz")  # type: ignore[attr-defined]
    with pytest.raises(FileFormatError, match="an objective in format"):
        Objective.load(tmp_path / "network.npz")
    (tmp_path / "text.npz").write_text("{}")
    with pytest.raises(FileFormatError):
        Objective.load(tmp_path / "text.npz")
