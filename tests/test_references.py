"""References of modules and pages against docs/theory/bibliography.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIBLIOGRAPHY = ROOT / "docs" / "theory" / "bibliography.md"
ENTRY = re.compile(r"^## (\w+)\n\n(.+?)(?=\n\n##|\Z)", flags=re.DOTALL | re.MULTILINE)
ENTRIES = dict(ENTRY.findall(BIBLIOGRAPHY.read_text(encoding="utf-8")))
LINE = re.compile(r"\S.* \((?P<year>\d{4})\), \S.* \[(?P<key>\w+)\]\.")
LEAST_ENTRIES, LEAST_MODULES = 100, 100


def _cited() -> dict[str, list[str]]:
    """Return the lines of the section References of every module that has one."""
    found = {}
    for folder in ("nnbo_mip", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            _, heading, section = text.partition("\nReferences\n----------\n")
            if heading:
                found[str(path.relative_to(ROOT))] = section.splitlines()
    return found


CITED = _cited()


def _linked() -> set[str]:
    """Return the keys, in lower case, to which pages link."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    return {key for text in texts for key in re.findall(r"bibliography\.md#(\w+)\)", text)}


def test_the_references_of_modules_have_one_form() -> None:
    assert len(CITED) >= LEAST_MODULES
    bad = [f"{module}: {line}" for module, lines in CITED.items() for line in lines]
    assert not [line for line in bad if not LINE.fullmatch(line.partition(": ")[2])]


def test_every_key_of_a_module_is_in_the_bibliography_with_its_year_and_author() -> None:
    wrong = []
    for module, lines in CITED.items():
        for line in lines:
            match = LINE.fullmatch(line)
            entry = ENTRIES.get(match["key"], "") if match else ""
            author = re.split(r" et al\.| and | \(", line)[0]
            if match is None or match["year"] not in entry or author not in entry:
                wrong.append(f"{module}: {line}")
    assert not wrong


def test_every_entry_is_used_by_a_module_or_a_page() -> None:
    keys = {
        match["key"] for lines in CITED.values() for line in lines if (match := LINE.match(line))
    }
    assert len(ENTRIES) >= LEAST_ENTRIES
    assert not [key for key in ENTRIES if key not in keys and key.lower() not in _linked()]


def test_every_entry_is_in_its_place_and_has_a_year() -> None:
    keys = re.findall(r"^## (\w+)$", BIBLIOGRAPHY.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert keys == list(ENTRIES) == sorted(ENTRIES, key=str.lower)
    years = {key: re.search(r"\d{4}", key) for key in ENTRIES}
    assert not [key for key, year in years.items() if not year or year[0] not in ENTRIES[key]]
