"""The option --known-skips turns a skip that nobody expects into a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "test_some.py": """
import pytest

@pytest.mark.skip(reason="no such solver here")
def test_solver():
    pass

def test_other():
    pytest.skip("just so")

@pytest.mark.xfail(strict=True)
def test_defect():
    raise AssertionError
""",
    "test_whole.py": """
import pytest

pytest.skip("a whole module", allow_module_level=True)
""",
    "known.toml": """
[[skip]]
test = "test_some.py::test_solver"
says = "no such solver"
why = "solvers are bought"
""",
}


@pytest.mark.parametrize(
    ("file", "counts"),
    [("test_some.py", "1 failed, 1 skipped, 1 xfailed"), ("test_whole.py", "1 error")],
)
def test_unknown_skips_fail(tmp_path: Path, file: str, counts: str) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider"),
            *("-c", "/dev/null", "--rootdir", ".", "--known-skips=known.toml", file),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert counts in run.stdout
    assert "This skip is not in known.toml." in run.stdout
    assert run.returncode != 0
