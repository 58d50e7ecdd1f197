"""The examples of docs/guide/loop.md run, in the order in which they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import nnbo_mip as nm

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "loop.md").read_text(encoding="utf-8")


def test_the_examples_before_those_of_many_inputs_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"f": lambda x: float((x[0] - 1.0) ** 2 + x[1])}
    page, _, _ = PAGE.partition("## High dimensions")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) >= 8
    for block in blocks:
        exec(compile(block, "loop.md", "exec"), names)
    assert len(nm.BayesianOptimizer.open("run.db").history) == 1
