"""HTML of text and tables, escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

NOTHING = "—"
"""Where there is no figure."""

FIGURES = 3
"""Significant digits of a number in a table."""


def tag(name: str, *content: str, **attributes: str) -> str:
    """Return an element; its content is HTML, its attributes are text."""
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{named}>{''.join(content)}</{name}>"


def paragraph(text: str, class_: str = "") -> str:
    """Return a paragraph of plain text."""
    return tag("p", escape(text), class_=class_) if class_ else tag("p", escape(text))


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
    sortable: bool = False,
) -> str:
    """Return a table of plain texts; the first column is the name of its row.

    It can be scrolled sideways on a narrow screen; its caption stays where it is. The rows of a
    sortable one are put in the order of a column by pressing its heading.
    """
    body = "".join(
        tag(
            "tr",
            tag("th", escape(row[0]), scope="row"),
            *(tag("td", escape(cell)) for cell in row[1:]),
        )
        for row in rows
    )
    heads = "".join(tag("th", escape(one), scope="col") for one in head)
    named = {"class_": "sortable"} if sortable else {}
    titled = paragraph(caption, class_="caption") if caption else ""
    return titled + tag(
        "div",
        tag("table", tag("thead", tag("tr", heads)), tag("tbody", body), **named),
        class_="table",
        tabindex="0",
        role="region",
        aria_label=caption or head[0],
    )


def number(value: float) -> str:
    """Return a number for reading; a dash where there is none."""
    return NOTHING if math.isnan(value) else f"{value:.{FIGURES}g}"


def percent(part: float, whole: float) -> str:
    """Return a share for reading."""
    return f"{100.0 * part / whole:.1f} %" if whole else NOTHING


NAME = "text-align:left;vertical-align:top;font-weight:600;white-space:nowrap"
"""How a notebook shows names."""


def card(title: str, pairs: Iterable[tuple[str, str]], more: str = "") -> str:
    """Return what a notebook shows of an object: a title, names with plain texts, more HTML."""
    rows = "".join(
        tag(
            "tr",
            tag("th", escape(name), style=NAME),
            tag("td", escape(text), style="text-align:left;white-space:pre-wrap"),
        )
        for name, text in pairs
    )
    return tag("div", tag("strong", escape(title)), tag("table", rows), more)


def card_of(text: str, more: str = "") -> str:
    """Return what a notebook shows of an object that prints a line, and then names with texts."""
    first, *rest = text.splitlines()
    named = [line.strip().partition(" ") for line in rest]
    return card(first, [(name, said.strip()) for name, _, said in named], more)
