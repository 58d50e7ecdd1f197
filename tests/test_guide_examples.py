"""The examples of pages of the guide run, in the order in which they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import nnbo_mip as nm
from nnbo_mip.cli.app import app
from nnbo_mip.cli.space_file import read_space

GUIDE = Path(__file__).parents[1] / "docs" / "guide"


def _run(page: str, end: str = "") -> dict[str, Any]:
    """Run the blocks of Python of a page, up to a heading, and return the names that they leave."""
    text = (GUIDE / page).read_text(encoding="utf-8")
    if end:
        assert f"\n{end}\n" in text
        text = text.partition(end)[0]
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(compile(block, page, "exec"), names)
    return names


def test_surrogates() -> None:
    names = _run("surrogates.md")
    assert (names["std"] >= 0.0).all()
    assert "mean" in names["net"].output_names


def test_many_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    _run("many_inputs.md")
    shown = capsys.readouterr().out
    assert shown.startswith("portfolio slices\n")
    assert "the others are where a search of the whole space ended" in shown


def test_spaces(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    names = _run("spaces.md")
    shown = capsys.readouterr().out
    assert "(1, 8)" in shown
    assert all(("momentum" in line) == ("'sgd'" in line) for line in shown.splitlines()[:3])
    text = (GUIDE / "spaces.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "space.toml").write_text(block)
    space = read_space(tmp_path / "space.toml")
    assert space.model().admissible(space.model().sample(20, np.random.default_rng(0))).all()
    assert names["small"].constraints


def test_parts_of_your_own(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        names = _run("own.md")
        assert "coordinates:tries=100" in capsys.readouterr().out
        problem = nm.problems.create("furnace")
        assert problem({"heat": 250.0, "layers": 3}) == problem.optimum == 0.0
        assert isinstance(nm.maximizers.create("coordinates"), names["Coordinates"])
    finally:
        nm.maximizers.unregister("coordinates")
        nm.problems.unregister("furnace")


def test_reports(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _run("report.md")
    said = capsys.readouterr().out
    text = (GUIDE / "report.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^    why x = .*\n((?:    .*\n)+)", text, flags=re.MULTILINE)
    names = [line.strip()[:9] for line in shown.splitlines()]
    assert names == [line.strip()[:9] for line in said.partition("why x = ")[2].splitlines()[1:]]
    assert {path.name for path in tmp_path.iterdir()} == {"run.html", "run.png"}


def test_acquisitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = _run("acquisitions.md", "## Criteria that choose their point")
    assert names["proposal"].status == "optimal"
    text = (GUIDE / "acquisitions.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"```sh\nnnbo-mip (.*)\n```", text)
    assert CliRunner().invoke(app, command.split()).exit_code == 0


def test_solvers(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("solvers.md")["result"].status == "optimal"
    assert capsys.readouterr().out == "solver\n"


def test_stopping() -> None:
    try:
        names = _run("stopping.md")
    finally:
        nm.stopping.unregister("lucky")
    assert names["result"].stop.rule == "regret"
    assert names["result"].nfev < 60
    assert names["verdict"].rule in ("target", "budget")
    assert names["low"] <= names["high"]


@pytest.mark.filterwarnings("ignore::nnbo_mip.NnboWarning")
def test_optuna() -> None:
    pytest.importorskip("optuna").logging.set_verbosity(40)
    study = _run("optuna.md")["study"]
    assert len(study.trials) < 60
    assert "the regret is at most" in study.user_attrs["nnbo:stop"]


def test_botorch(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("botorch")
    text = (GUIDE / "botorch.md").read_text(encoding="utf-8")
    assert text.count("\n## Ax\n") == 1
    names = _run("botorch.md", "## Ax")
    assert capsys.readouterr().out.startswith("optimal ")
    assert names["candidates"].tolist() == names["found"].candidates.tolist()
    assert float(names["score"]) < 0.0


@pytest.mark.filterwarnings("default")  # Ax's are not ours to mend
def test_ax() -> None:
    pytest.importorskip("ax")
    _, _, text = (GUIDE / "botorch.md").read_text(encoding="utf-8").partition("\n## Ax\n")
    (block,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, "botorch.md", "exec"), names)
    run = names["client"]._experiment.trials[5].generator_runs[-1]
    assert run.gen_metadata["models_used"][1]["nnbo:status"] == "optimal"


def test_sklearn() -> None:
    names = _run("sklearn.md")
    assert abs(names["mean"][0] - np.sin(1.5)) < 0.01
    assert len(names["scores"]) == 3


def test_verification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = _run("verification.md")
    assert names["answer"].answer == "violated"
    names["net"].save("net.npz")
    found = CliRunner().invoke(
        app, ["verify", "net.npz", "digit.vnnlib", "--certificate", "c.json"]
    )
    assert found.exit_code == 0
    assert found.stdout.splitlines()[0] == "unsat"
    assert CliRunner().invoke(app, ["check", "c.json", "net.npz"]).exit_code == 0
    assert CliRunner().invoke(app, ["verify", "net.npz", "any.vnnlib"]).exit_code == 3
    asked = ["certify", "net.npz", "--lower", "0", "--upper", "1", "--output", "y0"]
    assert CliRunner().invoke(app, [*asked, "--threshold", "1e3"]).exit_code == 0
    assert CliRunner().invoke(app, [*asked, "--threshold", "-1e3"]).exit_code == 3
    assert CliRunner().invoke(app, [*asked, "--threshold", "high"]).exit_code == 2


def test_the_examples_of_those_who_come_from_another_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = _run("coming_from.md")
    assert names["result"].fun < 1.0
    assert len(nm.BayesianOptimizer.open("run.db").history) == 8


def test_the_example_of_the_site_s_first_page() -> None:
    assert _run("../site/index.md")["result"].nfev == 15
