"""`nnbo-mip report`: the page as a file, exit codes, what it says of stores that are not whole."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nnbo_mip.cli.app import app
from nnbo_mip.drawing.page.html import number, percent, table
from nnbo_mip.drawing.page.pages import Page, slug, unique
from nnbo_mip.lab.report.state import warnings
from nnbo_mip.lab.statistics.findings import Findings
from nnbo_mip.lab.store.results import Results
from nnbo_mip.lab.store.store import opened
from tests.lab.reported import written
from tests.lab.stores import answer, plan_of, planned


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "results.db"


def run(store: Path, *arguments: str) -> Result:
    out = ["--out", str(store.with_name("report.html"))]
    return CliRunner().invoke(app, ["report", str(store), *out, *arguments])


def page(store: Path) -> str:
    return store.with_name("report.html").read_text(encoding="utf-8")


def data(text: str) -> list[list[dict[str, object]]]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert found is not None
    made: list[list[dict[str, object]]] = json.loads(found[1])
    return made


def test_a_whole_experiment(store: Path) -> None:
    result = run(written(store))
    assert result.exit_code == 0, result.output
    assert "made: 24 of 24 units finished, 0 failed" in result.stdout
    assert "branin: least median regret 0.00928 by gp" in result.stdout
    text = page(store)
    titles = {view["title"] for views in data(text) for view in views}
    assert {"branin: median regret", "forrester: mean regret"} <= titles
    assert "is not finished" not in text


def test_the_file_asks_for_nothing_else(store: Path) -> None:
    run(written(store))
    text = page(store)
    addresses = set(re.findall(r"\w+://[^\s\"'`]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not a place
    assert not re.search(r"<(link|img|iframe)\b|\bsrc=|@import|url\((?!#)", text)
    assert "default-src 'none'" in text


def test_the_summary_in_json(store: Path) -> None:
    result = run(written(store), "--json")
    told = json.loads(result.stdout)
    assert (told["units"], told["finished"], told["failed"]) == (24, 24, 0)
    methods = {one["method"]: one for one in told["problems"][0]["methods"]}
    assert methods["gp"]["rank_of_median"] == methods["gp"]["rank_by_interval"] == 1
    value, low, high = methods["gp"]["mean"]
    assert value == pytest.approx((8 + 9 + 10 + 11) / 4 / 4**5)
    assert low < value < high


@pytest.mark.parametrize(
    ("finished", "sentence"),
    [
        (0, "Nothing is finished yet"),
        (5, "The experiment is not finished"),
    ],
)
def test_a_store_that_is_not_whole_says_so(store: Path, finished: int, sentence: str) -> None:
    result = run(written(store, finished=finished))
    assert result.exit_code == 1, result.output
    assert sentence in page(store)
    assert f"{finished} of 24 units finished" in result.stdout


def test_methods_and_intervals_that_are_missing_are_named(store: Path) -> None:
    results = Results.open(written(store, finished=2))
    said = warnings(Findings.of(results), 2, 24)
    assert "No results yet of random." in said
    assert "Intervals need two instances at least; some methods have one." in said


def test_an_experiment_without_units(store: Path) -> None:
    with opened(store) as empty:
        empty.write_plan(plan_of([]))
    result = run(store)
    assert result.exit_code == 1, result.output
    assert "Nothing is finished yet" in page(store)


def test_failures_are_shown_with_what_they_said(store: Path) -> None:
    result = run(written(store, failed=2))
    assert result.exit_code == 1
    assert "22 of 24 units finished, 2 failed" in result.stdout
    assert "forrester, random, instance 3: error: a reason" in page(store)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "check the path"), (b"", "it is empty"), (b"SQLite no more", "must be a store")],
)
def test_what_is_no_store_is_one_sentence(
    store: Path, content: bytes | None, sentence: str
) -> None:
    if content is not None:
        store.write_bytes(content)
    result = run(store)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert sentence in result.stderr
    assert not store.with_name("report.html").exists()


def test_of_several_experiments_one_must_be_named(store: Path) -> None:
    written(store)
    with opened(store) as more:
        more.write_plan(plan_of([planned(instance=9)], name="other"))
    assert "none was named" in run(store).stderr
    assert run(store, "--experiment", "othr").exit_code == 2
    assert run(store, "--experiment", "other").exit_code == 1
    assert "<title>other</title>" in page(store)


def test_bad_options_are_refused_before_anything_is_written(store: Path) -> None:
    written(store)
    for arguments in (
        ["--beliefs", "none"],
        ["--format", "gif"],
        ["--figures", str(store.with_name("nowhere"))],
        ["--out", str(store.with_name("nowhere") / "report.html")],
        ["--out", str(store)],
    ):
        result = run(store, *arguments)
        assert result.exit_code == 2, arguments
        assert len(result.stderr.splitlines()) == 1
    assert not store.with_name("report.html").exists()


def test_pictures_become_files_where_asked(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = "nnbo_mip.lab.report.writing.draw"
    monkeypatch.setattr(drawn, lambda picture, path: path.write_text(picture.title))
    folder = store.with_name("figures")
    folder.mkdir()
    small = written(store, problems=("forrester",), methods=("gp",), instances=2)
    result = run(small, "--figures", str(folder), "--json")
    told = json.loads(result.stdout)["figures"]
    assert sorted(told) == sorted(str(path) for path in folder.iterdir())
    assert (folder / "forrester-median-regret.svg").read_text() == "forrester: median regret"


def test_help_has_an_example() -> None:
    result = CliRunner().invoke(app, ["report", "--help"])
    assert result.exit_code == 0
    assert "Example: nnbo-mip report results.db" in " ".join(result.stdout.split())


def test_views_share_the_marks_that_they_have_in_common(store: Path) -> None:
    run(written(store))
    (sampled,) = [views for views in data(page(store)) if "branin: gp in" in str(views[0]["title"])]
    first, second, _ = (view["series"] for view in sampled)
    assert isinstance(first, list)
    assert isinstance(second, list)
    assert len(first[0]["marks"]) > 3
    assert second[0]["marks"] == "same"
    assert second[2]["marks"] != "same"


def test_html_is_escaped_and_anchors_are_distinct() -> None:
    made = Page("<b>")
    made.section("A b")
    made.section("A  b")
    made.add(table(["<i>"], [["&", "<"]]))
    text = made.as_html()
    assert "<title>&lt;b&gt;</title>" in text
    assert 'id="s-a-b"' in text
    assert 'id="s-a-b-2"' in text
    assert '<th scope="row">&amp;</th><td>&lt;</td>' in text


def test_texts_of_tables_and_files() -> None:
    assert (number(0.00123456), number(float("nan"))) == ("0.00123", "—")
    assert (percent(1, 3), percent(0, 0)) == ("33.3 %", "—")
    assert slug("Levy: d=5, ../x") == "levy-d-5-..-x"
    assert slug("///") == "untitled"
    assert unique("a", ["a", "a-2"]) == "a-3"


def test_the_answer_is_on_top(store: Path) -> None:
    run(written(store))
    text = page(store)
    answer = re.search(r'<div class="answer">(.*?)</div>', text, flags=re.DOTALL)
    assert answer is not None
    # Two problems are too few to tell three methods apart, and the answer does not say "best".
    assert "gp has the least mean rank of its medians over 2 problems, 1 of 3" in answer[1]
    assert "It cannot be told apart from any other method" in answer[1]
    assert "It took 1.5 CPU seconds a run in the mean" in answer[1]
    assert text.index(answer[0]) < text.index("Units of each of")
    leading = re.search(r'<script type="application/json" id="leading">(.*?)</script>', text)
    assert leading is not None
    assert json.loads(leading[1]) == ["gp", "nomu", "random"]


def test_the_answer_on_one_problem_has_its_figures(store: Path) -> None:
    run(written(store, problems=("branin",)))
    assert "gp did best on branin: median regret 0.00928 after 8 evaluations" in page(store)
    assert "(next nomu: 0.297, 32 times as much)" in page(store)


def test_tests_that_cannot_speak_are_left_out_with_the_reason(store: Path) -> None:
    run(written(store))
    assert "Mann-Whitney tests are left out" in page(store)
    assert "firsts, Mann-Whitney" not in page(store)
    with_enough = store.with_name("more.db")
    result = CliRunner().invoke(
        app,
        [
            *("report", str(written(with_enough, instances=8, problems=("branin",)))),
            *("--out", str(store.with_name("report.html"))),
        ],
    )
    assert result.exit_code == 0
    assert "Mann-Whitney tests are left out" not in page(store)
    assert "firsts, Mann-Whitney" in page(store)


def test_the_rank_table_has_a_row_a_method(store: Path) -> None:
    run(written(store))
    head = re.search(r"<thead><tr>(<th[^>]*>method</th><th[^>]*>surrogate.*?)</tr>", page(store))
    assert head is not None
    titles = re.findall(r">([^<]+)</th>", head[1])
    assert titles == [
        *("method", "surrogate", "acquisition", "maximizer", "mean rank of medians"),
        *("branin", "forrester"),
    ]


def test_pairs_of_surrogate_and_maximizer_have_a_table(store: Path) -> None:
    values = {("gp", "auto"): 1.0, ("gp", "lbfgs"): 2.0, ("nomu", "auto"): 4.0}
    units, answers = [], []
    for (surrogate, maximizer), value in values.items():
        one = planned("branin", f"{surrogate}, {maximizer}", 0, 2, 3)
        units.append(dataclasses.replace(one, surrogate=surrogate, maximizer=maximizer))
        answers.append(answer(one.unit, [9.0, 8.0, 7.0, 6.0, value]))
    with opened(store) as made:
        made.write_plan(plan_of(units))
        made.add(answers)
    run(store)
    text = page(store)
    assert "Medians by surrogate and maximizer" in text
    row = r'<tr><th scope="row">{}</th><td>{}</td><td>{}</td></tr>'
    assert re.search(row.format("gp", "1", "2"), text)
    assert re.search(row.format("nomu", "4", "—"), text)
