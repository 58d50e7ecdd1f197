"""The benchmark of generative surrogates: its scores, its tables, and figures of source 001."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from benchmarks import generative
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates import create


def data(name: str, n: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return points and values to learn from, and fresh ones, of a test of source 001."""
    problem, rng = nm.problems.create(name), np.random.default_rng([seed, n])
    X, fresh = rng.uniform(-1.0, 1.0, (n, 1)), rng.uniform(-1.0, 1.0, (3000, 1))
    y = problem.evaluate(problem.space.decode(X), rng)
    return X, y, fresh, problem.evaluate(problem.space.decode(fresh), rng)


def scores(spec: str, name: str, n: int, seeds: int = 3) -> tuple[float, float]:
    """Return exp of the mean log density, and the mean relative error."""
    found = []
    for seed in range(seeds):
        X, y, fresh, truth = data(name, n, seed)
        belief = create(spec, seed=seed).fit(X, y)
        found.append(generative.judged(belief, fresh, truth, float(y.std())))
    density = np.exp(np.mean([one["log_density"] for one in found]))
    return float(density), float(np.mean([one["error"] for one in found]))


@pytest.mark.parametrize(
    ("name", "error", "density"),
    [
        ("test1", 0.301, 0.00650),
        ("test2", 0.325, 0.00577),
        ("test3", 0.531, 0.00442),
        ("test4", 0.131, 0.00924),
    ],
)
def test_the_forecast_without_inputs_has_the_floors(
    name: str, error: float, density: float
) -> None:
    found = scores("empirical", name, 3000, seeds=1)
    assert found[1] == pytest.approx(error, rel=0.05)
    assert found[0] == pytest.approx(density, rel=0.05)


@pytest.mark.parametrize(
    ("name", "n", "density", "error"),
    [("test1", 36, 0.0261, 0.046), ("test2", 36, 0.108, 0.119), ("test3", 36, 0.0114, 0.552)],
)
def test_kernel_densities_score_as_they_did_elsewhere(
    name: str, n: int, density: float, error: float
) -> None:
    found = scores("kde", name, n, seeds=5)
    assert found[0] == pytest.approx(density, rel=0.3)
    assert found[1] == pytest.approx(error, rel=0.3)
    assert found[0] > 1.5 * scores("empirical", name, n, seeds=5)[0]


def test_a_gaussian_process_learns_the_smooth_test_from_23_values() -> None:
    bounds = ",".join(f"{name}_bounds=(0.001,2.0)" for name in ("length_scale", "amplitude"))
    spec = f"gp:kernel=matern,n_restarts=20,standardize_inputs=True,{bounds}"
    spec += ",noise=0.01,noise_bounds=(0.001,2.0)"
    assert scores(spec, "test1", 23)[1] <= 0.03


def test_the_log_density_of_a_normal_belief_is_the_normal_one() -> None:
    X, y, fresh, truth = data("test1", 12, 0)
    belief = create("empirical").fit(X, y)
    expected = -0.5 * ((truth - y.mean()) / y.std()) ** 2 - np.log(y.std() * np.sqrt(2.0 * np.pi))
    found = generative.judged(belief, fresh, truth, float(y.std()))
    assert found["log_density"] == pytest.approx(expected.mean())
    assert found["mode_error"] == found["error"]


def test_both_tables_are_printed_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generative, "LEARNED", ("kde:candidates=8", "empirical"))
    monkeypatch.setattr(
        generative,
        "METHODS",
        (("kde:candidates=8", "ei"), ("kde:candidates=8", "ei_mixture"), ("empirical", "ei")),
    )
    monkeypatch.setattr(generative, "CANDIDATES", 50)
    path = tmp_path / "rows.json"
    shown: list[Any] = ["--seeds", 1, "--runs", 2, "--steps", 1, "--json", path]
    generative.main([*map(str, shown), "--regression", "test1", "--optimization", "test2"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| test | n | kde | empirical |"
    assert [line.split("|")[1].strip() for line in lines[2:4]] == ["test1", "test1"]
    assert sum(line.startswith("| test2 | kde | ei") for line in lines) == 2
    assert "±" in lines[-1]
    rows = json.loads(path.read_text())
    assert len(rows["regression"]) == 2 * 2
    assert len(rows["optimization"]) == 3 * 2
    assert all(row["regret"] >= 0.0 for row in rows["optimization"])
