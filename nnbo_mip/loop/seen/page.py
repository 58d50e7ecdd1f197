"""The page of a run: one HTML file that needs no other."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape

from nnbo_mip.core.outward import text_above
from nnbo_mip.drawing.page.html import NOTHING, number, paragraph, table, tag
from nnbo_mip.drawing.page.pages import Page, Part
from nnbo_mip.loop.record.shown import number_text, point_text
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.seen.pictures import importance, parallel, progress, promises, slices
from nnbo_mip.loop.seen.run_view import RunView
from nnbo_mip.loop.seen.words import (
    MOST_INPUTS,
    answer,
    proof_sentence,
    region_words,
    regret_sentence,
)

MOST_SLICES = 8
"""Inputs through which the page has a slice."""

MOST_COLUMNS = 10
"""Inputs that have a column each in the table of choices."""

Announce = Callable[[str, int, int], None]
"""Receives what is done next, how many parts are done, and how many there are."""


def _silent(name: str, done: int, total: int) -> None:
    """Announce nothing."""


def page_of_run(run: RunView, refresh: int = 0, announce: Announce = _silent) -> Page:
    """Return the page.

    Parameters
    ----------
    run : RunView
    refresh : int
        Seconds after which a browser reads the file again; 0 for never.
    announce : callable, optional
    """
    page = Page(run.name, refresh=refresh)
    parts = [
        Part("the regret bound", lambda: _answer(page, run, refresh)),
        Part("progress", lambda: _progress(page, run)),
        Part("the model", lambda: _model(page, run)),
        Part("all points", lambda: _points(page, run)),
        Part("certificates", lambda: _steps(page, run)),
        Part("settings", lambda: _settings(page, run)),
    ]
    for done, part in enumerate(parts):
        announce(part.name, done, len(parts))
        part.write()
    return page


def _answer(page: Page, run: RunView, refresh: int) -> None:
    sentences = [answer(run), proof_sentence(run), regret_sentence(run)]
    page.add(tag("div", *(paragraph(one) for one in sentences if one), class_="answer"))
    space = run.settings.space
    if run.best is not None and len(space.dimensions) > MOST_INPUTS:
        text = tag("pre", escape(point_text(run.best.x, space)), tabindex="0")
        page.add(tag("details", tag("summary", "The best point"), text))
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    said = f"Written {now}."
    if refresh:
        said += f" The run is followed: this page is read again every {refresh} seconds."
    page.add(paragraph(said, class_="note"))


def _progress(page: Page, run: RunView) -> None:
    page.section("Progress")
    if not run.told:
        page.add(paragraph("Nothing was told yet.", class_="empty"))
        return
    page.pictures(progress(run))
    if run.steps:
        page.pictures(promises(run))


def _model(page: Page, run: RunView) -> None:
    page.section("What the model believes")
    if run.belief is None:
        page.add(
            paragraph(
                f"There is no mean to draw: {run.settings.surrogate.name} gives none, or too "
                "little was told for it to learn from.",
                class_="empty",
            )
        )
        return
    shares = importance(run)
    if shares is not None:
        page.pictures(shares)
    cut = slices(run, MOST_SLICES)
    if not cut:
        return
    page.section("Slices through the best point", level=3)
    left = len(run.sides) - len(cut)
    said = "All other inputs are as they are at the best point (star). Dots are values that were "
    said += "told, wherever their other inputs were."
    if left:
        said += f" Not drawn are {left} of {len(run.sides)} inputs: those that matter less, or are "
        said += "not there at the best point."
    page.add(paragraph(said, class_="note"))
    page.begin_grid()
    for model, score in cut:
        page.pictures(model)
        if score is not None:
            page.pictures(score)
    page.end_grid()


def _points(page: Page, run: RunView) -> None:
    drawn = parallel(run)
    if drawn is not None:
        page.section("All points")
        page.pictures(drawn)


def _steps(page: Page, run: RunView) -> None:
    page.section("Choices and certificates")
    if not run.steps:
        page.add(paragraph("No model has chosen a point yet.", class_="empty"))
        return
    told = {one.suggestion.key: one for one in run.told if one.suggestion is not None}
    names = [one.name for one in run.settings.space.dimensions]
    names = names if len(names) <= MOST_COLUMNS else ["x"]
    rows = []
    for step in reversed(run.steps):
        one = told.get(step.key)
        rows.append(
            [
                str(step.number + 1),
                step.status,
                region_words(step),
                NOTHING if one is None else "failed" if one.y is None else number_text(one.y),
                _expected(step),
                step.head,
                number(step.value),
                text_above(step.bound, 4) if math.isfinite(step.bound) else "none",
                number(step.gap),
                *_coordinates(step, run, names),
                number(step.fit_seconds + step.seconds),
            ]
        )
    head = ["number", "status", "proven over", "value told", "model: mean ± deviation"]
    head += ["score", "promise", "no other point above", "gap", *names, "seconds"]
    page.add(table(head, rows, "The newest first; press a heading to sort", sortable=True))
    page.add(
        paragraph(
            "The journal keeps a certificate of every proof; in Python, "
            "result.steps[k].certificate.save(path) writes it.",
            class_="note",
        )
    )


def _coordinates(step: Suggestion, run: RunView, names: list[str]) -> list[str]:
    """Return the cells of x, one a dimension or all in one."""
    x, space = step.x, run.settings.space
    if names == ["x"] and len(space.dimensions) > 1:
        return [point_text(x, space)]
    if not isinstance(x, dict):
        x = dict(zip(names, x.tolist(), strict=True))
    return [
        number_text(x[name]) if isinstance(x.get(name), float) else str(x.get(name, NOTHING))
        for name in names
    ]


def _expected(step: Suggestion) -> str:
    if math.isnan(step.mean):
        return NOTHING
    return f"{step.mean:.4g}" + ("" if math.isnan(step.std) else f" ± {step.std:.2g}")


def _settings(page: Page, run: RunView) -> None:
    page.section("Settings")
    said = {name: value for name, value in run.about.items() if name != "settings"}
    contents = {"Settings of the run": run.settings.to_dict(), "When, and with what": said}
    for title, content in contents.items():
        text = json.dumps(content, indent=2, default=str)
        page.add(tag("details", tag("summary", title), tag("pre", escape(text), tabindex="0")))
