"""`Page`: sections, tables and pictures, put together into one HTML file that needs no other."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from nnbo_mip.drawing.page.html import paragraph, tag
from nnbo_mip.drawing.picture import Picture

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""Browsers refuse whatever else a page may ask for."""


@dataclass(frozen=True)
class Part:
    """Something that adds to a page: what it is about, and the function that does it."""

    name: str
    write: Callable[[], None]


def slug(text: str) -> str:
    """Return a text as a part of an address or of the name of a file."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.") or "untitled"


def unique(stem: str, taken: Collection[str]) -> str:
    """Return a stem, with a number where it is taken."""
    made, count = stem, 1
    while made in taken:
        count += 1
        made = f"{stem}-{count}"
    return made


class Page:
    """A page under construction.

    Parameters
    ----------
    title : str
    refresh : int
        Seconds after which a browser reads the file again; 0 for never.

    Attributes
    ----------
    drawn : list of Picture
        All that there is something to be seen of, in order.
    leading : tuple of str
        Names of series, the best ones first: where there are many, these are shown at first, and a
        line on top says which are shown everywhere. Empty where all are equal.
    """

    def __init__(self, title: str, refresh: int = 0) -> None:
        self._title = title
        self._refresh = refresh
        self.drawn: list[Picture] = []
        self.leading: tuple[str, ...] = ()
        self._body: list[str] = []
        self._contents: list[tuple[int, str, str]] = []
        self._pictures: list[list[dict[str, Any]]] = []
        self._anchors: set[str] = set()
        self._is_open = False

    def section(self, title: str, level: int = 2) -> None:
        """Begin a section, which the table of contents names."""
        anchor = self._anchor(title)
        if self._is_open and level == 2:
            self._body.append("</section>")
        if level == 2:
            self._body.append("<section>")
            self._is_open = True
        self._body.append(tag(f"h{level}", escape(title), id=anchor))
        self._contents.append((level, title, anchor))

    def add(self, html: str) -> None:
        """Add HTML."""
        self._body.append(html)

    def pictures(self, *alone: Picture, **views: Picture) -> None:
        """Add pictures, each by itself, or several in one place that a reader chooses of."""
        for picture in alone:
            self._figure([("", picture)])
        if views:
            self._figure(list(views.items()))

    def begin_grid(self) -> None:
        """Put what is added side by side, as far as there is room, until `end_grid`."""
        self._body.append('<div class="pair">')

    def end_grid(self) -> None:
        """End what `begin_grid` began."""
        self._body.append("</div>")

    @contextmanager
    def folded(self, summary: str, folds: bool = True) -> Iterator[None]:
        """Put what is added meanwhile under a line that a reader opens, if it is to be folded."""
        if folds:
            self._body.append(f"<details>{tag('summary', escape(summary))}")
        yield
        if folds:
            self._body.append("</details>")

    def as_html(self) -> str:
        """Return the file."""
        if self._is_open:
            self._body.append("</section>")
            self._is_open = False
        contents = "".join(
            tag("li", tag("a", escape(title), href=f"#{anchor}"), class_=f"level{level}")
            for level, title, anchor in self._contents
        )
        data = json.dumps(self._pictures, separators=(",", ":"), allow_nan=False)
        return "\n".join(
            [
                "<!DOCTYPE html>",
                '<html lang="en">',
                "<head>",
                '<meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                '<meta name="color-scheme" content="light dark">',
                *([f'<meta http-equiv="refresh" content="{self._refresh}">'] * bool(self._refresh)),
                tag("title", escape(self._title)),
                tag("style", _asset("page.css")),
                "</head>",
                "<body>",
                tag("header", tag("h1", escape(self._title)), _THEME),
                tag("nav", tag("h2", "Contents"), tag("ol", contents), id="contents"),
                tag("noscript", paragraph("Curves need JavaScript; the tables do not.")),
                tag("main", "\n".join(self._body), id="main"),
                _script(data, "data"),
                _script(json.dumps(self.leading), "leading"),
                tag("script", _asset("page.js")),
                "</body>",
                "</html>",
                "",
            ]
        )

    def save(self, path: str | Path) -> None:
        """Write the file at once, so that a reader never sees a part of it."""
        whole = Path(path)
        part = whole.with_name(f"{whole.name}.part")
        part.write_text(self.as_html(), encoding="utf-8")
        os.replace(part, whole)

    def _figure(self, views: list[tuple[str, Picture]]) -> None:
        shown = [(name, picture) for name, picture in views if not picture.is_empty]
        if not shown:
            title = views[0][1].title
            self.add(paragraph(f"{title}: there is nothing to draw yet.", class_="empty"))
            return
        self.drawn += [picture for _, picture in shown]
        number = len(self._pictures)
        made = [{"view": name, **one.as_json()} for name, one in shown]
        _share(made, [picture for _, picture in shown])
        self._pictures.append(made)
        self.add(tag("figure", id=f"picture{number}"))

    def _anchor(self, title: str) -> str:
        anchor = unique(f"s-{slug(title)}", self._anchors)
        self._anchors.add(anchor)
        return anchor


def _share(made: list[dict[str, Any]], pictures: list[Picture]) -> None:
    """Write marks that a view shares with the first one as `same`."""
    for view, picture in zip(made[1:], pictures[1:], strict=True):
        for written, one, first in zip(
            view["series"], picture.series, pictures[0].series, strict=False
        ):
            if one.marks and one.marks is first.marks:
                written["marks"] = "same"


_THEME = '<button id="theme" type="button">light / dark</button>'


def _script(data: str, name: str) -> str:
    # "<" would let a label end the script.
    return tag("script", data.replace("<", "\\u003c"), type="application/json", id=name)


def _asset(name: str) -> str:
    return files("nnbo_mip.drawing.page").joinpath(name).read_text(encoding="utf-8")
