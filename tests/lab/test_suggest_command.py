"""`nnbo-mip suggest`: the point of the loop, its certificate, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import nnbo_mip as nm
from nnbo_mip.cli.app import app
from nnbo_mip.scores.objective import Objective

SPACE = """
[[dimensions]]
name = "rate"
lower = 1e-4
upper = 0.1
log = true

[[dimensions]]
kind = "integer"
name = "layers"
lower = 1
upper = 4
"""

RUNS = """rate,layers,loss,sd,note
0.001,1,2.5,0.1,a
0.01,2,1.0,0.1,b
0.1,4,3.0,0.1,c
0.03,3,1.5,0.1,e
"""

CHOSEN = "--surrogate brvfl:n_hidden=12 --acquisition ei"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("space.toml").write_text(SPACE)
    Path("runs.csv").write_text(RUNS)
    return tmp_path


def run(arguments: str, table: str = "runs.csv") -> Result:
    return CliRunner().invoke(app, ["suggest", table, "--space", "space.toml", *arguments.split()])


def test_the_point_is_that_of_the_loop(folder: Path) -> None:
    result = run(f"--value loss {CHOSEN} --seed 3 --json")
    assert result.exit_code == 0
    answer: dict[str, Any] = json.loads(result.stdout)
    space = nm.Space([nm.Real("rate", 1e-4, 0.1, log=True), nm.Integer("layers", 1, 4)])
    bo = nm.BayesianOptimizer(space, "brvfl:n_hidden=12", "ei", initial=4, time_limit=60.0, seed=3)
    bo.tell_table("runs.csv", "loss")
    asked = bo.ask()
    assert answer["x"] == asked.x
    assert (answer["value"], answer["bound"]) == (asked.value, asked.bound)
    assert answer["status"] == "optimal"
    assert answer["observations"] == 4
    assert answer["best"] == {"x": {"rate": 0.01, "layers": 2}, "y": 1.0}
    assert answer["region"] is None
    other = json.loads(run(f"--value loss {CHOSEN} --direction maximize --json").stdout)
    assert other["best"]["y"] == 3.0
    assert other["x"] != answer["x"]


def test_the_certificate_is_checked_with_the_objective(folder: Path) -> None:
    result = run(f"--value loss {CHOSEN} --save proof.json --objective model.npz")
    assert result.exit_code == 0
    assert "certificate saved to proof.json" in result.stdout
    assert "learned from 4 rows; best value 1" in result.stdout
    assert isinstance(Objective.load("model.npz"), Objective)
    checked = CliRunner().invoke(app, ["check", "proof.json", "model.npz"])
    assert checked.exit_code == 0
    assert "confirmed" in checked.stdout


def test_a_heuristic_point_has_no_certificate(folder: Path) -> None:
    result = run(f"--value loss {CHOSEN} --maximizer random:evaluations=50 --save proof.json")
    assert result.exit_code == 1
    assert "no certificate was written" in result.stdout
    assert not Path("proof.json").exists()


@pytest.mark.parametrize("rows", ["", "0.001,1,2.5,0.1,a\n"])
def test_a_model_needs_two_values(folder: Path, rows: str) -> None:
    Path("few.csv").write_text(RUNS.splitlines()[0] + "\n" + rows)
    result = run("--value loss", "few.csv")
    assert result.exit_code == 1
    assert "status  initial" in result.stdout
    assert f"a model needs 2 values; the table has {len(rows.splitlines())}" in result.stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "0.02,3,,0.1,x",
            "line 6 of 'runs.csv': 'loss' must be a finite number; got an empty cell",
        ),
        (
            "0.02,3,nan,0.1,x",
            "'loss' must be a finite number; got 'nan'; fill it in, drop the line",
        ),
        ("0.02,3,many,0.1,x", "line 6 of 'runs.csv': 'loss' must be a number"),
        (",3,1.0,0.1,x", "line 6 of 'runs.csv': "),
        ("0.2,3,1.0,0.1,x", "line 6 of 'runs.csv': "),
        ("0.02,5,1.0,0.1,x", "line 6 of 'runs.csv': "),
        ("0.02,2.5,1.0,0.1,x", "line 6 of 'runs.csv': "),
        ("0.02,3,1.0", "a row must have 5 cells, as the header has; got 3"),
        ("0.02,3,1.0,-1.0,x", "'sd' must be a standard deviation >= 0"),
    ],
)
def test_what_is_wrong_with_a_table_is_a_sentence(folder: Path, line: str, said: str) -> None:
    Path("runs.csv").write_text(RUNS + line + "\n")
    result = run(f"--value loss --noise sd {CHOSEN}")
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_failed_evaluations_are_learned_from_if_that_is_said(folder: Path) -> None:
    Path("runs.csv").write_text(RUNS + "0.02,3,,,x\n")
    result = run(f"--value loss {CHOSEN} --failed --json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["observations"] == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "the table must have a column 'y'; got rate, layers, loss, sd, note"),
        ("--value los", "did you mean 'loss'"),
        ("--value rate", "must have columns beside those of the dimensions; got 'rate'"),
        ("--value loss --direction down", "direction must be"),
        ("--value loss --surrogate nommu", "did you mean 'nomu'"),
        ("--value loss --surrogate gp --maximizer mip", "needs networks of ReLUs"),
        ("--value loss --save no/proof.json", "--save must name a file in an existing folder"),
        ("--value loss --gap small", "--gap must be a number; got 'small'"),
    ],
)
def test_bad_options_are_a_sentence(folder: Path, arguments: str, said: str) -> None:
    result = run(arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_space_of_plain_coordinates_is_refused(folder: Path) -> None:
    Path("domain.json").write_text(json.dumps(nm.Space.box([0.0], [2.0]).model().to_dict()))
    result = CliRunner().invoke(app, ["suggest", "runs.csv", "--space", "domain.json"])
    assert result.exit_code == 2
    assert "--space must name dimensions in the units of the table" in result.stderr
    missing = CliRunner().invoke(app, ["suggest", "no.csv", "--space", "space.toml"])
    assert missing.exit_code == 2
    assert "a table must be a CSV file that exists" in missing.stderr


def test_a_proof_about_a_region_says_so(tmp_path: Path) -> None:
    """With seven coordinates a run has one where nothing is said."""
    space, runs = tmp_path / "wide.toml", tmp_path / "wide.csv"
    space.write_text(
        "".join(f'[[dimensions]]\nname = "a{j}"\nlower = 0\nupper = 1\n' for j in range(7))
    )
    names = ",".join(f"a{j}" for j in range(7))
    runs.write_text(f"{names},loss\n" + "0.5," * 7 + "1\n" + "0.4," * 7 + "2\n")
    command = ["suggest", str(runs), "--space", str(space), "--value", "loss", "--json"]
    chosen = ["--surrogate", "brvfl:n_hidden=5", "--maximizer", "random:evaluations=20"]
    answer = json.loads(CliRunner().invoke(app, [*command, *chosen]).stdout)
    assert answer["region"]["length"] == 0.8
    assert len(answer["region"]["lower"]) == 7


def test_a_stop_rule_is_asked_and_a_bad_one_refused(folder: Path) -> None:
    result = run(f"--value loss {CHOSEN} --stop target:value=1.2")
    assert "  stop: the best value is 1, the target 1.2." in result.stdout
    answer = json.loads(run(f"--value loss {CHOSEN} --stop ei:tolerance=1e-9 --json").stdout)
    assert answer["stop"]["stops"] is False
    assert answer["stop"]["number"] == answer["value"]  # of the point that is suggested
    assert "stop" not in json.loads(run(f"--value loss {CHOSEN} --json").stdout)
    refused = run(f"--value loss {CHOSEN} --stop targets:value=1")
    assert refused.exit_code == 2
    assert "did you mean 'target'" in refused.stderr
