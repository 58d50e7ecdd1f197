"""The tutorial is followed, with fewer runs; its own are planned."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nnbo_mip.cli.app import app
from nnbo_mip.lab.plan.experiment import planned
from tests.lab.chromium import BROWSER, opened

GUIDE = Path(__file__).parents[1] / "docs" / "guide"
TUTORIAL = (GUIDE / "tutorial.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TUTORIAL, flags=re.DOTALL)


def commands(block: str) -> list[list[str]]:
    lines = block.splitlines()
    assert all(line.startswith("nnbo-mip ") for line in lines)
    return [line.split()[1:] for line in lines]


def reduced(text: str) -> str:
    """Return the experiment with one instance and one step."""
    fewer = re.sub(r"^instances = 4 ", "instances = 1 ", text, flags=re.MULTILINE)
    least = re.sub(r"^steps = 8 ", "steps = 1 ", fewer, flags=re.MULTILINE)
    assert least.count(" = 1 ") == 2
    return least


def test_it_has_as_many_runs_as_it_says() -> None:
    experiment, more, _ = blocks("toml")
    first = planned(experiment, "experiment.toml", "")
    assert len(first) == 40
    assert "first: 40 of 40 units finished" in TUTORIAL
    second = planned(experiment + more, "experiment.toml", "")
    added = {one.unit.key for one in second} - {one.unit.key for one in first}
    assert (len(second), len(added)) == (48, 8)
    assert "Only the eight new runs are made" in TUTORIAL


KINDS = (
    "Mean ranks of final medians over problems",  # the critical-difference diagram
    "Mean rank in the course",
    "branin: median regret",
    "branin: regret at the end",
    "branin: gp, auto in instance 0",
    "forrester, gp, auto, instance 0, step 1: belief",
    "forrester, gp, auto, instance 0, step 1: acquisition",
    "forrester: gap of the certificate",
)

LOOK = """
heard.figures = [...document.querySelectorAll("figure")].map((figure) => [
  figure.querySelector("figcaption").textContent,
  figure.querySelectorAll(".plot .line, .plot .dot, .plot .box").length,
  figure.innerHTML.includes("NaN") || figure.innerHTML.includes("undefined"),
]);
"""


def _check_that_all_kinds_of_pictures_are_drawn(page: Path) -> None:
    seen = opened(page, LOOK)
    assert seen.console == seen.heard["problems"] == []
    figures = seen.heard["figures"]
    assert all(marks and not is_bad for _, marks, is_bad in figures)
    titles = [title for title, _, _ in figures]
    assert not [kind for kind in KINDS if not any(title.startswith(kind) for title in titles)]


def test_its_commands_do_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    experiment, more, space = blocks("toml")
    (table,) = blocks("csv")
    run, report, again, own = map(commands, blocks("sh"))
    said: list[str] = []

    def follow(steps: list[list[str]]) -> None:
        for arguments in steps:
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, result.output
            said.append(result.stdout)

    Path("experiment.toml").write_text(reduced(experiment))
    follow(run)
    assert "10 of 10 units finished, 0 failed; 10 run now" in said[-1]
    assert "nnbo-mip report first.db --out report.html" in said[-1]
    follow(report)
    page = Path("report.html").read_text(encoding="utf-8")
    sections = ("Ranking", "forrester", "branin", "Beliefs", "Certificates")
    assert all(f">{name}</h2>" in page for name in sections)
    if BROWSER is not None:
        _check_that_all_kinds_of_pictures_are_drawn(tmp_path / "report.html")
    Path("experiment.toml").write_text(reduced(experiment + more))
    follow(again)
    assert "12 of 12 units finished, 0 failed; 2 run now" in said[2]
    assert "certain" in Path("report.html").read_text(encoding="utf-8")
    assert len(Path("tables/units.csv").read_text().splitlines()) == 13
    Path("observations.csv").write_text(table)
    Path("space.toml").write_text(space)
    follow(own)
    assert "status  optimal" in said[-2]
    assert "confirmed: no admissible point scores above" in said[-1]
