"""Data flows one way: no import goes back, at any level, and sub-rooms form no cycle.

Imports are read from the source: at module level, within functions, under ``TYPE_CHECKING``.
What a registry imports by name when it is asked for (``"module:attribute"``) is no import.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

ORDER = (
    "core",
    "drawing",
    "space",
    "network",
    "problems",
    "scores",
    "surrogates",
    "acquisitions",
    "exact",
    "maximizers",
    "loop",
    "lab",
    "integrations",
    "testing",
    "cli",
)
"""A room may import those that stand before it."""

CHECKED_BY_ITSELF = ("nnbo_mip.exact.certificates.certificate", "nnbo_mip.exact.check")
"""The named exception: `Certificate.check` calls its checker."""

MOST_MODULES = 25


@dataclass(frozen=True)
class Import:
    source: str
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target}"


@functools.cache
def modules(package: str) -> dict[str, Path]:
    """Return the modules of a package by their dotted names; a folder's is its `__init__`."""
    found = {}
    for path in (ROOT / package).rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@functools.cache
def imports(package: str) -> tuple[Import, ...]:
    """Return every import of a module of the package by another one."""
    return tuple(_imports(package))


def _imports(package: str) -> Iterator[Import]:
    known = modules(package)
    for source, path in known.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{source}:{node.lineno}: imports are written in full"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                target = name if name in known else name.rpartition(".")[0]
                if target in known and target != source:
                    yield Import(source, target, node.lineno)


def room(module: str) -> str:
    """Return the first folder below the package."""
    return [*module.split("."), ""][1]


def sub_room(module: str) -> str:
    """Return the folder that a module lies in."""
    path = modules(module.split(".")[0])[module]
    return ".".join(path.parent.relative_to(ROOT).parts)


def cycles(edges: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of nodes that reach each other."""
    reached = {}
    for start in edges:
        seen, waiting = set(), [start]
        while waiting:
            for target in edges.get(waiting.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        reached[start] = seen
    looped = {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in reached}
    return [set(loop) for loop in looped if loop]


def test_every_room_has_its_place() -> None:
    folders = {
        path.name for path in (ROOT / "nnbo_mip").iterdir() if (path / "__init__.py").exists()
    }
    assert folders == set(ORDER)


def test_no_import_goes_back() -> None:
    back = [
        str(found)
        for found in imports("nnbo_mip")
        if room(found.source) in ORDER
        and room(found.target) in ORDER
        and ORDER.index(room(found.source)) < ORDER.index(room(found.target))
    ]
    assert not back, "\n".join(back)


@pytest.mark.parametrize("package", ["nnbo_mip", "benchmarks"])
def test_sub_rooms_form_no_cycle(package: str) -> None:
    edges: dict[str, set[str]] = defaultdict(set)
    for found in imports(package):
        if (found.source, found.target) == CHECKED_BY_ITSELF or found.source == "nnbo_mip":
            continue
        source, target = sub_room(found.source), sub_room(found.target)
        if source != target:
            edges[source].add(target)
    assert cycles(edges) == []


@pytest.mark.parametrize("package", ["nnbo_mip", "benchmarks"])
def test_no_folder_is_a_heap(package: str) -> None:
    counts = Counter(
        str(path.parent.relative_to(ROOT))
        for path in modules(package).values()
        if path.name != "__init__.py"
    )
    assert {folder: n for folder, n in counts.items() if n > MOST_MODULES} == {}


def test_what_the_test_would_find() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [{"b", "c"}]
    assert cycles({"a": {"b"}, "b": {"c"}}) == []
    assert "nnbo_mip.core.errors" in {found.target for found in imports("nnbo_mip")}
