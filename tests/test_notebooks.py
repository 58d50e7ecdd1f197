"""The notebooks run from top to bottom, and what their cells end in can be shown."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NAMES = ("first_steps", "comparing_inner_optimizers", "many_inputs")

MOST_LINES = 40
"""Of output that a notebook may have: more is a flood."""

SHOW = """
def _show(value):
    if value is None:
        return
    for name in ("_repr_html_", "_repr_png_"):
        if hasattr(value, name):
            content = getattr(value, name)()
            assert content, name
            print("shown by", name)
            return
    print(repr(value))
"""


def cells(name: str) -> list[str]:
    """Return the code cells of a notebook, each showing what its last line is."""
    content = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    made = []
    for cell in content["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []
        tree = ast.parse("".join(cell["source"]))
        last = tree.body[-1]
        if isinstance(last, ast.Expr):
            shown = ast.Call(ast.Name("_show", ast.Load()), [last.value], [])
            tree.body[-1] = ast.Expr(shown)
        made.append(ast.unparse(ast.fix_missing_locations(tree)))
    return made


def run(name: str, folder: Path) -> str:
    script = folder / f"{name}.py"
    script.write_text("\n".join([SHOW, *cells(name)]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(FOLDER.parents[1])},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) <= MOST_LINES
    return done.stdout


def test_all_of_them_are_run() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(NAMES)


def test_first_steps(tmp_path: Path) -> None:
    said = run("first_steps", tmp_path)
    assert said.count("shown by _repr_html_") == 2  # the result, the explanation
    assert "shown by _repr_png_" in said
    assert "the optimum lies between" in said
    assert (tmp_path / "first_steps.html").is_file()


def test_comparing_inner_optimizers(tmp_path: Path) -> None:
    said = run("comparing_inner_optimizers", tmp_path)
    assert "'auto': 'hit'" in said
    assert "confirmed" in said
    assert (tmp_path / "maximizers.png").is_file()


def test_many_inputs(tmp_path: Path) -> None:
    said = run("many_inputs", tmp_path)
    assert "within their region" in said
    assert "in 5 of 40 coordinates" in said
    assert "shown by _repr_png_" in said


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_are_kept_without_output(name: str) -> None:
    content = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert all(cell.get("execution_count") is None for cell in content["cells"])
