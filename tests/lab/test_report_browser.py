"""The page as a browser shows it: plots are drawn, can be worked with, and nothing complains."""

from __future__ import annotations

from pathlib import Path

import pytest

from nnbo_mip.lab.report.writing import write_report
from tests.lab.chromium import Opened, needs_browser, opened
from tests.lab.reported import written
from tests.lab.stores import made

pytestmark = needs_browser

LOOK = """
heard.width = innerWidth;
heard.wide = document.documentElement.scrollWidth;
heard.figures = [...document.querySelectorAll("figure")].map((figure) => ({
  title: figure.querySelector("figcaption").textContent,
  drawn: figure.dataset.drawn,
  lines: figure.querySelectorAll("path.line").length,
  dots: figure.querySelectorAll(".dot").length,
  boxes: figure.querySelectorAll(".box").length,
  order: [...figure.querySelectorAll(".plot polygon, .plot path.line")].map((one) => one.tagName),
  legend: [...figure.querySelectorAll("button.series svg")].map((one) => one.firstChild.tagName),
  text: [...figure.querySelectorAll("svg text")].map((text) => text.textContent),
  bad: figure.innerHTML.includes("NaN") || figure.innerHTML.includes("undefined"),
}));
heard.paper = getComputedStyle(document.body).backgroundColor;
heard.anchors = [...document.querySelectorAll("nav a")].map(
  (a) => document.getElementById(decodeURIComponent(a.hash.slice(1))) !== null
);
const figureOf = (start) => [...document.querySelectorAll("figure")].find(
  (figure) => figure.querySelector("figcaption").textContent.startsWith(start)
);
const press = (figure, text) => [...figure.querySelectorAll("button")].find(
  (button) => button.textContent === text
).click();
"""

WORK = """
const figure = figureOf("branin: median regret");
const lines = () => figure.querySelectorAll("path.line").length;
const ticks = () => [...figure.querySelectorAll("svg text")].map((text) => text.textContent);
heard.before = { lines: lines(), ticks: ticks() };
press(figure, "gp");
heard.without = lines();
press(figure, "gp");
press(figure, "log y");
heard.linear = ticks();
press(figure, "log y");
const root = figure.querySelector(".plot svg");
root.scrollIntoView();
const box = root.getBoundingClientRect();
root.dispatchEvent(new PointerEvent("pointermove", {
  clientX: box.right - 20, clientY: box.top + 30, pointerType: "mouse",
}));
heard.tip = figure.querySelector(".tip").innerText;
heard.tipShown = !figure.querySelector(".tip").hidden;
root.dispatchEvent(new PointerEvent("pointerleave", { pointerType: "mouse" }));
heard.tipGone = figure.querySelector(".tip").hidden;
root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
heard.keyed = figure.querySelector(".tip").innerText;
press(figure, "mean");
heard.view = figure.querySelector("figcaption").textContent;
document.getElementById("theme").click();
heard.turned = getComputedStyle(document.body).backgroundColor;
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    write_report(written(folder / "results.db"), folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def desktop(page: Path) -> Opened:
    return opened(page, LOOK + WORK)


def test_the_console_is_empty_and_nothing_is_fetched(desktop: Opened) -> None:
    assert desktop.heard["problems"] == []
    assert desktop.console == []


def test_every_figure_is_drawn(desktop: Opened) -> None:
    figures = {one["title"]: one for one in desktop.heard["figures"]}
    assert all(one["drawn"] == "yes" and not one["bad"] for one in figures.values())
    assert figures["branin: median regret"]["lines"] == 3
    assert figures["branin: regret at the end"]["boxes"] == 3
    assert figures["branin: mean ranks over instances"]["dots"] == 3
    assert figures["Mean rank in the course of the evaluations"]["lines"] == 3
    assert figures["Performance profile at 0.1"]["lines"] == 3
    sampled = next(one for title, one in figures.items() if title.startswith("branin: gp in"))
    assert sampled["dots"] == 8
    line = next(one for title, one in figures.items() if title.startswith("forrester: gp in"))
    assert (line["lines"], line["dots"]) == (1, 8)
    # The steps of the made-up store: five of each instance of the two methods with models.
    assert figures["branin: gap of the certificate against time"]["dots"] == 2 * 4 * 5


def test_bands_are_below_all_lines_and_the_legend_shows_what_is_drawn(desktop: Opened) -> None:
    figures = {one["title"]: one for one in desktop.heard["figures"]}
    curves = figures["branin: median regret"]
    assert curves["order"] == ["polygon"] * 3 + ["path"] * 3
    assert curves["legend"] == ["path"] * 3
    sampled = next(one for title, one in figures.items() if title.startswith("branin: gp in"))
    assert sampled["legend"] == ["path", "circle", "circle"]


def test_profiles_show_all_shares(desktop: Opened) -> None:
    figures = {one["title"]: one for one in desktop.heard["figures"]}
    for title in ("Performance profile at 0.1", "Data profile at 0.1"):
        assert {"0", "1"} <= set(figures[title]["text"])


def test_the_table_of_contents_leads_somewhere(desktop: Opened) -> None:
    assert len(desktop.heard["anchors"]) >= 6
    assert all(desktop.heard["anchors"])


def test_methods_can_be_left_out_and_scales_switched(desktop: Opened) -> None:
    heard = desktop.heard
    assert heard["before"]["lines"] == 3
    assert heard["without"] == 2
    assert {"0.1", "1", "10"} <= set(heard["before"]["ticks"])
    assert {"2", "4", "6", "8"} <= set(heard["linear"])
    assert heard["view"] == "branin: mean regret"


def test_values_are_told_at_the_pointer_and_by_keys(desktop: Opened) -> None:
    heard = desktop.heard
    assert heard["tipShown"] is True
    assert heard["tipGone"] is True
    told = heard["tip"].splitlines()
    assert told[0] == "evaluations, shared starts included: 8"
    # The median over instances 0 to 3 of (8 + instance) / 4^5 is 9.5 / 1024.
    assert any(line.startswith("gp: 0.009277 [") for line in told)
    assert heard["keyed"].splitlines()[0] == "evaluations, shared starts included: 3"


def test_light_and_dark(desktop: Opened) -> None:
    light, dark = "rgb(255, 255, 255)", "rgb(20, 23, 27)"
    assert {desktop.heard["paper"], desktop.heard["turned"]} == {light, dark}


def test_it_fits_a_phone(page: Path) -> None:
    # Chromium's own windows are 500 wide at least: a frame is as narrow as it is told to be.
    text = page.read_text(encoding="utf-8")
    page.with_name("phone.html").write_text(text, encoding="utf-8")
    holder = page.with_name("holder.html")
    holder.write_text(
        '<html><head></head><body><iframe src="phone.html" width="360" height="800"></iframe>'
        "</body></html>",
        encoding="utf-8",
    )
    script = """
      const inner = document.querySelector("iframe").contentDocument;
      heard.wide = inner.documentElement.scrollWidth;
      heard.drawn = [...inner.querySelectorAll("figure")].every((one) => one.dataset.drawn);
      heard.out = [...inner.querySelectorAll("figure svg")].filter(
        (one) => one.getBoundingClientRect().right > 361
      ).length;
      heard.cut = [...inner.querySelectorAll(".caption")].filter(
        (one) => one.getBoundingClientRect().right > 361
      ).length;
    """
    seen = opened(holder, script, 1000, "--allow-file-access-from-files")
    assert seen.heard.pop("wide") <= 360
    assert seen.heard == {"drawn": True, "out": 0, "cut": 0, "problems": []}
    assert seen.console == []


@pytest.mark.parametrize("finished", [0, 1])
def test_an_empty_or_begun_experiment_is_a_page_too(tmp_path: Path, finished: int) -> None:
    store = written(tmp_path / "results.db", finished=finished)
    write_report(store, tmp_path / "report.html")
    seen = opened(tmp_path / "report.html", LOOK)
    assert seen.heard["problems"] == []
    assert seen.console == []
    assert all(one["drawn"] == "yes" and not one["bad"] for one in seen.heard["figures"])
    assert bool(seen.heard["figures"]) == bool(finished)


def test_labels_are_texts_whatever_they_hold(tmp_path: Path) -> None:
    from nnbo_mip.lab.store.store import opened as store_at
    from tests.lab.stores import answer, plan_of, planned

    label = "</script><img src=x onerror=problems.push('run')>&amp;"
    units = [planned("branin", label, k, 2, 3) for k in range(2)]
    with store_at(tmp_path / "results.db") as store:
        store.write_plan(plan_of(units, name=label))
        store.add([answer(one.unit, [5.0, 4.0, 3.0, 2.0, 1.0]) for one in units])
    write_report(tmp_path / "results.db", tmp_path / "report.html")
    script = 'heard.title = document.querySelector("h1").textContent;' + (
        'heard.button = document.querySelector("button.series").textContent;'
    )
    seen = opened(tmp_path / "report.html", script)
    assert seen.heard == {"title": label, "button": label, "problems": []}


MANY = """
const shown = () => [...document.querySelectorAll("figure")].find(
  (figure) => figure.querySelector("figcaption").textContent === "branin: median regret"
);
const lines = () => shown().querySelectorAll("path.line").length;
const all = () => [...document.querySelectorAll("main tbody tr")];
const rows = () => all().filter((row) => !row.hidden).length;
const bar = document.querySelector(".filter");
const press = (text) => [...bar.querySelectorAll("button")].find(
  (button) => button.textContent === text
).click();
heard.first = lines();
heard.bands = shown().querySelectorAll(".band").length;
heard.buttons = shown().querySelectorAll("button.series").length;
press("all");
heard.all = lines();
heard.rows = rows();
const styles = [...shown().querySelectorAll("button.series svg")].map((one) => one.innerHTML);
heard.styles = [styles.length, new Set(styles).size];
press("s1");
heard.part = lines();
heard.partRows = rows();
press("m0");
heard.both = lines();
press("all");
const field = bar.querySelector("input");
field.value = "S2 m3";
field.dispatchEvent(new Event("input"));
heard.words = lines();
heard.wide = document.documentElement.scrollWidth <= innerWidth;
"""


def test_many_methods_can_be_filtered_and_told_apart(tmp_path: Path) -> None:
    methods = tuple(f"s{s}, m{m}" for s in range(6) for m in range(6))
    values = {name: 8.0 + place for place, name in enumerate(methods)}
    made(
        tmp_path / "results.db",
        ("branin",),
        methods,
        2,
        2,
        4,
        lambda _, method, instance, number: values[method] / (number + 1) + instance,
    )
    write_report(tmp_path / "results.db", tmp_path / "report.html")
    seen = opened(tmp_path / "report.html", MANY)
    heard = seen.heard
    assert heard["problems"] == []
    assert seen.console == []
    assert (heard["first"], heard["all"], heard["part"]) == (8, 36, 6)
    assert heard["buttons"] == 8
    assert heard["bands"] == 0  # of eight lines they would be mud
    assert (heard["both"], heard["words"]) == (1, 1)
    assert heard["partRows"] < heard["rows"]
    assert heard["styles"] == [36, 36]
    assert heard["wide"] is True
