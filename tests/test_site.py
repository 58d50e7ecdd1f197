"""The site: how links are rewritten. `.ci/run` builds it, and a warning ends the build."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site.__main__ import ROOT, assemble, pages, relinked

PLACES = {
    Path("README.md"): Path("readme.md"),
    Path("docs/guide/loop.md"): Path("guide/loop.md"),
    Path("docs/theory/exactness.md"): Path("theory/exactness.md"),
}


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("README.md", "[ask](docs/guide/loop.md#noise)", "[ask](guide/loop.md#noise)"),
        ("docs/guide/loop.md", "[first](../../README.md)", "[first](../readme.md)"),
        (
            "docs/guide/loop.md",
            "[proofs](../theory/exactness.md)",
            "[proofs](../theory/exactness.md)",
        ),
        ("README.md", "![who](docs/plots/compare.png)", "![who](plots/compare.png)"),
        ("README.md", "cite [CITATION.cff](CITATION.cff)", "cite CITATION.cff"),
        ("README.md", "[a](https://a.org) [b](#b)", "[a](https://a.org) [b](#b)"),
        ("README.md", "```\n[x](docs/guide/loop.md)\n```\n", "```\n[x](docs/guide/loop.md)\n```\n"),
    ],
)
def test_links_lead_from_place_to_place(page: str, text: str, expected: str) -> None:
    assert relinked(text, Path(page), PLACES) == expected


def test_every_page_is_on_the_site_and_in_its_contents(tmp_path: Path) -> None:
    assemble(tmp_path)
    contents = (tmp_path / "index.md").read_text(encoding="utf-8")
    for page, place in pages().items():
        assert (tmp_path / place).is_file()
        assert (ROOT / page).is_file()
        if place.name != "index.md":
            assert str(place.with_suffix("")) in contents
    reference = (tmp_path / "api" / "index.md").read_text(encoding="utf-8")
    for page in (tmp_path / "api").rglob("*.md"):
        name = str(page.relative_to(tmp_path / "api").with_suffix(""))
        assert name == "index" or f"\n{name}\n" in reference
