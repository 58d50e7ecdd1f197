"""The pages: their links, and what they say of rooms and modules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted(
        [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "changelog.d" / "README.md"]
    )
}
OLD_NAMES = "docs/dev/renamed.md"
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
    own = "docs/site/api/"  # pages of the site alone, which test_site.py looks at
    assert reached >= {page for page in PAGES if page.startswith("docs") and own not in page}


def test_the_rooms_of_the_map_are_those_of_the_package() -> None:
    table = PAGES["docs/dev/architecture.md"].partition("## Rooms")[2].partition("\n## ")[0]
    rooms = re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)
    package = {path.parent.name for path in (ROOT / "nnbo_mip").glob("*/__init__.py")}
    assert sorted(rooms) == sorted(package)


def test_the_new_places_of_modules_are_true() -> None:
    page, lost = PAGES[OLD_NAMES], []
    for name, root in (("package", "nnbo_mip/"), ("benchmarks", "")):
        table = page.partition(f"## Modules of the {name}")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| `[\w.]+` \| `([\w.]+)` \| (.*) \|$", table, flags=re.MULTILINE)
        assert len(rows) > 10
        for place, modules in rows:
            for module in modules.split(", "):
                stem = module.partition("(now ")[2].rstrip(")") or module
                path = f"{root}{place.replace('.', '/')}/{stem}.py"
                if not (ROOT / path).is_file():
                    lost.append(path)
    assert not lost, f"correct {OLD_NAMES}"


def test_the_map_fits_on_two_screens() -> None:
    assert PAGES["docs/dev/architecture.md"].count("\n") <= 110


def test_the_status_is_short() -> None:
    assert PAGES["docs/dev/status.md"].count("\n") <= 80


def test_the_glossary_is_in_the_order_of_the_alphabet() -> None:
    words = re.findall(r"^\| (.+?) \|", PAGES["docs/theory/glossary.md"], flags=re.MULTILINE)[1:]
    bare = [word.replace("`", "").lower() for word in words]
    assert len(bare) > 50
    assert bare == sorted(set(bare))


@pytest.mark.parametrize("page", [name for name in PAGES if name != OLD_NAMES])
def test_files_and_commands_that_are_named_exist(page: str) -> None:
    roots = (ROOT, ROOT / "nnbo_mip", ROOT / "nnbo_mip" / "exact")
    named = re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|md|json|toml|sh|xz))`", PAGES[page])
    lost = [name for name in named if not any((root / name).is_file() for root in roots)]
    for module in re.findall(r"python -m ((?:benchmarks|docs)[\w.]*)", PAGES[page]):
        path = ROOT / module.rstrip(".").replace(".", "/")
        if not path.with_suffix(".py").is_file() and not (path / "__main__.py").is_file():
            lost.append(module)
    assert not lost
