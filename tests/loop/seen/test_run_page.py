"""The page of a run: what it says, as a file, in a browser, and while the run goes on."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import nnbo_mip as nm
from nnbo_mip.cli.app import app
from nnbo_mip.cli.report_run import LOOK
from tests.lab.chromium import Opened, needs_browser, opened
from tests.lab.reported import written
from tests.loop.runs import QUICK
from tests.loop.seen.runs import mixed_run

LOOKED = """
heard.wide = document.documentElement.scrollWidth;
heard.figures = [...document.querySelectorAll("figure")].map((figure) => ({
  title: figure.querySelector("figcaption").textContent,
  drawn: figure.dataset.drawn,
  bad: figure.innerHTML.includes("NaN") || figure.innerHTML.includes("undefined"),
}));
const column = () => [...document.querySelectorAll("table.sortable tbody tr")].map(
  (row) => parseFloat(row.cells[6].textContent)
);
heard.before = column();
const press = document.querySelectorAll("table.sortable thead button")[6];
press.click();
heard.up = column();
press.click();
heard.down = column();
heard.paper = getComputedStyle(document.body).backgroundColor;
document.getElementById("theme").click();
heard.turned = getComputedStyle(document.body).backgroundColor;
"""


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "run.db"
    mixed_run(path, 13)
    return path


def run(journal: Path, *arguments: str) -> Result:
    out = ["--out", str(journal.with_name("report.html"))]
    return CliRunner().invoke(app, ["report", str(journal), *out, *arguments])


@pytest.fixture(scope="module")
def page(journal: Path) -> Path:
    result = run(journal)
    assert result.exit_code == 0, result.output
    return journal.with_name("report.html")


@pytest.fixture(scope="module")
def desktop(page: Path) -> Opened:
    assert not needs_browser.args[0], needs_browser.kwargs["reason"]
    return opened(page, LOOKED)


def test_the_answer_is_on_top(page: Path, journal: Path) -> None:
    best = nm.BayesianOptimizer.open(journal, pending="keep").best
    assert best is not None
    text = page.read_text(encoding="utf-8")
    answer = re.search(r'<div class="answer">(.*?)</div>', text, flags=re.DOTALL)
    assert answer is not None
    assert f"The smallest value is {best.y:.6g}" in answer[1]
    assert "choices of a model are certified best" in answer[1]
    assert "What is left: at most" in answer[1]
    assert "refresh" not in text.partition("</head>")[0]


def test_the_file_asks_for_nothing_else(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"\w+://[^\s\"'`]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe)\b|\bsrc=|@import|url\((?!#)", text)


@needs_browser
def test_every_figure_is_drawn_and_nothing_complains(desktop: Opened) -> None:
    heard = desktop.heard
    assert heard["problems"] == []
    assert desktop.console == []
    titles = [one["title"] for one in heard["figures"]]
    assert titles[:3] == [
        "Values in order",
        "What choices promised",
        "Which inputs matter, by the model",
    ]
    assert {"lr: acquisition", "act: acquisition", "All points"} <= set(titles)
    assert all(one["drawn"] == "yes" and not one["bad"] for one in heard["figures"])
    assert heard["wide"] <= 1000


@needs_browser
def test_the_table_can_be_sorted(desktop: Opened) -> None:
    heard = desktop.heard
    assert len(heard["before"]) > 3
    assert heard["up"] == sorted(heard["before"])
    assert heard["down"] == sorted(heard["before"], reverse=True)


@needs_browser
def test_light_and_dark(desktop: Opened) -> None:
    assert {desktop.heard["paper"], desktop.heard["turned"]} == {
        "rgb(255, 255, 255)",
        "rgb(20, 23, 27)",
    }


@needs_browser
def test_it_fits_a_phone(page: Path) -> None:
    page.with_name("phone.html").write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    holder = page.with_name("holder.html")
    frame = '<iframe src="phone.html" width="360" height="800"></iframe>'
    holder.write_text(f"<html><head></head><body>{frame}</body></html>", encoding="utf-8")
    script = """
      const inner = document.querySelector("iframe").contentDocument;
      heard.wide = inner.documentElement.scrollWidth <= 360;
      heard.out = [...inner.querySelectorAll("figure svg, .answer")].filter(
        (one) => one.getBoundingClientRect().right > 361
      ).length;
    """
    seen = opened(holder, script, 1000, "--allow-file-access-from-files")
    assert seen.heard == {"wide": True, "out": 0, "problems": []}


def test_numbers_for_programs(journal: Path) -> None:
    told = json.loads(run(journal, "--json").stdout)
    optimizer = nm.BayesianOptimizer.open(journal, pending="keep")
    assert optimizer.best is not None
    assert (told["evaluations"], told["best"]) == (13, optimizer.best.y)
    bound = optimizer.regret_bound()
    assert told["regret_at_most"] == pytest.approx(bound.regret)


def test_a_run_without_a_value_is_a_page_too(tmp_path: Path) -> None:
    nm.BayesianOptimizer([(0.0, 1.0)], **QUICK, journal=tmp_path / "run.db").ask()
    result = run(tmp_path / "run.db")
    assert result.exit_code == 0, result.output
    assert "No value yet, after 0 evaluations; 1 pending." in result.stdout


def test_what_is_for_stores_is_refused_for_journals_and_the_other_way(
    journal: Path, tmp_path: Path
) -> None:
    refused = run(journal, "--beliefs", "2")
    assert refused.exit_code == 2
    assert "is the journal of a run" in refused.stderr
    refused = run(written(tmp_path / "results.db"), "--follow")
    assert refused.exit_code == 2
    assert "--follow is for the journal of a run" in refused.stderr


def test_a_run_is_followed_until_its_rule_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    options = {**QUICK, "stop": "target:value=-1"}
    optimizer = nm.BayesianOptimizer([(0.0, 1.0)], **options, journal=path)
    optimizer.tell([0.5], 1.0)
    page = path.with_name("report.html")
    refreshed = []

    def go_on() -> None:
        refreshed.append("refresh" in page.read_text(encoding="utf-8").partition("</head>")[0])
        optimizer.tell([0.25], -2.0)
        optimizer.should_stop()

    later = threading.Timer(2.0 * LOOK, go_on)
    later.start()
    result = run(path, "--follow")
    later.join()
    assert result.exit_code == 0, result.output
    assert refreshed == [True]
    text = page.read_text(encoding="utf-8")
    assert "The smallest value is -2" in text
    assert "The run ended by its rule" in text
    assert "refresh" not in text.partition("</head>")[0]
