"""The pages: their links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
}
LINK = re.compile(r"\]\(([^)\s]+)\)")


def _prose(text: str) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def _anchors(text: str) -> set[str]:
    """Return the anchors of the headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.*)$", _prose(text), flags=re.MULTILINE)
    bare = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in bare}


@pytest.mark.parametrize("page", PAGES)
def test_relative_links_lead_to_a_file_and_a_heading(page: str) -> None:
    lost = []
    for target in LINK.findall(_prose(PAGES[page])):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        found = path.exists()
        if found and anchor:
            found = anchor in _anchors(path.read_text(encoding="utf-8"))
        if not found:
            lost.append(target)
    assert not lost


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), ["README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for target in LINK.findall(_prose(PAGES[page])):
            name = target.partition("#")[0]
            if name.endswith(".md") and "://" not in name:
                path = ((ROOT / page).parent / name).resolve()
                waiting.append(str(path.relative_to(ROOT)))
    assert reached >= {page for page in PAGES if page.startswith("docs")}
