"""The examples of README.md run, in the order in which they stand there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import nnbo_mip as nm
from nnbo_mip.cli.app import app
from nnbo_mip.cli.inputs import read_space

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    proved = "proved  25 of 25 choices of a model are certified best"
    assert proved in README
    assert proved in printed
    assert printed.count("optimal ei ") == 25
    assert len(nm.BayesianOptimizer.open("branin.db").history) == 16
    assert names["answer"].confirmed
    commands = [
        line.removeprefix("nnbo-mip ")
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith("nnbo-mip ")
    ]
    assert len(commands) == 5
    for command in commands:
        result = CliRunner().invoke(app, command.split())
        assert result.exit_code == 0, result.output


def test_the_space_file_can_be_read(tmp_path: Path) -> None:
    (block,) = blocks("toml")
    path = tmp_path / "space.toml"
    path.write_text(block)
    space = read_space(path)
    assert isinstance(space, nm.Space)
    assert space.dim_names == ("x", "n")
    assert len(space.constraints) == 1


def test_every_extra_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    section = README.partition("## Extras")[2].partition("\n## ")[0]
    cells = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    named = [name for cell in cells for name in re.findall(r"`([a-z-]+)`", cell)]
    assert sorted(named) == sorted(project["optional-dependencies"])
