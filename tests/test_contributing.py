"""CONTRIBUTING.md as it is written: its recipes run, its commands and lists are true."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.test_rooms import MOST_MODULES, ORDER

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    "PYTHONDONTWRITEBYTECODE": "1",
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def files() -> dict[str, str]:
    """Return the blocks of Python by the names in their first lines."""
    found = {}
    for block in blocks("python"):
        first, _, rest = block.partition("\n")
        found[first.removeprefix("# ")] = rest
    return found


FILES = files()
TESTS = [name for name in FILES if name.startswith("test_")]
LEAST_TESTS = {"test_cautious.py": 20, "test_enumerator.py": 50, "test_plane.py": 30}
"""So many of them a contract brings, as the page says in words."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(*arguments: str, within: Path) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=within, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", TESTS)
def test_a_recipe_passes_its_tests(name: str, folder: Path) -> None:
    said = run("-m", "pytest", "-W", "error", name, within=folder).splitlines()[-1]
    passed = re.search(r"(\d+) passed", said)
    assert passed is not None
    assert int(passed[1]) >= LEAST_TESTS[name]
    assert not re.search("failed|error|skipped|warning", said)
    left_out = re.search(r'"(\d+ deselected)"', PAGE)
    assert left_out is not None
    assert (left_out[1] in said) or name != "test_cautious.py"


def test_every_recipe_has_its_tests() -> None:
    assert sorted(TESTS) == sorted(LEAST_TESTS)
    assert sorted(FILES) == sorted([*TESTS, *(name.removeprefix("test_") for name in TESTS)])


def test_a_package_offers_the_recipes_by_entry_points(folder: Path) -> None:
    (block,) = blocks("toml")
    package = tomllib.loads(block)
    offered = package["project"]["entry-points"]
    assert set(package["tool"]["hatch"]["build"]["targets"]["wheel"]["include"]) == set(
        FILES
    ) - set(TESTS)
    information = folder / "my_strategies-0.1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: my-strategies\nVersion: 0.1.0\n"
    )
    (information / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
            for group, points in offered.items()
        )
    )
    script = (
        "import json, nnbo_mip as nm\n"
        "from nnbo_mip.exact import backends\n"
        "made = nm.acquisitions.create('cautious'), nm.surrogates.create('plane'),"
        " backends.get_backend('enumerator')\n"
        "print(json.dumps([f'{type(one).__module__}:{type(one).__name__}' for one in made]))"
    )
    made = json.loads(run("-c", script, within=folder))
    assert sorted(made) == sorted(value for points in offered.values() for value in points.values())


def test_the_recipes_use_what_is_public() -> None:
    rooms = {"nnbo_mip", "nnbo_mip.acquisitions", "nnbo_mip.surrogates"}
    rooms |= {"nnbo_mip.exact", "nnbo_mip.exact.formulation"}
    rooms |= {f"nnbo_mip.testing.{kind}_contract" for kind in ("acquisition", "backend")}
    rooms |= {"nnbo_mip.testing.surrogate_contract"}
    imported = set()
    for text in FILES.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                imported.add(str(node.module))
            elif isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
    assert {name for name in imported if name.startswith("nnbo_mip")} == rooms


def test_the_commands_are_those_of_the_project() -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(commands) >= 9
    assert commands[0] in README  # the set-up
    paths = [
        part for line in commands for part in line.split() if part.startswith(("tests/", ".ci/"))
    ]
    assert len(paths) >= 4
    assert all((ROOT / path).exists() for path in paths)


def test_the_order_of_the_rooms_is_the_one_that_is_tested() -> None:
    section = PAGE.partition("### The order of rooms")[2].partition("\n## ")[0]
    (line,) = re.findall(r"^    (\w+, .*)$", section, flags=re.MULTILINE)
    assert tuple(line.split(", ")) == ORDER
    assert f"more than {MOST_MODULES} modules" in section


def test_the_style_has_ten_lines() -> None:
    section = PAGE.partition("## Style")[2].partition("\n#")[0]
    assert re.findall(r"^(\d+)\. ", section, flags=re.MULTILINE) == [str(n) for n in range(1, 11)]


def test_the_kernels_that_others_inline_are_named() -> None:
    kernels = {}
    for path in (ROOT / "nnbo_mip").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "\n@compiled" in text:
            kernels[".".join(path.relative_to(ROOT).with_suffix("").parts)] = ast.parse(text)
    assert len(kernels) > 5
    inlined = {
        node.module
        for tree in kernels.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in kernels
    }
    section = PAGE.partition("### After a change to a compiled kernel")[2].partition("\n## ")[0]
    named = re.findall(r"`(exact/\w+/\w+\.py)`", section.partition("Otherwise")[0])
    assert sorted(named) == sorted(
        str(module).removeprefix("nnbo_mip.").replace(".", "/") + ".py" for module in inlined
    )
